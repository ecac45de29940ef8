"""Rates that are searched for."""

from __future__ import annotations

import pytest

from debugtracer.spikes.rate_search import RateSearch, search_told
from debugtracer.trace.facts.schedule import Rate
from tests.checks.optimizer.seen import at
from tests.checks.windows import told


def built(rate):
    return told(Rate(ref=at(0), optimizer=0, kind="SGD", frame=None, low=rate, high=rate, built=rate))


def search(rates, of=1e-3):
    seen = RateSearch()
    for step, rate in enumerate(rates):
        seen.push(rate, step)
    return seen.times(built(of))


def test_a_factor_and_a_step_over_the_whole_run():
    assert search([1e-6 * 1.1**n for n in range(100)], of=1e-6) == pytest.approx(1.1**99)
    assert search([1e-3 + 5e-3 * n for n in range(100)]) == pytest.approx(496)


def test_a_warm_up_of_the_rate_that_the_optimizer_was_built_with_is_none():
    assert search([0.1 * (n + 1) / 500 for n in range(500)], of=0.1) == 0
    assert search([0.1 * (n + 1) / 500 for n in range(4999)], of=0.1) == 0
    assert search([0.1 * (n + 1) / 500 for n in range(5000)], of=0.1) == 0


def test_a_warm_up_that_goes_on_is_a_fault_and_no_search():
    assert search([1e-3 * n / 20 for n in range(1, 900)], of=1e-3) == 0
    assert search([1e-4 + 1e-2 * n for n in range(200)], of=1e-3) == pytest.approx(19901)
    assert search([0.1 * n / 4 for n in range(1, 400)], of=0.1) == pytest.approx(399)
    assert search([0.1 * n / 6 for n in range(1, 400)], of=0.1) == 0


def test_a_rate_that_rose_less_or_not_evenly_is_none():
    assert search([1e-4 * 1.1**n for n in range(49)]) == 0
    assert search([1e-4 * 1.1**n for n in range(50)]) == pytest.approx(1.1**49)
    assert search([1.01e-4 * 1.1**n for n in range(50)]) == 0
    assert search([*[1e-3] * 30, *(1e-3 * 1.1**n for n in range(60))]) == 0
    assert search([1e-3 * 5 ** (n // 60) for n in range(300)]) == 0
    assert search([1e-4 * 2**n for n in range(19)]) == 0
    assert search([1e-4 * 2**n for n in range(20)]) > 0
    assert search([]) == 0


def test_steps_that_were_not_judged_count():
    seen = RateSearch()
    for step in (*range(30), 40, 41, 41, 60):
        seen.push(1e-6 * 1.2**step, step)
    seen.push(float("nan"), 61)
    assert seen.times(built(1e-6)) == pytest.approx(1.2**60)


def test_what_is_told():
    assert search_told(0) == ""
    assert "to 651 times the first one: a search for a rate ends so. Nothing if it is one." in search_told(651.2)
