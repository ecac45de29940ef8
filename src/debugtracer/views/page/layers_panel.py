"""Layers x steps of the heat map and the depth profile: norms and shares of each tensor at each inspected step, and the
norms of gradients and weights at many steps between, of activations and updates at some."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from debugtracer.trace.facts.health import HIGHEST, LOWEST
from debugtracer.trace.store.reader import Trace

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from debugtracer.trace.store.layer_columns import LayerColumns
    from debugtracer.trace.store.norm_table import NormTable

CELLS = 500_000  # of all maps together; more snapshots are thinned evenly, those at the focus stay
NORM_CELLS = 100_000  # of these for norms between the snapshots, where there are such
HISTOGRAM_BINS = 150_000
CLOSE = 4  # snapshots kept on each side of the focus
NORMS_CLOSE = 32  # and steps that have norms alone
MISSING, ZERO, BAD = 0, 1, 65535  # words of a level; between them log10 of the value, evenly
LEAST, GREATEST = -30.0, 40.0  # log10 of what the levels span, a step of them is 0.25 %

MAPS = {
    "gradient": "gradient",
    "activation": "activation",
    "weight": "weight",
    "update": "weight",
    "moment": "weight",
    "dead": "activation",
    "tracked": "tracked",
}
"""Map -> role of its rows. The non-finite share is a map of each role by itself: see `bad`."""


def values_of(name: str, taken: LayerColumns) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The numbers of a map for each tensor of a snapshot, and which of them are known, shape (tensors,) each."""
    import numpy as np

    floats, known = taken.floats, taken.known
    if name == "update":  # the norm of the update by that of the weight
        weight = floats["l2"].astype(np.float64)
        there = known["update_l2"] & (weight != 0)
        return floats["update_l2"] / np.where(there, weight, 1.0), there
    if name == "moment":
        return floats["moment_l2"].astype(np.float64), known["moment_l2"]
    if name == "dead":
        units = known["dead_units"]
        return np.where(units, floats["dead_units"], floats["zero_share"]).astype(np.float64), units | known[
            "zero_share"
        ]
    return floats["l2"].astype(np.float64), known["l2"]


