"""Follows which target each input comes with, from the first pass of a loader to the next ones."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from debugtracer.callsites.origins.moving_line import moving_line
from debugtracer.errors import guarded
from debugtracer.observers.data.pair_changes import PairChange
from debugtracer.observers.loaders.pass_pairs import PassPairs
from debugtracer.observers.loaders.untouched import inner
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.loss.rows_taken import COMPARED
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.facts.moved_pairs import MovedPairs

MOST = 4  # loaders that are followed (ours)


class MovedPairsObserver(Observer):
    """Fingerprints of some thousand rows of the first passes; hears nothing more once they were compared."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.loaders: weakref.WeakKeyDictionary[LoaderInfo, PassPairs] = weakref.WeakKeyDictionary()
        self.count = 0
        self.targets: weakref.WeakKeyDictionary[LoaderInfo, str] = weakref.WeakKeyDictionary()
        """The tensor of its batches that a loss of training was given as its target."""

    def reset(self) -> None:
        self.loaders.clear()
        self.targets.clear()
        self.count = 0

    def missed(self) -> None:
        """Give up: a pass that was not seen to its end may be taken for the first."""
        self.leave()

    def leave(self) -> None:
        """Stop following all loaders from here on."""
        self.loaders.clear()
        self.run.unsubscribe(self.fetched, self.called, self.missed)

    @of_functions(COMPARED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note which tensor of a batch is the target of a loss."""
        name = getattr(function, "__name__", "")
        if name not in COMPARED or not torch.is_grad_enabled():
            return
        target = arguments(name, args, kwargs)["target"]
        if isinstance(target, torch.Tensor) and not target.requires_grad:
            hit = self.run.batches.find(target)
            if hit is not None:
                self.targets.setdefault(hit[0].loader, hit[1])

    def fetched(self, batch: Batch, data: Any) -> None:
        """Add a batch to its loader; compare once enough has come again."""
        known = self.loaders.get(batch.loader)
        if known is None:
            if self.count >= MOST:
                return self.leave() if all(one.over for one in self.loaders.values()) else None
            self.count += 1
            known = self.loaders[batch.loader] = PassPairs()
        if known.over:
            return self.leave() if all(one.over for one in self.loaders.values()) else None
        known.add(batch)
        if known.due:
            self.compare(batch.loader, known)

    def compare(self, info: LoaderInfo, known: PassPairs) -> None:
        """Emit a loader whose inputs come with other targets, once."""
        target = self.targets.get(info)
        if target is None:
            known.over = True
            return
        found = known.compare(target, info.dataset_len())
        if found is not None:
            self.leave()
            self.tell(info, known, target, found)

    def tell(self, info: LoaderInfo, known: PassPairs, target: str, found: PairChange) -> None:
        """Emit what moved, with the line that moves it."""
        moved = (target,) if found.moved == "targets" else tuple(path for path in known.paths if path != target)
        line = guarded("observers.loaders.moving_line")(moving_line)(inner(info.dataset_held()), info.origin, moved)
        self.run.emit(
            MovedPairs(
                ref=self.run.ref("load"), data=info.dataset, moved=found.moved, rows=found.rows, changed=found.changed,
                known=found.known, first=0, drawn=line is not None and line.function.endswith("__getitem__"),
                frame=line, loader_frame=info.frame,
            )
        )  # fmt: skip
