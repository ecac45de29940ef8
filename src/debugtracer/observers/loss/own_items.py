"""Finds sequence models whose scores, read by a loss, are products with the vectors of the ids that they were given."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.errors import guarded
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.loss_call import BINARY
from debugtracer.trace.facts.own_item import OwnItem

MOST = 16  # look-ups of a step (ours)
FEWEST = 32  # ids that are compared (ours)
VARIED = 8  # different ids among them (ours)
DEEP = 400  # nodes of the graph that are visited (ours)
READERS = BINARY | {"logsigmoid", "log_sigmoid", "softplus"}
# what hands scores on to a loss
CARRIES = frozenset(
    {
        "__getitem__", "masked_select", "view", "reshape", "flatten", "squeeze", "unsqueeze", "sigmoid", "neg",
        "__neg__", "div", "__truediv__", "sub", "__sub__", "add", "__add__", "cat", "stack", "float",
    }
)  # fmt: skip
# what makes one vector of those of many places: it cannot just give back the item of each
SHARED = ("Select", "Mean", "Sum", "Max", "Amax", "Expand", "Repeat", "Index")


class LookUp(NamedTuple):
    """One call of embedding."""

    table: int
    ids: Tensor
    vectors: WeakRef[Tensor]
    number: int
    """Of its node in the graph."""
    raw: RawFrames


class OwnItemsObserver(Observer):
    """Compares ids in inspected steps; keeps them until the step ends, and no tensor with a graph."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.seen: list[LookUp] = []
        self.waiting: dict[int, tuple[WeakRef[Tensor], OwnItem, bool]] = {}
        """Products, and what was made of them: what to tell, and whether they are scores."""

    def reset(self) -> None:
        self.seen.clear()
        self.waiting.clear()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.reset()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget the look-ups of the step."""
        self.reset()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a look-up; compare the ids of two where their vectors meet; follow the product to a loss."""
        name = getattr(function, "__name__", "")
        if name == "embedding" and len(args) > 1 and isinstance(output, Tensor) and output.grad_fn is not None:
            if isinstance(args[0], Tensor) and args[0].dim() == 2 and len(self.seen) < MOST:
                number = output.grad_fn._sequence_nr()
                self.seen.append(LookUp(id(args[1]), args[0].detach(), WeakRef(output), number, raw_frames(4)))
        elif len(self.seen) > 1 and name in PRODUCTS and len(args) == 2:
            for wanted, given in (args, args[::-1]):
                self.met(wanted, given, output)
        elif self.waiting and args:
            self.follow(name, args, kwargs, output)

    def follow(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow a product that is summed to scores; tell it where a loss reads those."""
        parts = args[0] if isinstance(args[0], (list, tuple)) else args[:2]
        known = next((k for p in parts if (k := self.waiting.get(id(p))) is not None and k[0]() is p), None)
        if known is None:
            return
        _, fact, scores = known
        if not scores:
            dim = args[1] if len(args) > 1 else kwargs.get("dim")
            if name == "sum" and dim in (-1, args[0].dim() - 1, [-1], (-1,)):
                self.waiting[id(output)] = (WeakRef(output), fact, True)
        elif name in READERS:
            self.waiting = {at: one for at, one in self.waiting.items() if one[1] is not fact}
            self.run.emit(fact)
        elif name in CARRIES and isinstance(output, Tensor):
            self.waiting[id(output)] = (WeakRef(output), fact, True)

    def met(self, wanted: Any, given: Any, output: Any) -> None:
        """Note a product of vectors with what a model made of the same ids before."""
        if not isinstance(wanted, Tensor) or not isinstance(given, Tensor) or wanted.shape != given.shape:
            return
        asked = next((one for one in self.seen if one.vectors() is wanted), None)
        if asked is None or given.grad_fn is None or any(one.vectors() is given for one in self.seen):
            return
        for read in self.seen:
            if read is asked or read.table != asked.table or read.ids.shape != asked.ids.shape:
                continue
            counts = (read.ids != 0) | (asked.ids != 0)  # 0 is the padding of most tables
            places = int(counts.sum())
            if places < FEWEST or len(read.ids[counts].unique()) < VARIED or not reaches(given, read.number):
                continue
            frames = frames_of(asked.raw)
            fact = OwnItem(
                ref=self.run.ref(), places=places, same=int((read.ids == asked.ids)[counts].sum()),
                made=maker(asked.raw), wanted=frames[0] if frames else None, frame=first(raw_frames(3)),
            )  # fmt: skip
            self.waiting[id(output)] = (WeakRef(output), fact, False)
            return


def reaches(value: Tensor, number: int) -> bool:
    """Whether a tensor was computed of the vectors of that node, each place of its own."""
    seen: set[Any] = set()
    waiting: list[Any] = [value.grad_fn]
    while waiting and len(seen) < DEEP:
        node = waiting.pop()
        if node is None or node in seen or node.name().startswith(SHARED):
            continue
        if node._sequence_nr() == number and node.name().startswith("Embedding"):
            return True
        seen.add(node)
        waiting += [following for following, _ in node.next_functions]
    return False


def maker(raw: RawFrames) -> Any:
    """The line that made the ids of a look-up."""
    links = guarded("own_items.origin")(argument_origin)(frames_of(raw), (), "input", 0) or ()
    made = made_first(links)
    return made[0] if made else None
