"""A trial as a value."""

from __future__ import annotations

from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.step import StepRef


def test_each_trial_of_a_root_is_news_of_its_own():
    ref = StepRef(iteration=0, step=0)
    keys = {
        FunctionTest(ref=ref, trial=trial, root="Net").key() for trial in ("later_tokens", "other_samples", "any_input")
    }
    assert len(keys) == 3
