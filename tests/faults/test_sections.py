"""The sections of docs/results.md say what the kept results say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.faults.scoring import part

sections, kept = part("sections"), part("kept")
ALL = {"op": True, "line": True, "sample": True, "rank": True}


def result(**values: Any) -> Any:
    return kept.Kept(Path("2026-11-22-x.json"), {"date": "2026-11-22", "commit": "551e86f", **values})


def loop(name: str, bug: str, **wrong: bool) -> dict[str, Any]:
    return {
        "loop": name,
        "title": f"the {name} loop",
        "bug": bug,
        "marks": ALL | wrong,
        "class": "log_domain",
        "status": "likely",
    }


def test_a_loop_has_a_row_and_a_bug_a_column_and_what_was_not_run_a_dash() -> None:
    lines = sections.loops(
        result(rows=[loop("plain", "mask"), loop("plain", "log0", line=False, rank=False), loop("ddp", "log0")])
    ).splitlines()
    assert lines[0].startswith("Measured 2026-11-22 at 551e86f ")
    assert lines[2:] == [
        "| loop | mask | log0 |",
        "|---|---|---|",
        "| the plain loop | op, line, sample, rank; log_domain, likely | op, sample only; log_domain, likely |",
        "| the ddp loop | - | op, line, sample, rank; log_domain, likely |",
    ]


@pytest.mark.parametrize(("wrong", "named"), [({}, 1), ({"rank": False}, 0)])
def test_a_row_counts_where_everything_is_named(wrong: dict[str, bool], named: int) -> None:
    assert sections.all_named([loop("plain", "mask", **wrong)]) == named


def test_nothing_named_is_said() -> None:
    assert (
        sections.cell({"marks": dict.fromkeys(ALL, False), "class": None, "status": None}) == "nothing only; None, None"
    )


def test_costs_stand_beside_those_of_the_peers_that_were_there() -> None:
    figures = {
        "bare": {"ms": 305.9},
        "watched": {"ratio": 1.0491, "quartiles": [0.998, 1.0716]},
        "incident": {"alarm_to_verdict_s": 0.299, "traced_slowdown": 2.286},
    }
    about = {"model": "mlp", "device": "cpu", "threads": 1, "clock": "wall", "clip": True, "torch": "2.13.0"}
    lines = sections.overhead_of(result(figures=figures, **about))
    assert lines[0].startswith(
        "mlp, cpu, 1 thread(s), wall clock, with clipping, torch 2.13.0: bare step 306 ms. Measured 2026-11-22 at "
        "551e86f ("
    )
    assert lines[4:] == [
        "| **debug-tracer** | 1.049 | 0.998 .. 1.072 |",
        "",
        "From alarm to verdict 0.30 s; the traced step takes 2.29 times the replayed one.",
    ]


def test_what_was_said_of_healthy_programs_is_quoted() -> None:
    assert (
        sections.false_alarms(result(summary="2 runs, 0 errors")) == "Measured 2026-11-22 at 551e86f: 2 runs, 0 errors."
    )


def test_the_published_bugs_are_counted_at_first_and_now() -> None:
    missed = {"told": "not at all", "class": None, "line": False, "quiet": True}
    right = {"told": "right", "class": "bad_init", "line": True, "quiet": True}
    text = sections.traincheck(
        result(
            how="By ports.",
            rows=[{"bug": "a", "what": "b", "first": missed, "now": right}],
            left_out=[{"bug": "c", "why": "nothing trains"}],
            cost={"how": "Beside it:", "traincheck": {"mnist": 1.2208}, "ours": {"port": 1.5}},
        )
    )
    assert (
        "before any rule was written for them: of 1 not at all 1; the line 0 of 1; quiet without the fault 1 of 1."
        in text
    )
    assert "| a | b | not at all | right (`bad_init`) | yes |" in text
    assert "Not ported: c (nothing trains)." in text
    assert text.endswith("| TrainCheck | mnist | 1.22 |\n| debug-tracer | port | 1.50 |")
