"""Finds targets of a loss over classes that were resized by weighing neighbours, in the loop or by the dataset."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loaders.label_resizing import (
    ELEMENTS,
    FEWEST,
    ResizeWatch,
    Resizing,
    Stray,
    interpolated,
    looks_weighed,
    stray,
    stray_renamed,
)
from debugtracer.observers.loaders.sample_maker import maker_of
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.resized_labels import ResizedLabels

LOOKS = 6  # targets that are looked at (ours)
ASKED = 2  # batches of which samples are fetched again (ours)
SAMPLES = 4  # of them (ours)
SECONDS = 0.5  # that it may take (ours)
MOST = 4  # resized maps of a step (ours)


class ResizedLabelsObserver(Observer):
    """Hears the functions of inspected steps. Asks the dataset for a few samples once more only where the ids of the
    targets lie as a mean of their neighbours does."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.seen: list[Resizing] = []
        self.told: set[RawFrames] = set()
        self.looks = self.asked = 0

    def reset(self) -> None:
        self.seen.clear()
        self.told.clear()

    def missed(self) -> None:
        """Forget the maps of a step that was not seen to its end."""
        self.seen.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a resized map, look at the targets of a loss."""
        name = getattr(function, "__name__", "")
        if name == "interpolate":
            with torch.no_grad():
                resizing = interpolated(args, kwargs, output) if len(self.seen) < MOST else None
            self.seen += [resizing] if resizing is not None else []
        elif name in INDEXED and torch.is_grad_enabled():
            given = arguments(name, args, kwargs)
            target = given["target"]
            if not target.is_floating_point() and FEWEST <= target.numel() <= ELEMENTS:
                self.looks += 1
                with torch.no_grad():
                    self.look(name, target.detach(), int(given["ignore_index"]))
                if self.looks >= LOOKS:
                    self.run.unsubscribe(self.called, self.step_closed)

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget the maps of the step."""
        self.seen.clear()

    def look(self, loss: str, target: Tensor, ignored: int) -> None:
        """Compare targets with what the loop has resized, or with what the dataset resizes."""
        wanted = kept(target, ignored)
        for resizing in self.seen:
            found = stray(resizing, wanted)
            if found is not None:
                self.tell(resizing, found, loss, ())
                return
        known = self.leaf_of(target)
        if known is None or self.asked >= ASKED:
            return
        batch, path, leaf = known
        if leaf.dim() > 1 and looks_weighed(leaf):
            self.asked += 1
            self.ask(batch, path, ignored, loss)

    def leaf_of(self, target: Tensor) -> tuple[Batch, str, Tensor] | None:
        """The tensor of a batch that holds these targets."""
        found = self.run.batches.find(target)
        batch = found[0] if found is not None else self.run.batches.last()
        flat = target.reshape(-1).cpu()
        for path, leaf in batch.tensors() if batch is not None else ():
            if found is not None and path != found[1]:
                continue
            whole = not leaf.is_floating_point() and leaf.numel() == flat.numel()
            if batch is not None and whole and torch.equal(leaf.detach().reshape(-1).cpu().long(), flat.long()):
                return batch, path, leaf.detach().cpu()
        return None

    def ask(self, batch: Batch, path: str, ignored: int, loss: str) -> None:
        """Fetch samples of the batch again and emit the map that became a target, if a pixel of it is stray."""
        maker = maker_of(batch.loader)
        if maker is None:
            return
        began, found = perf_counter(), []
        for index in (batch.indices or ())[:SAMPLES]:
            watch = ResizeWatch()
            try:
                with maker.unchanged(self.run), watch.pictures(), watch:
                    made = maker.batch_of(index)
            except (Exception, SystemExit):
                return  # the user's code; it may need what only a worker has
            leaf = dict(leaves_of(made)).get(path)
            if leaf is None or leaf.is_floating_point():
                return
            maps = ((one, stray(one, kept(leaf, ignored)) or stray_renamed(one, leaf, ignored)) for one in watch.seen)
            found += [(one, wrong, index) for one, wrong in maps if wrong is not None]
            if perf_counter() - began > SECONDS:
                break
        if found:
            resizing = found[0][0]
            same = [(wrong, index) for one, wrong, index in found if one.raw[:1] == resizing.raw[:1]]
            whole = Stray(sum(wrong.pixels for wrong, _ in same), sum(wrong.wrong for wrong, _ in same), same[0][0].ids)
            self.tell(resizing, whole, loss, tuple(dict.fromkeys(index for _, index in same)))

    def tell(self, resizing: Resizing, found: Stray, loss: str, samples: tuple[int, ...]) -> None:
        """Emit one line once."""
        if resizing.raw in self.told:
            return
        self.told.add(resizing.raw)
        self.run.emit(
            ResizedLabels(
                ref=self.run.ref("load" if samples else "loss"), function=resizing.function, mode=resizing.mode,
                pixels=found.pixels, stray=found.wrong, ids=found.ids, samples=samples, loss=loss,
                frame=first(resizing.raw), loss_frame=first(raw_frames(1)),
            )
        )  # fmt: skip


def kept(target: Tensor, ignored: int) -> Tensor:
    """The targets that count."""
    return target[(target != ignored) & (target >= 0)].long()
