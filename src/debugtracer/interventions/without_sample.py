"""The batch without its guilty samples: each is overwritten by a healthy row of the same batch, so that every shape
stays."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun


class WithoutSample(Intervention):
    """Means weigh the healthy row twice; nothing else of the step changes."""

    scope: ClassVar[Scope] = "sample"
    unit: ClassVar[str] = "one row of the batch, counted from 0"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without known guilty rows and one healthy row."""
        if not rerun.batch:
            return "no input of the step has the rows of a batch"
        return self.objection(rerun.guilty, rerun.rows)

    def chosen(self, guilty: tuple[int, ...] | None) -> tuple[int, ...]:
        """The rows to leave out."""
        return (guilty or ()) if self.value is None else (int(self.value),)

    def objection(self, guilty: tuple[int, ...] | None, rows: int | None) -> str:
        """Why these rows cannot be left out."""
        out = self.chosen(guilty)
        if not out:
            return "no single row of the batch is known to be guilty"
        if any(not 0 <= row < (rows or 0) for row in out):
            return f"row {', '.join(map(str, out))} is not in the batch, which has rows 0 to {(rows or 1) - 1}"
        return "" if len(out) < (rows or 0) else "every row of the batch is guilty"

    def apply(self, rerun: Rerun) -> str:
        """Overwrite the rows in every input."""
        guilty, good = self.chosen(rerun.guilty), healthy_row(self.chosen(rerun.guilty), rerun.rows)
        for leaf in rerun.batch:
            rerun.inputs[id(leaf)] = overwritten(rerun.value(leaf), guilty, good)
        return words(guilty, good)

    def offline(self, tape: OfflineRerun) -> str:
        """Overwrite the rows in every input that was kept."""
        inputs = list(tape.batch())
        why = self.objection(tape.guilty, tape.rows) if inputs else "no input of the step has the rows of a batch"
        if why:
            hint = "; name one: without-sample=ROW" if inputs and self.value is None and not tape.guilty else ""
            raise ReplayRefused(why + hint)
        guilty, good = self.chosen(tape.guilty), healthy_row(self.chosen(tape.guilty), tape.rows)
        for _, ref in inputs:
            tape.replaced[ref] = overwritten(tape.value(ref), guilty, good)
        return words(guilty, good)


def healthy_row(guilty: tuple[int, ...], rows: int | None) -> int:
    """The first row that is not left out."""
    return next(row for row in range(rows or 0) if row not in set(guilty))


def overwritten(tensor: Tensor, guilty: tuple[int, ...], good: int) -> Tensor:
    """A copy with the guilty rows replaced by the good one."""
    copy = tensor.clone(memory_format=torch.contiguous_format)
    copy[list(guilty)] = copy[good].clone()
    return copy


def words(guilty: tuple[int, ...], good: int) -> str:
    """Format the change: `row 3 replaced by row 0`."""
    return (
        f"row{'s' if len(guilty) > 1 else ''} {', '.join(map(str, guilty[:6]))}{' ...' if len(guilty) > 6 else ''} "
        f"replaced by row {good}"
    )
