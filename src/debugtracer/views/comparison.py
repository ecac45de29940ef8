"""Two runs side by side: their verdicts, where their numbers part, and what was set differently."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from debugtracer.errors import DebugTracerError
from debugtracer.trace.counted import counted
from debugtracer.trace.store.reader import Trace
from debugtracer.views.json_report import finite
from debugtracer.views.page.document import place
from debugtracer.views.page.run_row import run_row
from debugtracer.views.page.series_panel import FIRST, line, short
from debugtracer.views.page.still_trace import StillTrace
from debugtracer.views.run_settings import run_settings

SCHEMA = "debug-tracer.compare/1"
TIMES = ("step_s", "wait_s", "own_s", "forward_s", "backward_s", "update_s")  # never the same twice
MOST_SERIES = 12
NAMES = {"grad_l2": "gradient norm", "lr": "learning rate", "param_l2": "weight norm", "val_loss": "validation loss"}
APART = 0.01  # relative: so far apart a person sees it (ours)


def comparison(left: Trace, right: Trace) -> dict[str, Any]:
    """Gather all that a view of two runs shows, as plain values; what cannot be read of one is said in `problems`."""
    still = StillTrace(left), StillTrace(right)
    problems: list[str] = []
    rows = [row_of(trace, problems) for trace in still]
    lines = series_of(still, problems)
    settings, same = settings_of(still, problems)
    told: dict[str, Any] = {
        "schema": SCHEMA,
        "id": f"{rows[0]['id']} | {rows[1]['id']}",
        "runs": rows,
        "first": first_of(lines),
        "series": lines,
        "settings": settings,
        "same": same,
        "problems": list(dict.fromkeys([*problems, *still[0].problems, *still[1].problems])),
    }
    plain: dict[str, Any] = finite(told | {"headline": headline(told)})
    return plain


def headline(told: dict[str, Any]) -> str:
    """The answer in one sentence."""
    left, right = (row["id"] for row in told["runs"])
    if left == right:
        left, right = "the first", "the second"
    shared = max((row["shared"] for row in told["series"]), default=0)
    first = told["first"]
    if not shared:
        text = f"{left} and {right} have no step in common of which both wrote a number"
    elif first is None:
        text = f"{left} and {right} are the same in every number of their {counted(shared, 'common step')}"
    else:
        name = NAMES.get(first["name"], first["name"])
        text = f"{left} and {right} part at step {first['step']}: {name} {first['left']} and {first['right']}"
    wrong = [(row["id"], row["wrong_step"]) for row in told["runs"] if row["wrong_step"] is not None]
    if len(wrong) == 2 and wrong[0][1] == wrong[1][1]:
        return f"{text}; both went wrong at step {wrong[0][1]}"
    return text + "".join(f"; {name} went wrong at step {step}" for name, step in wrong)


def row_of(trace: Trace, problems: list[str]) -> dict[str, Any]:
    """Return the row of a run as the list of runs shows it; of a damaged one its name."""
    try:
        return run_row(trace) | {"wrong_step": place(trace)[1]}
    except (DebugTracerError, OSError, ValueError, KeyError, TypeError, msgspec.MsgspecError) as error:
        problems.append(str(error))
        return {
            "id": trace.path.name,
            "tone": "unknown",
            "line": str(error),
            "class": "",
            "place": "",
            "steps": 0,
            "wrong_step": None,
        }


def series_of(traces: tuple[Trace, Trace], problems: list[str]) -> list[dict[str, Any]]:
    """The lines that both runs have, each with the first step where they part; loss, norm and rate first."""
    try:
        known = [set(trace.names(rank)) for trace, rank in zip(traces, map(first_rank, traces), strict=True)]
        both = known[0] & known[1] - set(TIMES[2:])
        names = [*(n for n in FIRST if n in both), *sorted(both - set(FIRST))][:MOST_SERIES]
        return [compared(traces, name) for name in names]
    except (DebugTracerError, OSError) as error:
        problems.append(str(error))
        return []


def first_rank(trace: Trace) -> int:
    """The lowest rank that wrote something."""
    return (trace.ranks or [0])[0]


def compared(traces: tuple[Trace, Trace], name: str) -> dict[str, Any]:
    """Read one line of both runs, and where its values part: bit for bit, and by more than a hundredth."""
    lines = [line(trace, name, first_rank(trace), None) for trace in traces]
    row: dict[str, Any] = {"name": name, "lines": lines, "shared": 0, "first": None, "apart": None}
    if name in TIMES:
        return row
    points = [trace.series(name, first_rank(trace)) for trace in traces]
    right = dict(zip(*points[1], strict=True))
    shared = [(step, value, right[step]) for step, value in zip(*points[0], strict=True) if step in right]
    row["shared"] = len(shared)
    row["first"] = next((part(one) for one in shared if not same(*one[1:])), None)
    row["apart"] = next((part(one) for one in shared if far(*one[1:])), None)
    return row


def part(point: tuple[int, float, float]) -> dict[str, Any]:
    """The step and both values of a point."""
    return {"step": point[0], "left": short(point[1]), "right": short(point[2])}


def same(left: float, right: float) -> bool:
    """Whether two values are the same number, or none both."""
    return left == right or (math.isnan(left) and math.isnan(right))


def far(left: float, right: float) -> bool:
    """Whether a person would see two values apart."""
    if same(left, right):
        return False
    return not (abs(left - right) <= APART * max(abs(left), abs(right)))  # also where one is no number


def first_of(lines: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The first step at which any line parts; of several at one step the line that comes first."""
    found = [one | {"name": row["name"]} for row in lines if (one := row["first"]) is not None]
    return min(found, key=lambda one: one["step"], default=None)


def settings_of(traces: tuple[Trace, Trace], problems: list[str]) -> tuple[list[dict[str, str]], int]:
    """The settings that differ, and how many are the same."""
    try:
        left, right = (run_settings(trace, first_rank(trace)) for trace in traces)
    except (DebugTracerError, OSError) as error:
        problems.append(str(error))
        return [], 0
    names = list(dict.fromkeys([*left, *right]))
    rows = [{"name": name, "left": left.get(name, ""), "right": right.get(name, "")} for name in names]
    return [row for row in rows if row["left"] != row["right"]], sum(row["left"] == row["right"] for row in rows)
