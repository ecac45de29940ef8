"""StepTape: what the training loop does with torch between two updates, recorded so that it can be executed again in
place."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from torch import Tensor

from debugtracer.recorder.state.attributes import place_in
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import TENSORS, Entry, Kind, Leaf, Slot, encoded_items, mapped, tensors
from debugtracer.recorder.tape.own_writes import OwnWrites
from debugtracer.recorder.tape.silent_rounds import SilentRounds
from debugtracer.trace.incident import RESTED

MOST_DEFERRED = 4  # root calls of a step that are kept by reference (ours): a generator, a discriminator twice
MAX_ENTRIES = 20_000  # calls outside modules in one step; a loop above it is not a training step (ours)


class Segment:
    """The entries between two updates, and the leaves they took."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.entries: list[Entry] = []
        self.leaves: dict[int, Leaf] = {}
        self.constants: list[Leaf] = []
        """What factories and random draws gave."""
        self.by_storage: dict[int, list[Leaf]] = {}
        self.unsorted: list[Leaf] = []
        """Leaves and constants that are not in `by_storage` yet."""
        self.made: dict[int, tuple[weakref.ref[Tensor], Slot]] = {}
        self.has_graph = False
        """Some output requires grad: a backward may still come."""
        self.backwards: list[int] = []
        """Entry index of each outermost backward."""
        self.losses: list[tuple[Tensor, Slot | None]] = []
        """Per backward: the (unscaled) loss without its graph, and where the tape made it."""
        self.first_iteration = 0
        self.first_step = 0
        self.silent_calls = 0
        self.full = False
        """It grew beyond MAX_ENTRIES and was dropped."""
        self.rested = False
        """Only its losses and its root calls with a graph are recorded, to stay under the promised cost."""
        self.own_writes = OwnWrites()
        self.refused = ""
        """Why this segment cannot be executed again; empty when it can."""

    def clear(self) -> None:
        """Drop everything that was recorded."""
        held: tuple[Any, ...] = (self.entries, self.leaves, self.made, self.losses, self.backwards)
        for one in (*held, self.constants, self.by_storage, self.unsorted):
            one.clear()

    def sharing(self, target: Tensor) -> list[Leaf]:
        """The leaves and constants that lie in the memory of a tensor."""
        for leaf in self.unsorted:
            self.by_storage.setdefault(address(leaf.tensor), []).append(leaf)
        self.unsorted.clear()
        return self.by_storage.get(address(target), [])

    def moved_storage(self) -> None:
        """Look again where each leaf lies: a call has given one another memory."""
        self.by_storage.clear()
        self.unsorted = [*self.leaves.values(), *self.constants]


