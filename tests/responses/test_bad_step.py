"""A bad step says in words what was seen, the gravest first."""

from __future__ import annotations

import math
from typing import Any

import pytest

from debugtracer.responses.bad_step import blames_weights
from debugtracer.trace.verdict import Trial
from tests.responses.steps import a_bad_step


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loss": math.nan, "gradient": True}, "the loss is NaN"),
        ({"loss": -math.inf}, "the loss is -Infinity"),
        ({"gradient": True, "sibling": True}, "a gradient is not finite"),
        ({"sibling": True}, "another optimizer's update after the same backward was left out"),
        ({"loss": math.nan, "weights": True}, "the weights are not finite"),
        ({"weights": True, "written": True}, "the weights are not finite after its update"),
        ({"weights": True, "elsewhere": True}, "the weights of another rank are not finite"),
    ],
)
def test_it_says_what_was_seen(changes: dict[str, Any], words: str) -> None:
    assert a_bad_step(**changes).seen == words


def test_a_step_in_which_nothing_was_seen_is_not_bad() -> None:
    assert not a_bad_step().is_bad
    assert all(a_bad_step(**{name: True}).is_bad for name in ("gradient", "weights", "sibling"))
    assert a_bad_step(loss=math.nan).is_bad


@pytest.mark.parametrize(
    ("outcomes", "risen", "blamed"),
    [
        ({"other-batch": "not healed", "older-weights": "healed"}, False, True),
        ({"other-batch": "not healed", "older-weights": "not healed"}, False, False),
        ({"other-batch": "not healed", "older-weights": "not healed"}, True, True),
        ({"other-batch": "healed", "older-weights": "healed"}, True, False),
        ({"other-batch": "could not run", "older-weights": "healed"}, False, False),
        ({"other-batch": "could not run"}, True, True),
        ({}, True, True),
        ({}, False, False),
    ],
)
def test_weights_are_blamed_by_trials_that_ran_and_by_the_loss_alone_where_none_did(
    outcomes: dict[str, Any], risen: bool, blamed: bool
) -> None:
    trials = [Trial(intervention=slug, outcome=outcome) for slug, outcome in outcomes.items()]
    assert blames_weights(trials, risen) is blamed
