"""Finds pictures that come mirrored in a later pass while their mask or box stays as it was."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.observers.data.mirrored import TURNS, alike, is_boxes, laid_out, middle, turned
from debugtracer.observers.loaders.transform_line import transform_line
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.batches import Batch
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.mirrored_input import MirroredInput

FOLLOWED, A_BATCH = 24, 3  # samples of a dataset that are kept, and of a batch (ours)
MIRRORED = 4  # samples that came mirrored (ours: one may be its own mirror image)
COMPARED = 96  # samples seen again, after which a dataset is left alone (ours)
BOXES = 12  # rows that must all be boxes (ours: four numbers may stand in order by chance)
What = Literal["mask", "box"]


class Sample(NamedTuple):
    """One sample as it came first: the middle of its picture, and what is said of it."""

    picture: Tensor
    targets: dict[str, Tensor]


class PictureSet:
    """What was seen of one dataset."""

    def __init__(self, path: str, targets: dict[str, What]) -> None:
        self.path, self.targets = path, targets
        self.samples: dict[int, Sample] = {}
        self.mirrored: dict[int, str] = {}
        self.compared = self.boxes = 0


class MirroredInputsObserver(Observer):
    """Keeps the middles of a few samples and compares them when they come again; leaves each dataset then."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: ById[Any, PictureSet | None] = ById()
        """Datasets; None for one that is not, or no longer, looked at."""
        self.shapes: dict[tuple[int, ...], int] = {}
        """Shapes of the tensors, without the batch, that models were given in one step: how many."""

    def reset(self) -> None:
        self.known.clear()
        self.shapes.clear()

    def loader_iterated(self, info: Any, iterator: Any) -> None:
        """Listen again: the loader may be new."""
        if self.fetched in self.run.unwanted:
            self.run.subscribe(self.fetched)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Keep, or compare, samples of a batch whose dataset indices are known."""
        owner = owner_of(batch)
        if owner is None or batch.indices is None or not batch.loader.keeps_order:
            return
        known = self.known[owner] if owner in self.known else self.first(owner, batch)
        if known is None:
            if all(one is None for one in self.known.values()):
                self.run.unsubscribe(self.fetched)
            return
        with torch.no_grad():
            self.follow(known, batch, dict(batch.tensors()))
        if not known.targets or len(known.mirrored) >= MIRRORED or known.compared >= COMPARED:
            self.decide(known, batch)
            self.known[owner] = None

    def first(self, owner: Any, batch: Batch) -> PictureSet | None:
        """Learn what the batches of a dataset hold; its first floating or byte tensor of pictures is the picture."""
        leaves = batch.tensors()
        laid = {path: one for path, leaf in leaves if (one := laid_out(leaf)) is not None}
        path = next((p for p, one in laid.items() if one.is_floating_point() or one.dtype is torch.uint8), None)
        found: PictureSet | None = None
        if path is not None:
            size = laid[path].shape[-2:]
            masks: dict[str, What] = {p: "mask" for p, one in laid.items() if p != path and one.shape[-2:] == size}
            boxes: dict[str, What] = {p: "box" for p, leaf in leaves if p not in laid and is_boxes(leaf)}
            found = PictureSet(path, masks | boxes) if masks or boxes else None
        self.known[owner] = found
        return found

    def follow(self, known: PictureSet, batch: Batch, leaves: dict[str, Tensor]) -> None:
        """Compare the samples that are kept; keep some of the others."""
        indices, pictures = batch.indices or (), laid_out(leaves[known.path]) if known.path in leaves else None
        if pictures is None or len(indices) != len(pictures):
            return
        for path in [p for p, what in known.targets.items() if what == "box" and known.boxes < BOXES]:
            if path not in leaves or not is_boxes(leaves[path]):
                del known.targets[path]
        known.boxes += len(indices)
        fresh = 0
        for row, index in enumerate(indices):
            if index in known.samples:
                self.compare(known, index, sample_of(known, pictures, leaves, row))
            elif fresh < A_BATCH and len(known.samples) < FOLLOWED:
                known.samples[index] = sample_of(known, pictures, leaves, row)
                fresh += 1

    def compare(self, known: PictureSet, index: int, now: Sample) -> None:
        """Note a mirrored picture; drop a target that follows it, or that is a picture of the same."""
        before = known.samples[index]
        known.compared += 1
        how = turned(now.picture, before.picture)
        for path in list(known.targets):
            one, other = now.targets.get(path), before.targets.get(path)
            same = one is not None and other is not None and alike(one, other)
            if how and not same:
                del known.targets[path]
            elif how and known.targets[path] == "mask" and other is not None and looks_alike(how, other):
                return  # it looks the same either way
            elif other is not None and alike(other, before.picture):
                del known.targets[path]
        if how and known.targets:
            known.mirrored[index] = how

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the shapes of what models in training are given."""
        if any(True for _ in module.parameters()):
            for one in filter(is_dense, tensors([list(args), kwargs])):
                shape = tuple(one.shape[1:])
                self.shapes[shape] = self.shapes.get(shape, 0) + 1

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Keep the shapes of the first step alone."""
        if self.shapes:
            self.run.unsubscribe(self.left, self.backward_begins)

    def decide(self, known: PictureSet, batch: Batch) -> None:
        """Emit the targets that did not follow their pictures and that no model is given."""
        leaves = dict(batch.tensors())
        picture = tuple(leaves[known.path].shape[1:]) if known.path in leaves else ()
        if len(known.mirrored) < MIRRORED or picture not in self.shapes:
            return
        for path, what in known.targets.items():
            shape = tuple(leaves[path].shape[1:]) if path in leaves else ()
            if self.shapes.get(shape, 0) <= (shape == picture):
                self.emit(known, path, what, batch)

    def emit(self, known: PictureSet, path: str, what: What, batch: Batch) -> None:
        """Emit one target with the lines of both."""
        of, owner, hows = batch.loader, owner_of(batch), list(known.mirrored.values())
        frame = transform_line(owner, innermost(of.made(known.path)), known.path)
        self.run.emit(
            MirroredInput(
                ref=self.run.ref("load"), loader=list(self.known).index(owner), path=known.path, target=path,
                what=what, how=max(TURNS, key=hows.count), samples=tuple(known.mirrored), compared=known.compared,
                frame=frame, target_frame=innermost(of.made(path)), loader_frame=of.frame,
            )
        )  # fmt: skip


def owner_of(batch: Batch) -> Any:
    """The dataset of a batch, or its loader where the dataset is gone."""
    dataset = batch.loader.data() if batch.loader.data is not None else None
    return dataset if dataset is not None else batch.loader.loader()


def sample_of(known: PictureSet, pictures: Tensor, leaves: dict[str, Tensor], row: int) -> Sample:
    """Copy what is kept of one row."""
    targets = {}
    for path, what in known.targets.items():
        leaf = laid_out(leaves[path]) if what == "mask" and path in leaves else leaves.get(path)
        if leaf is not None and len(leaf) == len(pictures):
            targets[path] = middle(leaf[row]) if what == "mask" else leaf[row].detach().clone()
    return Sample(middle(pictures[row]), targets)


def looks_alike(how: str, target: Tensor) -> bool:
    """Whether a target looks the same when it is turned."""
    return alike(TURNS[how](target), target)


def innermost(frames: tuple[Frame, ...]) -> Frame | None:
    """The first of some lines."""
    return frames[0] if frames else None
