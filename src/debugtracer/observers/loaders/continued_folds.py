"""Follows one network through the folds of a cross-validation: was it trained on the rows of an evaluation in a fold
before?"""

from __future__ import annotations

import weakref
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.bound_names import bound_name
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.value_origin import origin, written_at
from debugtracer.errors import guarded
from debugtracer.observers.loaders.fold_rows import FoldRows, rows_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.weights.weight_samples import WeightSamples
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.continued_folds import ContinuedFolds

MOST = 64  # loaders whose rows are listed (ours)
OWN = 0.01  # share of the rows of an evaluation that its own fold may train on (ours)
SEEN = 0.5  # share that was trained on in a fold before (ours: all of them where folds are parts of one order)
LEAST = 16  # rows of an evaluation (ours)
SAMPLES = 8  # shared samples named as evidence


class ContinuedFoldsObserver(Observer):
    """Lists the rows of a loader when it begins its first pass; hears calls and backwards until known what for."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.loaders: weakref.WeakKeyDictionary[LoaderInfo, FoldRows | None] = weakref.WeakKeyDictionary()
        self.unknown: weakref.WeakSet[LoaderInfo] = weakref.WeakSet()
        """Loaders that have neither trained nor evaluated yet."""
        self.held: weakref.WeakSet[LoaderInfo] = weakref.WeakSet()
        """Those before which the weights were what they had been at the pass before."""
        self.count = 0
        self.model: weakref.ref[nn.Module] | None = None
        """The network that is trained."""
        self.running: weakref.ref[nn.Module] | None = None
        """The one that was called last with a graph."""
        self.now: list[FoldRows] = []
        """Rows of the fold in flight; of one before each, together."""
        self.before: list[FoldRows] = []
        self.folds = 1
        self.train_frame: Frame | None = None
        self.weights: tuple[int, WeightSamples] | None = None
        """At the beginning of the last pass: the step, and the weights."""
        run.unsubscribe(self.entered, self.backward_begins)

    def reset(self) -> None:
        self.loaders.clear()
        self.unknown.clear()
        self.count = 0
        self.begin_anew()
        self.run.unsubscribe(self.entered, self.backward_begins)

    def begin_anew(self) -> None:
        """Forget what was trained on: these are other weights."""
        self.now, self.before, self.folds, self.weights = [], [], 1, None

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """List the rows of a loader that is new, and see whether the weights are those of the last pass."""
        stands = self.weights is not None and self.weights[0] == self.run.step and self.weights[1].stand()
        model = self.model() if self.model is not None else None
        if model is not None:
            self.weights = self.run.step, WeightSamples(list(model.parameters()))
        if info in self.loaders:
            return
        self.count += 1
        if self.count > MOST:
            self.reset()
            return self.run.unsubscribe(self.loader_iterated)
        self.loaders[info] = rows = rows_of(info.loader())
        if stands:
            self.held.add(info)
        if rows is not None and len(rows):
            self.unknown.add(info)
            self.run.subscribe(self.entered, self.backward_begins)

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note the network that a batch goes into; without a graph, or with a network in evaluation mode, the batch is
        one of an evaluation."""
        if torch.is_grad_enabled() and module.training:
            if any(True for _ in module.parameters()):
                self.running = weakref.ref(module)
            return
        info = self.asked()
        if info is not None:
            self.known(info)
            self.evaluated(info, module)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Count the batch as one of training."""
        info = self.asked()
        if info is not None:
            self.known(info)
            self.trained(info)

    def asked(self) -> LoaderInfo | None:
        """The loader of the batch fetched last, where it is not known what it is for."""
        batch = self.run.batches.last()
        return batch.loader if batch is not None and batch.loader in self.unknown else None

    def known(self, info: LoaderInfo) -> None:
        """Drop a loader that is known, and all calls once none is left."""
        self.unknown.discard(info)
        if not self.unknown:
            self.run.unsubscribe(self.entered, self.backward_begins)

    def trained(self, info: LoaderInfo) -> None:
        """Begin a fold with other rows than the last one, or go on with it."""
        rows = self.loaders[info]
        running, model = (one() if one is not None else None for one in (self.running, self.model))
        if rows is None or running is None:
            return
        if running is not model:
            self.model = weakref.ref(running)
            self.begin_anew()
        self.train_frame = info.frame
        if not self.now:
            self.now = [rows]
        elif len(rows.shared(self.now)) < len(rows):
            if info not in self.held:
                self.begin_anew()
            else:
                self.before, self.folds = [*self.before, *self.now], self.folds + 1
            self.now = [rows]

    def evaluated(self, info: LoaderInfo, module: nn.Module) -> None:
        """Tell rows that are held out of this fold, and were not of those before."""
        rows = self.loaders[info]
        if rows is None or len(rows) < LEAST or not self.before or self.model is None or self.model() is not module:
            return
        current, seen = len(rows.shared(self.now)), rows.shared(self.before)
        if current > OWN * len(rows) or len(seen) < SEEN * len(rows):
            return
        self.run.unsubscribe(self.loader_iterated, self.entered, self.backward_begins)
        optimizer = next(iter(list(self.run.optimizers)[::-1]), None)
        self.run.emit(
            ContinuedFolds(
                ref=self.run.ref("load", self.run.iteration - 1), fold=self.folds, model=type(module).__name__,
                shared=len(seen), rows=len(rows), current=current, frame=info.frame, train_frame=self.train_frame,
                built=self.run.built_at(optimizer) if optimizer is not None else None, samples=tuple(seen[:SAMPLES]),
                made=guarded("observers.loaders.continued_folds")(model_built)(module),
            )
        )  # fmt: skip


def model_built(model: nn.Module) -> Frame | None:
    """The line that had a network made, by the name that it has where it is asked: the call, not what a function of the
    program returns. None where that is not known. Reads source."""
    name = bound_name(model)
    links = origin(name, user_frames()) if name else ()
    calls = [before.frame for before, last in pairwise(links) if before.kind == "handed" and last.kind == "made"]
    return calls[-1] if calls else written_at(links)
