"""Skipped updates in a row: the count of the hooks leads, an older run is counted by the check."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.numerics.skips import skips_in_a_row
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import SCALER_SKIPPED, SKIPPED_ROW, Window


def counted(*steps: dict[str, float]) -> list[int]:
    memory: dict[Any, Any] = {}
    return [
        skips_in_a_row(
            Window(StepRef(iteration=n, step=n), {k: [v] for k, v in values.items()}, frozenset(values)), memory
        )
        for n, values in enumerate(steps)
    ]


def test_an_older_run_is_counted_step_by_step() -> None:
    assert counted(*({SCALER_SKIPPED: float(c == "x")} for c in "x.xxx.x")) == [1, 0, 1, 2, 3, 0, 1]


@pytest.mark.parametrize("row", [0.0, 7.0])
def test_the_count_of_the_hooks_holds_also_where_steps_were_not_judged(row: float) -> None:
    assert counted({SCALER_SKIPPED: 1.0, SKIPPED_ROW: row}) == [int(row)]
