"""The time that trials have taken."""

from __future__ import annotations

import pytest

from debugtracer.diagnosis.proof import stopwatch as module
from debugtracer.diagnosis.proof.stopwatch import Stopwatch, plain_step_s


@pytest.mark.parametrize(
    ("passed", "worked", "spent"),
    [(10.0, 10.0, 10.0), (20.0, 10.0, 10.0), (60.0, 10.0, 20.0), (30.0, 0.0, 10.0)],
    ids=["alone", "shared", "crowded", "a device works"],
)
def test_what_the_thread_worked_counts_and_a_third_of_what_passed(monkeypatch, passed, worked, spent):
    clocks = {"passed": 100.0, "worked": 7.0}
    monkeypatch.setattr(module, "perf_counter", lambda: clocks["passed"])
    monkeypatch.setattr(module, "thread_time", lambda: clocks["worked"])
    watch = Stopwatch()
    assert watch.spent_s == 0.0
    clocks.update(passed=100.0 + passed, worked=7.0 + worked)
    assert watch.spent_s == pytest.approx(spent)


def test_an_inspected_step_is_no_measure_of_the_others():
    assert plain_step_s([0.1, 9.0, 0.1, 0.2, 0.1], 7.0) == 0.1
    assert plain_step_s([], 7.0) == 7.0
