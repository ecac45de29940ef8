"""Layers x steps of the heat map and the depth profile: norms and shares of each tensor at each inspected step."""

from __future__ import annotations

import base64
import math
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from debugtracer.trace.facts.health import HIGHEST, LOWEST, Health, ParamDynamics, TensorHealth
from debugtracer.trace.number import Number, as_float
from debugtracer.trace.store.reader import Trace
from debugtracer.views.layers import snapshots

CELLS = 500_000  # of all maps together; more snapshots are thinned evenly, those at the focus stay
HISTOGRAM_BINS = 150_000
CLOSE = 4  # snapshots kept on each side of the focus
MISSING, ZERO, BAD = 0, 1, 65535  # words of a level; between them log10 of the value, evenly
LEAST, GREATEST = -30.0, 40.0  # log10 of what the levels span, a step of them is 0.25 %

Cell = Callable[[TensorHealth, ParamDynamics | None], Number | None]


def ratio(row: TensorHealth, update: ParamDynamics | None) -> Number | None:
    """The norm of the update by that of the weight."""
    if update is None or update.update_l2 is None or not as_float(update.weight_l2):
        return None
    return as_float(update.update_l2) / as_float(update.weight_l2)


MAPS: dict[str, tuple[str, Cell]] = {
    "gradient": ("gradient", lambda row, update: row.l2),
    "activation": ("activation", lambda row, update: row.l2),
    "weight": ("weight", lambda row, update: row.l2),
    "update": ("weight", ratio),
    "moment": ("weight", lambda row, update: update.moment_l2 if update is not None else None),
    "dead": ("activation", lambda row, update: row.dead_units if row.dead_units is not None else row.zero_share),
    "tracked": ("tracked", lambda row, update: row.l2),
}
"""Map -> role of its rows, value of a cell. The non-finite share is a map of each role by itself: see `bad`."""


def layers_panel(trace: Trace, rank: int, focus: int | None) -> dict[str, Any]:
    """The maps of one rank; empty where no snapshot was taken."""
    taken = by_step(snapshots(trace, rank))
    if not taken:
        return {"steps": [], "maps": []}
    size = sum(len(names(taken, role)) * 2 for role, _ in MAPS.values())
    shown = thinned(taken, max(8, CELLS // max(size, 1)), focus)
    maps = [one for name, (role, cell) in MAPS.items() if (one := a_map(shown, name, role, cell)) is not None]
    return {
        "steps": [fact.ref.step for fact in shown],
        "maps": maps,
        "thinned": len(taken) - len(shown),
        "least": LEAST,
        "greatest": GREATEST,
        "bins": {"lowest": LOWEST, "highest": HIGHEST, "of": histograms(shown, focus)},
    }


def by_step(taken: list[Health]) -> list[Health]:
    """The last snapshot of each step, ascending."""
    return [fact for _, fact in sorted({fact.ref.step: fact for fact in taken}.items())]


def thinned(taken: list[Health], most: int, focus: int | None) -> list[Health]:
    """Keep at most `most` snapshots, evenly, with those at the focus."""
    if len(taken) <= most:
        return taken
    near = min(range(len(taken)), key=lambda n: abs(taken[n].ref.step - focus)) if focus is not None else 0
    chosen = {round(n * (len(taken) - 1) / (most - 1)) for n in range(most)}
    if focus is not None:
        chosen |= set(range(max(0, near - CLOSE), min(len(taken), near + CLOSE + 1)))
    return [taken[n] for n in sorted(chosen)]


def names(taken: Sequence[Health], role: str) -> list[str]:
    """Every tensor of a role, as the model has them, new ones behind."""
    return list(dict.fromkeys(row.name for fact in taken for row in fact.tensors if row.role == role))


def a_map(taken: list[Health], name: str, role: str, cell: Cell) -> dict[str, Any] | None:
    """Make one map, its rows and levels row by row; None where it has no number."""
    rows = names(taken, role)
    where = {row: n for n, row in enumerate(rows)}
    levels = array("H", bytes(2 * len(rows) * len(taken)))
    bad = array("B", bytes(len(rows) * len(taken)))
    shapes = [""] * len(rows)
    for column, fact in enumerate(taken):
        updates = {one.name: one for one in fact.params}
        for row in fact.tensors:
            if row.role != role:
                continue
            at = where[row.name] * len(taken) + column
            value = cell(row, updates.get(row.name))
            broken = bool(row.bad) and name not in ("update", "moment")
            levels[at] = BAD if broken and row.bad >= row.sampled else level(value)
            bad[at] = max(1, round(255 * row.bad / row.sampled)) if row.bad and row.sampled else 0
            shapes[where[row.name]] = f"{'x'.join(map(str, row.shape)) or 'scalar'} {row.dtype} {row.function}".strip()
    if not any(levels):
        return None
    return {
        "name": name,
        "role": role,
        "rows": rows,
        "shapes": shapes,
        "levels": packed(levels),
        "bad": packed(bad) if any(bad) else "",
    }


def level(value: Number | None) -> int:
    """The word of a value >= 0: 16 bits of its logarithm."""
    if value is None:
        return MISSING
    known = as_float(value)
    if not math.isfinite(known):
        return BAD
    if known <= 0:
        return ZERO
    place = (math.log10(known) - LEAST) / (GREATEST - LEAST)
    return 2 + round(min(max(place, 0.0), 1.0) * (BAD - 3))


def packed(words: array[int]) -> str:
    """Encode the words as base64 of their little-endian bytes."""
    return base64.b64encode(words.tobytes()).decode()


def histograms(taken: list[Health], focus: int | None) -> dict[str, dict[str, list[int]]]:
    """Gather counts per power of two, `role name` -> step -> counts; the steps nearest to the focus first, bounded."""
    found: dict[str, dict[str, list[int]]] = {}
    left = HISTOGRAM_BINS
    center = taken[-1].ref.step if focus is None else focus
    for fact in sorted(taken, key=lambda f: abs(f.ref.step - center)):
        for row in fact.tensors:
            left -= len(row.bins)
            if left < 0:
                return found
            if any(row.bins):
                found.setdefault(f"{row.role} {row.name}", {})[str(fact.ref.step)] = list(row.bins)
    return found
