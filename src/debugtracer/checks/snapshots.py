"""How checks read the health snapshots: rows by role over the last snapshots, the parameters in order of depth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import Health, ParamDynamics, TensorHealth
from debugtracer.trace.facts.weights_filled import WeightsFilled
from debugtracer.trace.number import as_float
from debugtracer.trace.window import LOSS, Window


def taken(window: Window, after: int = 0) -> list[Health]:
    """The snapshots of finished steps from step `after` on, oldest first."""
    return [fact for fact in window.seen(Health) if fact.ref.step >= after and fact.params]


def rms(row: TensorHealth) -> float:
    """The root mean square of one tensor, from its norm over all values."""
    return as_float(row.l2) / math.sqrt(max(math.prod(row.shape), 1))


def ratio(update: ParamDynamics) -> float | None:
    """The norm of the update over that of the weight; None when it was not measured or the weight is zero."""
    if update.update_l2 is None or not as_float(update.weight_l2) > 0:
        return None
    return as_float(update.update_l2) / as_float(update.weight_l2)


def pull(update: ParamDynamics) -> float | None:
    """The norm of the gradient over that of the weight; None as in `ratio`."""
    if update.grad_l2 is None or not as_float(update.weight_l2) > 0:
        return None
    return as_float(update.grad_l2) / as_float(update.weight_l2)


def always(facts: Sequence[Health], name: str, holds: Callable[[ParamDynamics], bool]) -> bool:
    """True when the parameter is in every snapshot and the statement holds in each."""
    rows = [next((p for p in fact.params if p.name == name), None) for fact in facts]
    return bool(rows) and all(row is not None and holds(row) for row in rows)


def filled_at(window: Window, param: str) -> Frame | None:
    """The user's line that filled a parameter before the first update; None when it was not seen."""
    fact = window.last(WeightsFilled)
    return next((row.frame for row in fact.rows if row.param == param), None) if fact is not None else None


def still_learning(window: Window, share: float = 0.1) -> bool:
    """True unless the loss has fallen below a share of its first value: a converged run has small gradients by
    right."""
    losses = window.finite(LOSS)
    return len(losses) < 2 or losses[-1] > share * abs(losses[0])


def is_matrix(row: TensorHealth) -> bool:
    """True for a weight of two dimensions or more and more than a few values."""
    return len(row.shape) >= 2 and math.prod(row.shape) >= 16
