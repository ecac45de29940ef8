"""Follows rows that are taken by index to a loss: do the target's rows have the numbers of the input's?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import frames_of, raw_frames
from debugtracer.observers.loss.followed_rows import FollowedRows, Taken
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.loss_call import BINARY, ELEMENTWISE, INDEXED
from debugtracer.trace.facts.rows_taken import RowsTaken

COMPARED = INDEXED | BINARY | ELEMENTWISE
SHOWN = 3  # pairs of rows that are told


class RowsTakenObserver(Observer):
    """Hears the functions of inspected steps."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.rows = FollowedRows()

    def reset(self) -> None:
        self.rows.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow what is taken by index, and compare it where a loss meets it."""
        name = getattr(function, "__name__", "")
        self.rows.called(name, args, kwargs, output)
        if name in COMPARED and len(self.rows) > 1 and torch.is_grad_enabled():
            given = arguments(name, args, kwargs)
            self.compare(name, self.rows.known(given["input"]), self.rows.known(given["target"]), given["target"])

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow the rows through a model."""
        self.rows.left(args, kwargs, output)

    def compare(self, loss: str, given: Taken | None, target: Taken | None, labels: Any) -> None:
        """Emit what a loss was given where both sides were taken by index from two tensors of one length."""
        if given is None or target is None or given.place == target.place or labels.requires_grad:
            return
        if given.length != target.length or len(given.rows) != len(target.rows):
            return
        apart = target.rows - given.rows
        at, input_at, loss_at = (frames_of(raw) for raw in (target.raw, given.raw, raw_frames(2)))
        pairs = zip(given.rows[:SHOWN].tolist(), target.rows[:SHOWN].tolist(), strict=True)
        self.run.emit(
            RowsTaken(
                ref=self.run.ref(), loss=loss, loss_frame=loss_at[0] if loss_at else None,
                frame=at[0] if at else None, input_frame=input_at[0] if input_at else None, length=given.length,
                rows=len(given.rows), same=int((apart == 0).sum()), shifted=bool((apart == apart[0]).all()),
                first=tuple(pairs),
            )
        )  # fmt: skip

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Let go of the step."""
        if len(self.rows):
            self.rows.clear()
