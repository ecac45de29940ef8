"""How long the judge works and rests; the clock of the thread is replaced."""

from __future__ import annotations

import pytest

from debugtracer.diagnosis.judging import pace as module
from debugtracer.diagnosis.judging.pace import EVERY_S, LONGEST_S, MOST, MOST_SHARED, REST_SHARE, SHARE, SLICE_S, Pace


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The CPU seconds that the thread will be said to have used."""
    now = [0.0]
    for name in ("thread_time", "process_time", "perf_counter"):
        monkeypatch.setattr(module, name, lambda: now[0])
    return now


def test_a_slice_holds_as_many_steps_as_fit_by_what_they_have_cost(clock: list[float]) -> None:
    pace = Pace()
    for _ in range(60):
        clock[0] += 3 * SLICE_S / 10
        pace.took(3)
    assert 9 <= pace.steps <= 10


@pytest.mark.parametrize(("cost", "steps"), [(10 * SLICE_S, 1), (0.0, MOST)])
def test_a_slice_is_never_empty_and_never_endless(clock: list[float], cost: float, steps: int) -> None:
    pace = Pace()
    for _ in range(60):
        clock[0] += cost
        pace.took(1)
    assert pace.steps == steps


def test_it_rests_so_long_that_its_share_is_kept(clock: list[float]) -> None:
    pace = Pace()
    clock[0] = 0.0004
    assert pace.took(4) == 0.0004
    assert pace.used_s == 0.0004
    rest = pace.rest(waiting=True)
    assert 0.0004 / (0.0004 + rest) == pytest.approx(SHARE)


def test_where_nothing_waits_it_looks_a_few_times_a_second(clock: list[float]) -> None:
    pace = Pace()
    pace.took(0)
    assert pace.rest(waiting=False) == EVERY_S
    clock[0] = 3.0
    pace.took(1)
    assert pace.rest(waiting=False) == pace.rest(waiting=True) == LONGEST_S


def test_it_rests_longer_where_the_process_gets_only_a_part_of_the_machine(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "perf_counter", lambda: 3 * clock[0])
    pace = Pace()
    clock[0] = 0.0004
    pace.took(4)
    assert pace.rest(waiting=True) == pytest.approx(3 * 0.0004 * (1 / SHARE - 1))
    monkeypatch.setattr(module, "perf_counter", lambda: 300 * clock[0])
    clock[0] = 0.0008
    pace.took(4)
    assert pace.rest(waiting=True) == pytest.approx(MOST_SHARED * 0.0004 * (1 / SHARE - 1))


def test_it_rests_as_long_as_a_smaller_share_demands(clock: list[float]) -> None:
    pace = Pace()
    clock[0] = 0.0004
    pace.took(4)
    assert pace.rest(True, REST_SHARE) == pytest.approx(0.0004 * (1 / REST_SHARE - 1))