def layers_panel(trace: Trace, rank: int, focus: int | None) -> dict[str, Any]:
    """The maps of one rank, each with the places of its columns among the steps; empty where nothing was measured."""
    taken, norms = trace.layers(rank), trace.layer_norms(rank)
    between = norms_between(norms, taken, focus)
    if not taken and not between:
        return {"steps": [], "maps": []}
    rows = {role: names([*taken, *between], role) for role in dict.fromkeys(MAPS.values())}
    size = sum(2 * len(rows[role]) for role in MAPS.values())
    full = thinned(taken, max(8, (CELLS - NORM_CELLS * bool(between)) // max(size, 1)), focus)
    shown = sorted([*full, *between], key=lambda one: one.step)
    maps = []
    for name, role in MAPS.items():
        at = [n for n, one in enumerate(shown) if not one.norms_alone or holds(one, name, role)]
        one = a_map([shown[n] for n in at], name, role, rows[role])
        if one is not None:
            maps.append(one | ({"at": at} if len(at) < len(shown) else {}))
    return {
        "steps": [one.step for one in shown],
        "maps": maps,
        "thinned": len({*norms.steps, *(one.step for one in taken)}) - len(shown),
        "least": LEAST,
        "greatest": GREATEST,
        "bins": {
            "lowest": LOWEST,
            "highest": HIGHEST,
            "of": histograms(trace, rank, {one.step for one in full}, focus),
        },
    }


def norms_between(norms: NormTable, taken: list[LayerColumns], focus: int | None) -> list[LayerColumns]:
    """The norms of steps without a snapshot, evenly chosen, those at the focus one by one."""
    known = {one.step for one in taken}
    steps = [step for step in norms.steps if step not in known]
    if not steps:
        return []
    most = max(8, NORM_CELLS // max(1, len(norms.at(steps[-1]))))
    glanced = [step for step in steps if norms.glanced(step)]  # the few that have activations and updates come first
    chosen = {glanced[n] for n in evenly(len(glanced), max(2, most // 3))}
    chosen |= {steps[n] for n in evenly(len(steps), most - len(chosen))}
    if focus is not None:
        chosen |= {step for step in steps if abs(step - focus) <= NORMS_CLOSE}
    return [norms.at(step) for step in sorted(chosen)]


def holds(one: LayerColumns, name: str, role: str) -> bool:
    """Whether the norms of a step have a number for a map."""
    return bool(one.known["update_l2"].any()) if name == "update" else name == role and len(of_role(one, role)) > 0


def evenly(count: int, most: int) -> set[int]:
    """Choose at most `most` of the places 0..count-1, the first and the last among them."""
    return set(range(count)) if count <= most else {round(n * (count - 1) / (most - 1)) for n in range(most)}


def thinned(taken: list[LayerColumns], most: int, focus: int | None) -> list[LayerColumns]:
    """Keep at most `most` snapshots, evenly, with those at the focus."""
    if len(taken) <= most:
        return taken
    near = min(range(len(taken)), key=lambda n: abs(taken[n].step - focus)) if focus is not None else 0
    chosen = evenly(len(taken), most)
    if focus is not None:
        chosen |= set(range(max(0, near - CLOSE), min(len(taken), near + CLOSE + 1)))
    return [taken[n] for n in sorted(chosen)]


def names(taken: Sequence[LayerColumns], role: str) -> list[str]:
    """Every tensor of a role, as the model has them, new ones behind."""
    found: dict[str, None] = {}
    known: list[list[str]] = []
    for one in taken:
        mine = texts_of(one, role)
        if mine not in known[-1:]:
            known.append(mine)
            found |= dict.fromkeys(mine)
    return list(found)


def texts_of(taken: LayerColumns, role: str) -> list[str]:
    """The names of the tensors of a role."""
    layer = taken.names["layer"]
    return [layer.words[code] for code in layer.codes[of_role(taken, role)].tolist()]


def of_role(taken: LayerColumns, role: str) -> npt.NDArray[np.int64]:
    """The places of the tensors of a role, shape (n,)."""
    import numpy as np

    codes, words = taken.names["role"]
    return np.flatnonzero(codes == words.index(role)) if role in words else np.empty(0, np.int64)


def a_map(taken: list[LayerColumns], name: str, role: str, rows: list[str]) -> dict[str, Any] | None:
    """Make one map, its rows and levels row by row; None where it has no number."""
    import numpy as np

    where = {row: n for n, row in enumerate(rows)}
    levels = np.zeros((len(rows), len(taken)), np.uint16)
    bad = np.zeros((len(rows), len(taken)), np.uint8)
    shapes = [""] * len(rows)
    for column, one in enumerate(taken):
        places = of_role(one, role)
        layer = one.names["layer"]
        place_of = np.array([where.get(text, -1) for text in layer.words], np.int64)
        at = place_of[layer.codes[places]]
        values, known = values_of(name, one)
        words = leveled(values[places], known[places])
        broken, sampled = one.counts["bad"][places], np.maximum(one.counts["sampled"][places], 1)
        if name not in ("update", "moment"):
            words[(broken > 0) & (broken >= one.counts["sampled"][places])] = BAD
        levels[at, column] = words
        bad[at, column] = np.where(broken > 0, np.maximum(1, np.rint(255 * (broken / sampled))), 0)
        for row, n in () if one.norms_alone else zip(at.tolist(), places.tolist(), strict=True):
            shapes[row] = shapes[row] or shape_of(one, n)
    if not levels.any():
        return None
    return {
        "name": name,
        "role": role,
        "rows": rows,
        "shapes": shapes,
        "levels": packed(levels),
        "bad": packed(bad) if bad.any() else "",
    }


def shape_of(taken: LayerColumns, n: int) -> str:
    """The shape, dtype and function of a tensor, as words."""
    told = (taken.names[name] for name in ("shape", "dtype", "function"))
    return " ".join(one.words[one.codes[n]] for one in told).strip()


def leveled(values: npt.NDArray[np.float64], known: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint16]:
    """The words of values >= 0, shape (n,): 16 bits of their logarithms."""
    import numpy as np

    good = np.isfinite(values) & (values > 0)
    place = (np.log10(np.where(good, values, 1.0)) - LEAST) / (GREATEST - LEAST)
    words = 2 + np.rint(np.clip(place, 0.0, 1.0) * (BAD - 3))
    return np.where(known, np.where(good, words, np.where(np.isfinite(values), ZERO, BAD)), MISSING).astype(np.uint16)


def packed(words: npt.NDArray[Any]) -> str:
    """Encode the words as base64 of their little-endian bytes."""
    return base64.b64encode(words.astype(words.dtype.newbyteorder("<")).tobytes()).decode()


def histograms(trace: Trace, rank: int, steps: set[int], focus: int | None) -> dict[str, dict[str, list[int]]]:
    """Gather counts per power of two, `role name` -> step -> counts; the steps nearest to the focus first, bounded.
    They stand in the events alone, of which no more are decoded than are shown."""
    found: dict[str, dict[str, list[int]]] = {}
    left = HISTOGRAM_BINS
    spans = [span for span in trace.snapshot_spans(rank) if span.step in steps]
    center = max(steps) if focus is None else focus
    for span in sorted(spans, key=lambda one: (abs(one.step - center), -one.number)):
        for fact in trace.snapshots(rank, [span]):
            for row in fact.tensors:
                left -= len(row.bins)
                if left < 0:
                    return found
                if any(row.bins):
                    found.setdefault(f"{row.role} {row.name}", {}).setdefault(str(span.step), list(row.bins))
    return found
