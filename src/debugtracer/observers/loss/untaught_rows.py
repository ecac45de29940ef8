"""Counts samples whose labels are all ignored by the only loss of the training."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.blanked_row import blanked_row
from debugtracer.errors import guarded
from debugtracer.observers.graph.summands import summands
from debugtracer.observers.loaders.sample_maker import maker_of
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.given_labels import labels_in
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.facts.loss_call import INDEXED, LOSSES
from debugtracer.trace.facts.untaught_rows import UntaughtRows

LOOKS = 3  # inspected losses (ours)
LATEST = 4  # batches fetched ahead of a loss (ours)
ROWS, BATCHES = 128, 24  # that are counted, and batches at the most (ours)
FEWEST = 8  # samples without a target, of which the data set is asked (ours)
WIDTH = 4  # labels of a sample (ours: of one label it is often missing on purpose)
DRAWS = 2  # times that each of these is fetched again: what is masked at random has targets then (ours)


class UntaughtRowsObserver(Observer):
    """Reads labels in host memory, of the first batches alone; then nothing of it is called."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()
        run.unsubscribe(self.fetched)

    def reset(self) -> None:
        self.loader: LoaderInfo | None = None
        self.path = self.loss = ""
        self.ignored = self.looks = self.losses = self.batches = 0
        self.seen: set[int] = set()
        self.empty: dict[int, None] = {}
        """Dataset indices, in the order in which they came."""
        self.run.unsubscribe(self.fetched)

    @inspected
    @of_functions(LOSSES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Find the labels of the loss among the batches."""
        name = getattr(function, "__name__", "")
        if name not in LOSSES or not torch.is_grad_enabled():
            return
        self.losses += 1
        if name not in INDEXED:
            return self.leave()
        given = arguments(name, args, kwargs)
        target, ignored = given["target"], given.get("ignore_index")
        if self.loader is not None or type(ignored) is not int or not is_labels(target):
            return
        self.looks += 1
        found = next(
            (hit for one in self.run.batches.latest()[-LATEST:][::-1] if (hit := labels_in(one, target))), None
        )
        batch = next((one for one in self.run.batches.latest()[::-1] if found and one.loader is found[0]), None)
        if found is not None and batch is not None and batch.indices is not None and found[0].keeps_order:
            self.loader, self.path, self.loss, self.ignored = *found, name, ignored
            self.run.subscribe(self.fetched)
        elif self.looks >= LOOKS:
            self.leave()

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Leave a training that has another term, or another loss in one step: it may teach the others."""
        if self.losses > 1 or (self.losses and len(summands(losses, 2)) != 1):
            self.leave()
        self.losses = 0

    def leave(self) -> None:
        """Call nothing of it any more."""
        self.run.unsubscribe(self.called, self.backward_begins, self.fetched)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Count the samples of a batch that have no target."""
        info = self.loader
        if info is None or batch.indices is None or not (batch.loader is info or batch.loader.goes_on(info)):
            return
        leaves = dict(batch.tensors())
        labels = leaves.get(self.path)
        if labels is None or not is_labels(labels) or labels.dim() != 2 or len(labels) != len(batch.indices):
            return self.leave()
        if labels.shape[1] < WIDTH:
            return self.leave()
        with torch.no_grad():
            beside = [ids for path, ids in leaves.items() if path != self.path and ids.shape == labels.shape]
            known = torch.full((len(labels),), not beside)
            for ids in beside:  # a row that is filler throughout is no sample
                known |= (ids != ids[:, :1]).any(1)
            empty = (labels == self.ignored).all(1) & known
        self.batches += 1
        self.seen.update(batch.indices[row] for row in known.nonzero().flatten().tolist())
        self.empty.update(dict.fromkeys(batch.indices[row] for row in empty.nonzero().flatten().tolist()))
        if len(self.seen) >= ROWS or self.batches >= BATCHES:
            self.leave()
            if len(self.empty) >= FEWEST:
                self.tell(batch.loader)

    def tell(self, info: LoaderInfo) -> None:
        """Emit the samples, once their data set gave no target again."""
        asked = list(self.empty)[:FEWEST]
        if not guarded("observers.loss.untaught_rows")(self.without)(info, asked):
            return
        made = info.made(self.path)
        self.run.emit(
            UntaughtRows(
                ref=self.run.ref("load"), path=self.path, loss=self.loss, ignored=self.ignored, rows=len(self.seen),
                empty=len(self.empty), asked=len(asked), samples=tuple(sorted(self.empty)),
                frame=made[-1] if made else info.frame,
                written=guarded("observers.loss.untaught_rows.line")(blanked_row)(info.dataset_held(), self.ignored),
            )
        )  # fmt: skip

    def without(self, info: LoaderInfo, indices: list[int]) -> bool:
        """Whether these samples have no target in any of some draws."""
        maker = maker_of(info)
        if maker is None:
            return False
        with maker.unchanged(self.run):
            for index in indices * DRAWS:
                try:
                    labels = dict(leaves_of(maker.batch_of(index))).get(self.path)
                except (Exception, SystemExit):
                    return False  # the user's code; it may need what only a worker has
                if labels is None or not bool((labels == self.ignored).all()):
                    return False
        return True


def is_labels(value: Any) -> bool:
    """Whether a tensor holds whole numbers, in host memory."""
    return (
        isinstance(value, Tensor)
        and value.dtype in (torch.int64, torch.int32)
        and value.device.type == "cpu"
        and is_dense(value)
        and value.numel() > 0
    )
