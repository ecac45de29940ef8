"""What Adam's second moments look like beside the gradients: one row a parameter, those whose samples are equally long
measured together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.observers.numerics.even_sample import evenly, matrices, row_medians
from debugtracer.trace.number import number

COLUMNS = ("count", "least_v", "under_eps", "log_v", "rms", "lag")


class SecondMoment(NamedTuple):
    """The moment of one parameter, its gradient after the update, and the settings of its group."""

    v: Tensor
    grad: Tensor | None
    eps: float
    beta2: float
    step: float


def measured(moments: Sequence[SecondMoment], most: int) -> list[dict[str, Any]]:
    """Measure each over its touched elements (v > 0); nothing of one without any. `most` values of each are read."""
    told: list[dict[str, Any]] = [{} for _ in moments]
    for settings in dict.fromkeys((m[2:], m.grad is None) for m in moments):
        # of a sharded parameter a rank may hold nothing
        places = [p for p, m in enumerate(moments) if m.v.numel() and (m[2:], m.grad is None) == settings]
        samples = [evenly(moments[place].v, most) for place in places]
        grads = [evenly(g, most) if (g := moments[place].grad) is not None else None for place in places]
        for chosen, v in matrices(samples):
            given = [g for place in chosen if (g := grads[place]) is not None]
            rows = numbers_of(v, torch.stack(given) if given else None, *settings[0])
            for place, row in zip(chosen, rows, strict=True):
                told[places[place]] = described(dict(zip(COLUMNS, row, strict=False)), settings[0][1])
    return told


def described(row: dict[str, float], beta2: float) -> dict[str, Any]:
    """The fields of a row of numbers."""
    if not row["count"]:
        return {}
    fields: dict[str, Any] = {name: number(row[name]) for name in ("least_v", "log_v", "rms") if name in row}
    lag = {"lag": number(row["lag"])} if row.get("lag", -1.0) >= 0 else {}
    return fields | lag | {"under_eps": row["under_eps"], "beta2": beta2 or None}


def numbers_of(v: Tensor, grad: Tensor | None, eps: float, beta2: float, step: float) -> list[list[float]]:
    """The columns for each row of moments, and of gradients where there are any, both of shape (rows, n)."""
    known = v > 0
    count = known.sum(dim=1)
    many = count.clamp(min=1)
    right = v / max(1.0 - beta2**step, 1e-12) if step else v
    columns = [
        count,
        torch.where(known, right, torch.inf).amin(dim=1),
        ((right.sqrt() < eps) & known).sum(dim=1) / many,
        torch.where(known, v.log(), 0.0).sum(dim=1) / many,
    ]
    if grad is not None:
        squares = grad.square()
        columns.append((torch.where(known, squares / right.clamp_min(eps * eps), 0.0).sum(dim=1) / many).sqrt())
        given = known & (squares > 0)
        # a lag is that of most touched elements; -1: of fewer
        middle = row_medians(torch.where(given, squares / right, torch.nan))
        columns.append(torch.where(2 * given.sum(dim=1) >= count, middle, -1.0))
    rows: list[list[float]] = torch.stack([column.double() for column in columns], dim=1).tolist()
    return rows
