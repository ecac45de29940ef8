"""Asks, once, whether the targets of a loss can be told from its inputs, and where they cannot, whether another order
of the data brings them together."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.order_origin import apart, order_of, taken_from
from debugtracer.callsites.origins.value_origin import Link, made_first
from debugtracer.errors import guarded
from debugtracer.observers.data.pairing import UNRELATED, Probe, above_chance, class_blocks, restored, tells_nothing
from debugtracer.observers.data.row_features import as_columns, as_features, is_picture, is_target, is_text
from debugtracer.observers.loaders.whole_data import whole_data
from debugtracer.observers.loss.followed_rows import FollowedRows
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.loss.rows_taken import COMPARED
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.recorder.tape.moved_leaves import storage_of
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.class_blocks import ClassBlocks
from debugtracer.trace.facts.row_pairing import RowPairing
from debugtracer.trace.number import number

FEWEST = 128  # rows of data that are asked about (ours)
FIRST = 256  # rows of batches of which the first question is asked (ours)
LOOKS = 3  # backwards in which data are looked for (ours)
OF_CLASSES = frozenset(
    {"cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"}
)  # fmt: skip
MOST_BYTES = 2**28  # of data that lie side by side (ours)

Kind = Literal["numbers", "pictures", "texts"]
Stores = tuple[Tensor, Tensor, RawFrames]
"""The inputs and the targets of all rows, and the line that took the inputs."""


class ScoredRows(NamedTuple):
    """One call of a loss."""

    name: str
    target: Tensor | None
    """None for one with a graph."""
    raw: RawFrames
    stores: Stores | None


class KeptLoader:
    """The loader whose rows are kept, and what of them."""

    def __init__(self, loader: LoaderInfo, inputs: tuple[str, ...], target: str, kind: Kind) -> None:
        self.loader, self.inputs, self.target, self.kind = loader, inputs, target, kind
        self.features: list[Tensor] = []
        self.targets: list[Tensor] = []
        self.seen: set[int] = set()
        self.shapes: tuple[torch.Size, torch.Size] | None = None

    def add(self, batch: Batch) -> None:
        """Keep the rows of a batch that are new."""
        leaves, indices = dict(batch.tensors()), batch.indices or ()
        if not indices or self.seen.intersection(indices) or not {*self.inputs, self.target} <= {*leaves}:
            return
        features = as_features(leaves[path].detach().cpu() for path in self.inputs)
        if features is not None and len(features) == len(leaves[self.target]) == len(indices):
            target = leaves[self.target].detach().cpu().clone()
            shapes = features.shape[1:], target.shape[1:]
            self.shapes = self.shapes or shapes
            if shapes == self.shapes:  # rows that are filled up to another width cannot be joined
                self.seen.update(indices)
                self.features.append(features)
                self.targets.append(target)


class PairingTrialsObserver(Observer):
    """Small copies of the first rows of one loader, until a few hundred are there; or tensors that the program takes
    its rows from, read where they lie. The data are fetched once more only where the first rows tell nothing."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.rows = FollowedRows()
        self.loss_calls: list[ScoredRows] = []
        self.given: weakref.ref[Tensor] | None = None
        """What a model with weights was given first, in the step in flight."""
        self.loss: ScoredRows | None = None
        self.followed: KeptLoader | None = None
        self.whole: tuple[int | None, int | None] | None = None
        """Where the inputs and the targets lay in the step before, of a program without batches."""
        self.looks = 0
        run.unsubscribe(self.fetched)

    def reset(self) -> None:
        self.forget()
        self.followed = self.loss = self.whole = None
        self.run.unsubscribe(self.fetched)

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Let go of the step in flight."""
        self.rows.clear()
        self.loss_calls, self.given = [], None

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow rows that are taken by index, and note the losses."""
        name = getattr(function, "__name__", "")
        self.rows.called(name, args, kwargs, output)
        if name in COMPARED and torch.is_grad_enabled():
            given = arguments(name, args, kwargs)
            stores = self.stores(given["input"], given["target"])
            self.loss_calls.append(ScoredRows(name, without_graph(given["target"]), raw_frames(1), stores))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow rows through a model, and note what it was given first."""
        self.rows.left(args, kwargs, output)
        first = next((one for one in (*args, *kwargs.values()) if isinstance(one, Tensor)), None)
        if first is not None and self.given is None and any(True for _ in module.parameters()):
            self.given = weakref.ref(first)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Find the data behind the only loss of the step, and ask at once where they lie side by side."""
        given, scored = self.given() if self.given is not None else None, self.loss_calls
        self.forget()
        self.looks += 1
        target = scored[0].target if len(scored) == 1 else None
        if target is not None and is_target(target):
            self.loss = scored[0]._replace(target=None, stores=None)
            stores = scored[0].stores or self.always_the_same(given, target)
            if stores is not None:
                self.stop_looking()
                self.ask(*stores)
            elif (found := self.loader_of(target)) is not None:
                self.followed = found
                self.run.subscribe(self.fetched)
        if self.looks >= LOOKS or self.followed is not None:
            self.stop_looking()

    def stop_looking(self) -> None:
        """Let no step be looked at from now on."""
        self.run.unsubscribe(self.called, self.left, self.backward_begins)

    def stores(self, scores: Any, wanted: Any) -> Stores | None:
        """The two tensors that the rows of a loss were taken from by one index."""
        given, target = self.rows.known(scores), self.rows.known(wanted)
        if given is None or target is None or given.place == target.place or given.length != target.length:
            return None
        inputs, targets = given.store(), target.store()
        if inputs is None or targets is None or not torch.equal(given.rows, target.rows):
            return None
        return inputs, targets, given.raw

    def always_the_same(self, given: Tensor | None, target: Tensor) -> Stores | None:
        """What a model and its loss are given, where it is the same memory in two steps: all of the data."""
        if given is None or not given.dim() or not target.dim() or len(given) != len(target):
            return None
        place = storage_of(given), storage_of(target)
        if None in place:
            return None
        before, self.whole = self.whole, place
        if before != place or self.run.batches.find(target) is not None:
            return None
        return given.detach(), target.detach(), ()

    def loader_of(self, target: Tensor) -> KeptLoader | None:
        """The loader of the step, and which tensors of its batches are inputs and the target."""
        hit = self.run.batches.find(target)
        batch = hit[0] if hit is not None else self.run.batches.last()
        if batch is None or batch.indices is None or not batch.loader.keeps_order:
            return None
        leaves = [(p, leaf) for p, leaf in batch.tensors() if leaf.dim() and len(leaf) == len(batch.indices)]
        path = hit[1] if hit is not None else next((p for p, leaf in leaves if is_same(leaf, target)), "")
        own = dict(leaves).get(path)
        inputs = [(p, leaf) for p, leaf in leaves if p != path]
        if own is None or not is_target(own) or not inputs or as_features(leaf for _, leaf in inputs) is None:
            return None
        found = KeptLoader(batch.loader, tuple(p for p, _ in inputs), path, kind_of([leaf for _, leaf in inputs]))
        found.add(batch)
        return found

    def fetched(self, batch: Batch, data: Any) -> None:
        """Keep rows; ask when there are enough."""
        known = self.followed
        if known is None or batch.loader is not known.loader:
            return
        with torch.no_grad():
            known.add(batch)
        if len(known.seen) >= FIRST:
            self.decide()

    def ended(self) -> None:
        """Decide by what a short run has given."""
        if self.followed is not None and not self.run.interrupted and len(self.followed.seen) >= FEWEST:
            self.decide()

    def decide(self) -> None:
        """Ask whether the first rows tell anything; where not, fetch all and look for another order."""
        known, self.followed = self.followed, None
        self.run.unsubscribe(self.fetched)
        if known is None:
            return
        with torch.no_grad():
            features, targets = torch.cat(known.features), as_columns(torch.cat(known.targets))
            if not is_asked(features, targets):
                return
            with torch.device("cpu"):
                if above_chance(Probe(features), targets, torch.Generator().manual_seed(0))[1] >= UNRELATED:
                    return
            rows = whole_data(self.run, known.loader, known.inputs, known.target)
            if rows is not None:
                ours = known.loader.origin(known.target)
                theirs = [guarded("pairing_trials.origin")(known.loader.origin)(path) or () for path in known.inputs]
                self.tell(*rows, known.kind, ours, theirs)

    def ask(self, inputs: Tensor, targets: Tensor, raw: RawFrames) -> None:
        """Tell the same of data that lie side by side."""
        if len(inputs) < FEWEST or inputs.nbytes > MOST_BYTES or not is_target(targets) or self.loss is None:
            return
        with torch.no_grad():
            features = as_features([inputs.detach().cpu()])
            if features is not None:
                stack = frames_of(self.loss.raw)
                ours = argument_origin(stack, (self.loss.name,), "target", 1)
                ways = list(guarded("pairing_trials.origin")(taken_from)(frames_of(raw)) or ()) if raw else []
                own = {link.frame for link in ours}
                theirs = [way for way in ways if not {link.frame for link in way} <= own]
                self.tell(features, targets.detach().cpu(), kind_of([inputs]), ours, theirs)

    def tell(
        self, inputs: Tensor, raw: Tensor, kind: Kind, ours: Sequence[Link], theirs: Sequence[Sequence[Link]]
    ) -> None:
        """Emit the order that restores the relation, or the side that is sorted alone."""
        targets = as_columns(raw)
        if len(inputs) != len(targets) or not is_asked(inputs, targets):
            return
        with torch.device("cpu"):
            found = restored(inputs, targets, torch.Generator().manual_seed(0))
        if self.loss is None:
            return
        lines = [order_of(links) for links in apart(ours, *theirs)]
        frame, stack = next((line for line in lines if line is not None), None), frames_of(self.loss.raw)
        if found is None:
            if lines[0] is None and frame is not None and self.loss.name in OF_CLASSES:
                self.tell_blocks(inputs, raw, frame, stack)
            return
        self.run.emit(
            RowPairing(
                ref=self.run.ref(), order=found.order, gain=round(found.gain, 4), present=round(found.present, 4),
                rows=len(inputs), by=found.by, wrapped=found.wrapped, kind=kind,
                frame=frame, made=made_first(ours), loss_frame=stack[0] if stack else None,
            )
        )  # fmt: skip

    def tell_blocks(self, inputs: Tensor, raw: Tensor, frame: Frame, stack: Sequence[Frame]) -> None:
        """Emit labels that stand class by class, where the inputs tell nothing of them."""
        blocks = class_blocks(raw)
        if blocks is not None and tells_nothing(inputs, as_columns(raw)):
            self.run.emit(
                ClassBlocks(
                    ref=self.run.ref(), rows=len(inputs), classes=blocks[0], entropy=number(blocks[1]), frame=frame,
                    loss_frame=stack[0] if stack else None,
                )
            )  # fmt: skip


def without_graph(target: Any) -> Tensor | None:
    """A target that nothing was computed for."""
    return target if isinstance(target, Tensor) and not target.requires_grad else None


def is_asked(features: Tensor, targets: Tensor) -> bool:
    """Whether there are enough rows, of finite numbers that differ."""
    finite = bool(features.isfinite().all()) and bool(targets.isfinite().all())
    return len(features) >= FEWEST and finite and bool(features.std(0).any()) and bool(targets.std(0).any())


def is_same(leaf: Tensor, target: Tensor) -> bool:
    """Whether a tensor of the batch holds the values of the target."""
    if leaf.numel() != target.numel() or leaf.is_complex():
        return False
    return torch.equal(leaf.detach().flatten().to(target.device, target.dtype), target.detach().flatten())


def kind_of(inputs: list[Tensor]) -> Kind:
    """What the inputs are; of several, the first that is no row of numbers."""
    return next(
        ("pictures" if is_picture(one) else "texts" for one in inputs if is_picture(one) or is_text(one)), "numbers"
    )
