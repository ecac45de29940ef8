"""Which samples the rows of a batch are, where a collate_fn may have sorted them: each is fetched again, made a batch
of alone, and compared with the rows. What is not proved so is not named."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch
from debugtracer.replay.fetch.child import in_child
from debugtracer.replay.fetch.followed import SECONDS
from debugtracer.replay.fetch.sample import Pipeline, as_worker, pipeline_of

MOST = 4096  # samples of a batch that are fetched again (ours)
Leaves = dict[str, Tensor]


def samples_by_value(batch: Batch, rows: Sequence[int]) -> tuple[int, ...] | None:
    """The dataset indices behind these rows, each once; None where a row equals no sample of the batch, or several."""
    indices, size = batch.indices, batch.rows
    if indices is None or not size or size != len(indices) or size > MOST or not rows:
        return None
    held = {path: leaf.detach().cpu() for path, leaf in batch.tensors() if leaf.dim() and leaf.shape[0] == size}
    if not held:
        return None
    try:
        pipeline = pipeline_of(batch.loader)
        if pipeline.streams or not pipeline.batched:
            return None
        found = in_child(lambda: compared(pipeline, batch, held, rows), SECONDS)
    except (ReplayRefused, OSError):
        return None
    return tuple(dict.fromkeys(found)) if found is not None else None


def compared(pipeline: Pipeline, batch: Batch, held: Leaves, rows: Sequence[int]) -> list[int] | None:
    """The index of the one sample that each row is; runs in the child."""
    as_worker(pipeline, batch.number)
    with torch.no_grad():
        alone = {index: dict(leaves_of(pipeline.collated([pipeline.sample(index)]))) for index in batch.indices or ()}
    found: list[int] = []
    for row in rows:
        fits = [index for index, one in alone.items() if is_row(held, one, row)]
        fits = fits or [index for index, one in alone.items() if wide(held) and is_row(wide(held), one, row)]
        if len(fits) != 1:
            return None
        found += fits
    return found


def wide(held: Leaves) -> Leaves:
    """The parts with more than one number for each row: a single one, a length or a share of the longest, may depend on
    what else is in the batch, or have been written to since."""
    return {path: leaf for path, leaf in held.items() if leaf.numel() > leaf.shape[0]}


def is_row(held: Leaves, alone: Leaves, row: int) -> bool:
    """Whether a row of the batch is what a batch of one sample alone holds, but for padding, in every part that has a
    row of each."""
    parts = [(leaf[row], alone.get(path)) for path, leaf in held.items()]
    return all(one is not None and one.dim() > 0 and one.shape[0] == 1 and padded(part, one[0]) for part, one in parts)


def padded(part: Tensor, one: Tensor) -> bool:
    """Whether two rows are equal, or one is the other and one number, the same everywhere, behind it."""
    if part.dim() != one.dim() or part.dtype != one.dtype:
        return False
    if any(a < b for a, b in zip(part.shape, one.shape, strict=True)):
        return False
    if not same(part[tuple(slice(0, n) for n in one.shape)], one):
        return False
    rest = torch.ones(part.shape, dtype=torch.bool)
    rest[tuple(slice(0, n) for n in one.shape)] = False
    filled = part[rest]
    return filled.numel() == 0 or same(filled, filled[:1].expand_as(filled))


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are equal, where NaN equals NaN."""
    return bool(torch.all((a == b) | ((a != a) & (b != b))))
