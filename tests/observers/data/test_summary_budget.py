"""Summaries stop while they cost too much."""

from __future__ import annotations

from debugtracer.observers.data.summary_budget import SummaryBudget


def test_looking_stops_when_it_costs_too_much() -> None:
    budget = SummaryBudget()
    assert budget.open()
    budget.spent = 5.0
    assert not budget.open()
    assert budget.began is not None
    budget.began -= 600
    assert budget.open()
