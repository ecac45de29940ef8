"""Looks in the first batches for ids that are the same in every sample."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.errors import guarded
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.same_rows import SameRows

BATCHES = 3  # of the loader that came first (ours)
LEAST = 8  # samples of each (ours)
KINDS = 3  # different ids in a row: flags and types have fewer (ours)


class SameRowsObserver(Observer):
    """Integers in host memory; nothing of it is called after the first batches."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.loader: LoaderInfo | None = None
        self.rows: dict[str, Tensor] = {}
        """The row that all samples had so far, by path."""
        self.beside = ""
        self.batches = self.samples = 0

    def reset(self) -> None:
        self.loader, self.rows, self.beside, self.batches, self.samples = None, {}, "", 0, 0

    def fetched(self, batch: Batch, data: Any) -> None:
        """Compare the rows of a batch with each other and with those of the batches before."""
        if self.loader is None:
            self.loader = batch.loader
        if batch.loader is not self.loader:
            return
        self.batches += 1
        with torch.no_grad():
            self.look({path: leaf for path, leaf in batch.tensors() if is_ids(leaf)})
        if self.batches == BATCHES:
            self.tell(batch.loader)
        if self.batches >= BATCHES or not self.rows:
            self.run.unsubscribe(self.fetched)

    def look(self, leaves: dict[str, Tensor]) -> None:
        """Keep the tensors whose rows are all the same, and the name of one whose rows are not."""
        alike = {path: leaf[0].clone() for path, leaf in leaves.items() if bool((leaf == leaf[0]).all())}
        self.beside = self.beside or next((path for path in leaves if path not in alike), "")
        if self.batches == 1:
            self.rows = {path: row for path, row in alike.items() if is_content(row)}
        else:
            self.rows = {p: row for p, row in self.rows.items() if p in alike and torch.equal(alike[p], row)}
        self.samples += max((len(leaf) for leaf in leaves.values()), default=0)

    def tell(self, info: LoaderInfo) -> None:
        """Emit what was the same in all samples, where something beside it was not."""
        for path, row in self.rows.items() if self.beside else ():
            self.run.emit(
                SameRows(
                    ref=self.run.ref("load"), dataset=info.dataset, path=path, beside=self.beside, rows=self.samples,
                    columns=len(row), frame=info.frame, made=taken_at(info, path),
                )
            )  # fmt: skip


def taken_at(info: LoaderInfo, path: str) -> tuple[Frame, ...]:
    """The lines from the one that took a row for each sample."""
    return made_first(guarded("observers.data.same_rows")(info.origin)(path) or (), cut=True)


def is_ids(value: Tensor) -> bool:
    """Whether it holds a row of whole numbers for each of enough samples."""
    plain = value.dim() == 2 and value.dtype in (torch.int64, torch.int32) and value.device.type == "cpu"
    return plain and len(value) >= LEAST and value.shape[1] > 1 and is_dense(value)


def is_content(row: Tensor) -> bool:
    """Whether a row says something: several ids, and no positions that rise by one number."""
    steps = row.diff()
    return len(row.unique()) >= KINDS and not bool((steps == steps[0]).all())
