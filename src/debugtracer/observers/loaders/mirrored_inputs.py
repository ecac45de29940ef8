"""Finds pictures that come mirrored in a later pass while their mask or box does not, or by a draw of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.origins.turn_lines import turned_alone
from debugtracer.errors import guarded
from debugtracer.observers.data.marked_points import STANDS_OUT, is_points, marks
from debugtracer.observers.data.mirrored import (
    alike,
    box_turns_between,
    cuts_seen,
    in_order,
    is_boxes,
    laid_out,
    middle,
    turns_between,
    turns_of_cuts,
    turns_seen,
)
from debugtracer.observers.loaders.transform_line import transform_line, transform_links
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
AGREED = 8  # times that a target was turned with its picture, and never without, after which it is believed (ours)
OF_ONE_SHAPE = 0.25  # share of the other masks that are this one turned: it is no mask of its picture (ours)
UNLIKE = 8  # pictures in a row that resemble no part of what they were, after which none is looked for (ours)
BOXES = 12  # rows that must all be boxes (ours: four numbers may stand in order by chance)
What = Literal["mask", "box", "points"]


class Sample(NamedTuple):
    """One sample as it came first: the middle of its picture, and what is said of it."""

    picture: Tensor
    targets: dict[str, Tensor]


class TargetSeen:
    """What was seen of one target when samples came again."""

    def __init__(self, what: What) -> None:
        self.what = what
        self.apart: dict[int, tuple[str, str]] = {}
        """Dataset indices: how the picture was turned, and how the target."""
        self.turned: list[str] = []
        self.agreed = 0

    def note_apart(self, index: int, picture: str, target: str) -> None:
        """Note that a sample came again with one turn of its picture and another of its target."""
        self.apart[index] = picture, target
        self.turned += [target] if target else []

    def note_agreed(self, turn: str) -> None:
        """Note that both were turned the same way."""
        self.turned.append(turn)
        self.agreed += 1


class PictureSet:
    """What was seen of one dataset."""

    def __init__(self, path: str, size: tuple[int, int], targets: dict[str, What]) -> None:
        self.path, self.size = path, size
        self.targets = {target: TargetSeen(what) for target, what in targets.items()}
        self.samples: dict[int, Sample] = {}
        self.compared = self.boxes = 0
        self.unlike = 0
        """Pictures in a row that resembled no part of what they were."""
        self.cut = False
        """Each delivery cuts another part out."""

    def apart(self) -> int:
        """Count the samples whose picture and target were turned differently."""
        return max((len(seen.apart) for seen in self.targets.values()), default=0)

    def has_places(self, path: str) -> bool:
        """Whether a target holds places in its pictures, as far as they tell."""
        kept = [one for one in self.samples.values() if path in one.targets]
        return marks([one.picture for one in kept], [one.targets[path] for one in kept], *self.size) >= STANDS_OUT


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
        if not known.targets or known.apart() >= MIRRORED or known.compared >= COMPARED:
            self.decide(known, batch)
            self.known[owner] = None

    def first(self, owner: Any, batch: Batch) -> PictureSet | None:
        """Learn what the batches of a dataset hold; its first floating or byte tensor of pictures is the picture."""
        leaves = batch.tensors()
        laid = {path: one for path, leaf in leaves if (one := laid_out(leaf)) is not None}
        path = next((p for p, one in laid.items() if one.is_floating_point() or one.dtype is torch.uint8), None)
        found: PictureSet | None = None
        if path is not None:
            high, wide = laid[path].shape[-2:]
            masks: dict[str, What] = {
                p: "mask" for p, one in laid.items() if p != path and one.shape[-2:] == (high, wide)
            }
            boxes: dict[str, What] = {p: "box" for p, leaf in leaves if p not in laid and is_boxes(leaf)}
            free = [(p, leaf) for p, leaf in leaves if p not in laid and p not in boxes]
            points: dict[str, What] = {p: "points" for p, leaf in free if is_points(leaf)}
            found = PictureSet(path, (high, wide), masks | boxes | points) if masks or boxes or points else None
        self.known[owner] = found
        return found

    def follow(self, known: PictureSet, batch: Batch, leaves: dict[str, Tensor]) -> None:
        """Compare the samples that are kept; keep some of the others."""
        indices, pictures = batch.indices or (), laid_out(leaves[known.path]) if known.path in leaves else None
        if pictures is None or len(indices) != len(pictures):
            return
        for path in [p for p, one in known.targets.items() if one.what == "box" and known.boxes < BOXES]:
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
        """Note how a picture and its targets were turned; drop a target that is another, or a picture of the same."""
        before = known.samples[index]
        known.compared += 1
        same = turns_between(now.picture, before.picture)
        cut = [] if same else turns_of_cuts(now.picture, before.picture)
        ways = same or cut or turns_seen(now.picture, before.picture)
        if not ways and known.unlike < UNLIKE:
            ways = cut = cuts_seen(now.picture, before.picture)
            known.unlike = 0 if cut else known.unlike + 1
        for path, seen in list(known.targets.items()) if ways else ():
            one, other = now.targets.get(path), before.targets.get(path)
            others: list[str] = []
            if one is not None and other is not None and not turns_between(other, before.picture):
                others = target_turns(seen.what, one, other, known.size)
                if not others and cut and seen.what == "mask" and not cuts_seen(other, before.picture):
                    others = turns_of_cuts(one, other)
                    known.cut = known.cut or bool(others)
            if not others:
                del known.targets[path]
            elif not set(ways) & set(others):
                seen.note_apart(index, ways[0], others[0])
                if seen.what == "mask" and shared(known, path, index):
                    del known.targets[path]
            elif "" not in (*ways, *others):
                seen.note_agreed(others[0])
                if seen.agreed >= AGREED and not seen.apart:
                    del known.targets[path]

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
        for path, seen in known.targets.items() if picture in self.shapes else ():
            shape = tuple(leaves[path].shape[1:]) if path in leaves else ()
            kept = [one.targets[path] for one in known.samples.values() if path in one.targets]
            if seen.what == "box" and all(map(in_order, kept)):
                continue
            if seen.what == "points" and (len(seen.apart) < MIRRORED or not known.has_places(path)):
                continue
            if len(seen.apart) >= MIRRORED and self.shapes.get(shape, 0) <= (shape == picture):
                self.emit(known, path, seen, batch)

    def emit(self, known: PictureSet, path: str, seen: TargetSeen, batch: Batch) -> None:
        """Emit one target with the lines of both, where one is turned and the other is not."""
        of, owner, turns = batch.loader, owner_of(batch), list(seen.apart.values())
        called = [innermost(of.made(one)) for one in (known.path, path)]
        lines = [transform_line(owner, line, one) for line, one in zip(called, (known.path, path), strict=True)]
        alone = guarded("mirrored_inputs.alone")(lines_alone)(batch, called, known.path, path) or (None, None)
        self.run.emit(
            MirroredInput(
                ref=self.run.ref("load"), loader=list(self.known).index(owner), path=known.path, target=path,
                what=seen.what, how=commonest([how for how, _ in turns if how]), samples=tuple(seen.apart),
                compared=known.compared, frame=alone[0] or lines[0], target_frame=alone[1] or lines[1],
                only="picture" if alone[0] and not alone[1] else "target" if alone[1] and not alone[0] else "",
                target_how=commonest(seen.turned), first=turns[0], loader_frame=of.frame, cut=known.cut,
            )
        )  # fmt: skip


def lines_alone(
    batch: Batch, called: Sequence[Frame | None], picture: str, target: str
) -> tuple[Frame | None, Frame | None]:
    """The line that turns the picture where the target is left as it is, and the other way round; `called` are the
    lines of the dataset that made both. Reads source."""
    links = [
        (*batch.loader.origin(path), *transform_links(owner_of(batch), line, path))
        for line, path in zip(called, (picture, target), strict=True)
    ]
    return turned_alone(*links)


def target_turns(what: What, one: Tensor, other: Tensor, size: tuple[int, int]) -> list[str]:
    """Every turn that takes a target to the one that came later; points are the same, or moved, which says nothing."""
    if what == "points":
        return [""] if alike(one, other) else []
    return box_turns_between(one, other, *size) if what == "box" else turns_between(one, other)


def owner_of(batch: Batch) -> Any:
    """The dataset of a batch, or its loader where the dataset is gone."""
    dataset = batch.loader.data() if batch.loader.data is not None else None
    return dataset if dataset is not None else batch.loader.loader()


def sample_of(known: PictureSet, pictures: Tensor, leaves: dict[str, Tensor], row: int) -> Sample:
    """Copy what is kept of one row."""
    targets = {}
    for path, seen in known.targets.items():
        leaf = laid_out(leaves[path]) if seen.what == "mask" and path in leaves else leaves.get(path)
        if leaf is not None and len(leaf) == len(pictures):
            targets[path] = middle(leaf[row]) if seen.what == "mask" else leaf[row].detach().clone()
    return Sample(middle(pictures[row]), targets)


def shared(known: PictureSet, path: str, index: int) -> bool:
    """Whether many other pictures have this target too, turned or not: what is drawn from a few shapes is no mask."""
    own, rest = known.samples[index], [one for key, one in known.samples.items() if key != index]
    rest = [one for one in rest if path in one.targets and not turns_between(one.picture, own.picture)]
    same = sum(bool(turns_between(one.targets[path], own.targets[path])) for one in rest)
    return same > OF_ONE_SHAPE * len(rest)


def commonest(hows: list[str]) -> str:
    """The turn that was seen most often; empty without any."""
    return max(sorted(set(hows)), key=hows.count, default="")


def innermost(frames: tuple[Frame, ...]) -> Frame | None:
    """The first of some lines."""
    return frames[0] if frames else None
