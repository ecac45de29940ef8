"""For an incident of a row of which the model was given nothing (a mask of padding only, a count of 0): the line of the
data pipeline that left nothing of its record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from debugtracer.callsites.origins.blank_lookup import blank_lookup
from debugtracer.errors import guarded
from debugtracer.recorder.tape.batches import Batch
from debugtracer.replay.fetch.emptied import emptied
from debugtracer.trace.birth import Birth
from debugtracer.trace.emptied_record import EmptiedRecord

OTHERS = 8  # samples that are fetched beside it (ours)


@guarded("diagnosis.emptied_rows")
def emptied_rows(birth: Birth | None, batch: Batch | None, rows: Sequence[int] | None) -> EmptiedRecord | None:
    """The line that left nothing of the first of these rows; None where the tensors of the batch that alone decide the
    value hold something for it, where that is so for other rows as well, and where the record was stored empty and no
    line is known that made it so. Syncs the host."""
    if birth is None or batch is None or not rows or not birth.given or batch.indices is None:
        return None
    samples = batch.samples(rows)
    if not samples or len(rows) >= len(batch.indices) or max(rows) >= len(batch.indices):
        return None
    blank = dict(blanks(batch, rows))
    if not any(name in blank for name in birth.given):
        return None
    healthy = [index for row, index in enumerate(batch.indices) if row not in rows and index not in samples]
    found = emptied(batch, samples[0], healthy[:OTHERS], frozenset(blank.values()))
    if found is not None:
        return found
    for name, number in blank.items():
        known = blank_lookup(batch.loader.origin(name), number)
        if known is not None:
            frame, text = known
            return EmptiedRecord(index=samples[0], frame=frame, expression=text, left=f"{number:g} only")
    return None


def blanks(batch: Batch, rows: Sequence[int]) -> Iterator[tuple[str, float]]:
    """Yield the tensors of the batch that hold one number only in each of these rows, and in no other, with the
    number."""
    for name, leaf in batch.tensors():
        if not leaf.dim() or leaf.shape[0] != batch.rows or leaf.layout is not torch.strided or not leaf.numel():
            continue
        number = only(leaf, rows)
        if number is not None:
            yield name, number


def only(leaf: Tensor, rows: Sequence[int]) -> float | None:
    """The one number in these rows of a tensor, and in no other row alone; of a tensor with one number a row only 0.
    None for numbers that are measured."""
    with torch.no_grad():
        flat = leaf.detach().reshape(len(leaf), -1)
        if flat.is_floating_point() and not bool(((flat == 0) | (flat == 1)).all()):
            return None
        number = flat[rows[0], 0]
        same = (flat == number).all(1)
        if flat.shape[1] == 1 and float(number) != 0:
            return None
        return float(number) if same.nonzero().flatten().tolist() == sorted(rows) else None