class Tape:
    """The current segment and the one before it. Costs microseconds per recorded call; holds leaves by reference,
    activations weakly."""

    def __init__(self, frames: Callable[[], Any]) -> None:
        self.frames = frames
        """Gives the raw user stack: (code, line) pairs, innermost first."""
        self.current = Segment(0)
        self.previous: Segment | None = None
        self.rests = False
        """The next segments record no calls."""
        self.deferred: list[tuple[Any, Any, Any, Any]] = []
        """Root calls of the current segment that are kept by reference alone: module, arguments, output."""
        self.rounds = SilentRounds()
        self.losslike: dict[int, weakref.ref[Tensor]] = {}
        """Scalars that carry the loss without its graph (detach, float, mean)."""

    def slot(self, tensor: Tensor) -> Slot | None:
        """The entry of the current segment that made this tensor."""
        found = self.current.made.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def refer(self, tensor: Tensor) -> Slot | Leaf:
        """Return slot or leaf of an argument; leaves are shared by identity within the segment."""
        segment = self.current
        if segment.full:
            return Leaf(tensor)
        key = id(tensor)
        made = segment.made.get(key)
        if made is not None and made[0]() is tensor:
            return made[1]
        leaf = segment.leaves.get(key)
        if leaf is None:
            if tensor.grad_fn is not None and (side := self.beside(tensor)) is not None:
                return side
            leaf = segment.leaves[key] = self.new_leaf(tensor)
            segment.unsorted.append(leaf)
        return leaf

    def new_leaf(self, tensor: Tensor) -> Leaf:
        """A tensor from outside this segment; with a graph of its own it is tied to the segment that made it, or
        foreign."""
        if tensor.grad_fn is None:
            return Leaf(tensor)
        older = self.previous.made.get(id(tensor)) if self.previous is not None else None
        origin = older[1] if older is not None and older[0]() is tensor else None
        return Leaf(tensor, origin=origin, foreign=origin is None)

    def beside(self, tensor: Tensor) -> Slot | None:
        """A tensor with a graph that a module of this segment left in an attribute (an auxiliary loss, attention
        weights)."""
        for entry in reversed(self.current.entries):
            if entry.kind == "module":
                place = place_in(entry.function, tensor)
                if place is not None:
                    slot = entry.add_side(place)
                    self.current.made[id(tensor)] = (WeakRef(tensor), slot)
                    return slot
        return None

    def encode(self, value: Any) -> Any:
        """Replace tensors in the arguments by references."""
        return mapped(value, self.refer, (Tensor,))

    def open(
        self, kind: Kind, function: Any, args: Any, kwargs: Any, *, rng: RngState | None = None, encoded: bool = False
    ) -> Entry:
        """An entry with its arguments referred to; it joins the tape when closed. Blank while the tape rests,
        but for root calls."""
        if self.current.rested and kind != "module":
            return Entry(kind, function, (), {}, ())
        if not encoded:
            args = tuple(encoded_items(args, self.refer)) if type(args) is tuple else self.encode(args)
            kwargs = self.encode(kwargs) if kwargs else {}
        entry = Entry(kind, function, args, kwargs, self.frames())
        entry.rng = rng
        return entry

    def close(self, entry: Entry, output: Any) -> Entry:
        """Append an entry and register what it made."""
        segment = self.current
        if len(segment.entries) >= MAX_ENTRIES:
            self.overflow()
        if segment.full or (segment.rested and entry.kind != "module"):
            return entry
        entry.segment, entry.index = segment.number, len(segment.entries)
        segment.entries.append(entry)
        made = (output,) if type(output) in TENSORS else tensors(output)
        for number, tensor in enumerate(made):
            segment.made[id(tensor)] = (WeakRef(tensor), Slot(segment.number, entry.index, number))
            entry.outputs = number + 1
            entry.scalar = tensor.numel() == 1 and (entry.scalar or number == 0)
            if not segment.has_graph and tensor.grad_fn is not None:
                segment.has_graph = True
        return entry

    def defer(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        """Keep a root call by reference until the segment ends; its output weakly. A microsecond."""
        if len(self.deferred) == MOST_DEFERRED:
            del self.deferred[0]
        self.deferred.append((module, args, kwargs, WeakRef(output) if type(output) is Tensor else None))

    def record_deferred(self) -> None:
        """Record the root calls that were kept by reference: a bad number was seen, or something works again."""
        deferred, self.deferred = self.deferred, []
        for module, args, kwargs, output in deferred:
            self.close(self.open("module", module, args, kwargs), output() if output is not None else None)

    def renew(self, iteration: int, step: int) -> None:
        """Start the next segment after one in which nothing was recorded, in its place. A microsecond."""
        segment = self.current
        if segment.entries or segment.losses or not (segment.rested and self.rests):
            self.boundary(iteration, step)
            return
        self.deferred, self.previous = [], None
        if self.rounds.number:
            self.rounds.reset()
        segment.number, segment.first_iteration, segment.first_step = segment.number + 1, iteration, step

    def overflow(self) -> None:
        """Drop everything of a step that is too long, and record nothing more until the next segment."""
        segment = self.current
        segment.refused, segment.full = f"more than {MAX_ENTRIES} torch calls outside modules in one step", True
        segment.clear()

    def constant(self, function: Any, output: Any) -> None:
        """Keep what a factory or a random draw gave as a value."""
        if not (made := list(tensors(output))):
            return
        entry = self.open("const", function, (), {}, encoded=True)
        entry.args = tuple([Leaf(t) for t in made])
        self.close(entry, output)
        if not self.current.full:
            self.current.constants.extend(entry.args)
            self.current.unsorted.extend(entry.args)

    def save_before_write(self, target: Tensor, name: str = "", frames: Any = None) -> bool:
        """Copy every leaf that shares memory with `target` before it is written; True if there was one."""
        hit = False
        for leaf in self.current.sharing(target):
            if leaf.saved is None:
                leaf.save()
                hit = True
                if id(leaf.tensor) not in self.current.leaves:  # a constant: the write may give it a graph to keep
                    leaf.tensor = leaf.tensor.detach()
            self.current.own_writes.note(leaf.tensor, name, frames, replayed=True)
        return hit

    def note_write(self, tensor: Tensor, function: Any, values: Any = ()) -> None:
        """Note a write into a tensor that the loop trains, of a call that is not recorded."""
        if not tensor.requires_grad:
            return  # an average of the weights, written in each step: its line is not worth the look
        slots = [slot for value in tensors(values) if (slot := self.slot(value)) is not None]
        source = self.current.entries[slots[0].entry].frames if slots else None
        name = getattr(function, "__name__", "")
        self.current.own_writes.note(tensor, name, self.frames(), replayed=False, source=source)

    def all_leaves(self) -> list[Leaf]:
        """The leaves of the current segment, constants included."""
        return [*self.current.leaves.values(), *self.current.constants]

    def mark_losslike(self, output: Any, argument: Any) -> None:
        """Mark a scalar computed from a scalar loss as a loss, for the user's own guards."""
        if (
            isinstance(output, Tensor)
            and output.numel() == 1
            and isinstance(argument, Tensor)
            and self.is_losslike(argument)
        ):
            self.losslike[id(output)] = WeakRef(output)

    def is_losslike(self, tensor: Tensor) -> bool:
        """True for a floating scalar that carries a graph, or came from one."""
        if tensor.numel() != 1 or not tensor.is_floating_point():
            return False
        known = self.losslike.get(id(tensor))
        return (tensor.requires_grad and tensor.grad_fn is not None) or (known is not None and known() is tensor)

    def boundary(self, iteration: int, step: int) -> None:
        """Start the next segment: an update was written (or skipped)."""
        self.previous = self.current
        self.rounds.reset()
        self.start(iteration, step)

    def begin(self, iteration: int, step: int) -> None:
        """Cut so that the step before is not needed either: what it holds of a model may go."""
        self.cut(iteration, step)
        self.previous = None

    def cut(self, iteration: int, step: int) -> None:
        """Drop what was recorded when no graph is pending (evaluation, data preparation); own writes are kept."""
        if (not self.current.has_graph and not self.current.backwards and self.current.entries) or self.current.full:
            writes = self.current.own_writes
            self.start(iteration, step)
            self.current.own_writes = writes.not_replayed()

    def rest(self, rests: bool) -> None:
        """Let the segments from the next one on record no calls, or record them again."""
        self.rests = rests

    def start(self, iteration: int, step: int) -> None:
        """Start a fresh current segment."""
        self.current = Segment(self.current.number + 1)
        self.deferred = []
        if self.rests:
            self.current.rested, self.current.refused = True, RESTED
        self.current.first_iteration, self.current.first_step = iteration, step
        self.losslike.clear()

    def reset(self) -> None:
        """Drop everything (forked child, tracing off)."""
        self.previous, self.current, self.rests = None, Segment(self.current.number + 1), False
        self.rounds.reset()
        self.losslike.clear()


def address(tensor: Tensor) -> int:
    """The identity of a tensor's storage; 0 for layouts without one."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):
        return 0
