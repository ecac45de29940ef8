"""The rows of one loader: of its first pass, and of those after it, by fingerprints."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from debugtracer.observers.data.pair_changes import Codes, PairChange, TargetedRows, pair_change, row_codes
from debugtracer.recorder.tape.batches import Batch

ROWS = 4096  # of the first pass, and of those after it (ours: a millisecond)
ENOUGH = 512  # rows after the first pass, at which they are compared first (ours)
WIDE, WIDE_WHOLE = 2, 4  # numbers of a row from which it may be an input, and whole ones (ours)


class PassPairs:
    """Keeps numbers alone. `paths` are the tensors of its batches, in their order."""

    def __init__(self) -> None:
        self.paths: tuple[str, ...] = ()
        self.rows: tuple[list[tuple[Codes, ...]], list[tuple[Codes, ...]]] = ([], [])
        """Of the first pass, and of those after it: of each batch the numbers of each tensor, and the samples."""
        self.counts = [0, 0]
        self.passes = -1
        self.wide: set[str] = set()
        self.compared = 0
        self.over = False

    def add(self, batch: Batch) -> None:
        """Add a batch; one of another form ends it."""
        self.passes += batch.number == 0
        part = 0 if self.passes <= 0 else 1
        if self.over or self.counts[part] >= ROWS:
            return
        leaves = [(path, leaf) for path, leaf in batch.tensors() if leaf.dim() and leaf.shape[0] == batch.rows]
        codes = [row_codes(leaf) for _, leaf in leaves]
        paths = tuple(path for path, _ in leaves)
        known = tuple(one for one in codes if one is not None)
        self.over = batch.indices is None or len(known) < len(codes) or len(paths) < 2 or paths != (self.paths or paths)
        if self.over or batch.indices is None or len(batch.indices) != batch.rows:
            return
        self.paths = paths
        self.wide |= {path for path, leaf in leaves if is_wide(leaf)}
        self.rows[part].append((*known, np.array(batch.indices, dtype=np.int64)))
        self.counts[part] += len(batch.indices)

    @property
    def due(self) -> bool:
        """Whether enough has come again since it was compared last."""
        return not self.over and self.counts[1] >= max(ENOUGH, 2 * self.compared)

    def compare(self, target: str, length: int | None) -> PairChange | None:
        """Compare the passes by the tensor that a loss was given as its target."""
        self.compared = self.counts[1]
        self.over = self.counts[1] >= ROWS
        if target not in self.paths or not self.wide - {target} or not self.rows[0] or not self.rows[1]:
            return None
        before, now = (self.pairs(part, target) for part in self.rows)
        return pair_change(before, now, len(np.unique(before.places)) == length)

    def pairs(self, part: list[tuple[Codes, ...]], target: str) -> TargetedRows:
        """The rows of some batches: a number of all tensors but the target, and of one that counts the samples."""
        columns = [np.concatenate(column) for column in zip(*part, strict=True)]
        places = columns.pop()
        others = [c for path, c in zip(self.paths, columns, strict=True) if path in self.wide and path != target]
        small = [c for path, c in zip(self.paths, columns, strict=True) if path not in self.wide and path != target]
        inputs = np.zeros_like(places)
        for column in (*others, *(c for c in small if len(np.unique(c)) < len(np.unique(places)))):
            inputs = inputs * 1_000_003 + column
        return TargetedRows(inputs, columns[self.paths.index(target)], places)


def is_wide(leaf: Tensor) -> bool:
    """Whether it has several numbers for each row."""
    return leaf.dim() > 1 and leaf.shape[1:].numel() >= (WIDE if leaf.is_floating_point() else WIDE_WHOLE)
