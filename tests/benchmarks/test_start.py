"""What a start costs: the arithmetic, and one real start of each kind."""

from __future__ import annotations

import pytest

from benchmarks import start


def test_what_is_beyond_bare() -> None:
    rows = {"start_cpu_s": 2.0, "end_cpu_s": 3.0, "start_mb": 290.0, "end_mb": 300.0, "process_cpu_s": 3.5}
    inside = {"start_cpu_s": 2.5, "end_cpu_s": 4.5, "start_mb": 310.0, "end_mb": 360.0, "process_cpu_s": 5.0}
    found = start.differences({"bare": rows, "variable": inside, "supervised": inside | {"process_cpu_s": 5.25}})
    told = [found[name] for name in ("start_cpu_s", "run_cpu_s", "start_mb", "end_mb", "supervisor_cpu_s")]
    assert told == [0.5, 1.5, 20.0, 60.0, 0.25]


def test_the_middle_of_each_number() -> None:
    assert start.middle([{"a": 1.0, "b": 9.0}, {"a": 5.0, "b": 7.0}, {"a": 2.0, "b": 8.0}]) == {"a": 2.0, "b": 8.0}


@pytest.mark.sweep
def test_each_kind_starts() -> None:
    found = start.measured(1, 5)
    assert found["medians"]["variable"]["end_mb"] > found["medians"]["bare"]["end_mb"]
