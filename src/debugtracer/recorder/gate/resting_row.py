"""The numbers of a step at rest, until they are published some steps at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from debugtracer.recorder.listeners import ClosedStep
from debugtracer.trace.window import GRAD_L2, LOSS, LR, OWN_S, SCALE, STEP_S, WAIT_S


class Row(NamedTuple):
    """A step that is not published yet; seconds as in the series of their names."""

    step: int
    iteration: int
    grad_l2: float | None
    """None where it was left out."""
    loss: float | None
    lr: Any
    step_s: float
    own_s: float
    wait_s: float | None
    """None where nobody has seen the fetch."""
    scale: float | None = None


Numbers = tuple[int, int, float | None, float | None, Any, float, float, float | None, float | None]
row: Callable[[Numbers], Row] = partial(tuple.__new__, Row)
closed_step: Callable[[tuple[int, int, dict[str, float]]], ClosedStep] = partial(tuple.__new__, ClosedStep)
"""Make a Row, a ClosedStep of the values in a tuple; no function of Python's runs."""


def as_published(rows: Sequence[Row]) -> list[ClosedStep]:
    """The steps in their order, each with its series by name; what was not seen is left out."""
    found = []
    for step, iteration, grad_l2, loss, lr, step_s, own_s, wait_s, scale in rows:
        values = {STEP_S: step_s, OWN_S: own_s}
        if grad_l2 is not None:
            values[GRAD_L2] = grad_l2
        if wait_s is not None:
            values[WAIT_S] = wait_s
        if scale is not None:
            values[SCALE] = scale
        if loss is not None:
            values[LOSS] = loss
        if isinstance(lr, (int, float)):
            values[LR] = float(lr)
        found.append(closed_step((step, iteration, values)))
    return found
