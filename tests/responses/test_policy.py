"""Which responses are asked in which mode, and which a cause rules out."""

from __future__ import annotations

import pytest

from debugtracer.causes.cause import causes
from debugtracer.responses.policy import REFUSED, Policy
from debugtracer.responses.response import responses
from debugtracer.settings import Mode
from tests.responses.steps import a_bad_step


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        ("observe", ()),
        ("dev", ()),
        ("val", ("skip-update", "stop")),
        ("prod", ("skip-update", "roll-back", "stop")),
    ],
)
def test_the_mode_decides_how_far_it_may_go(mode: str, allowed: tuple[str, ...]) -> None:
    assert Policy(mode).allowed() == allowed


def test_every_word_of_the_policy_exists() -> None:
    assert all(response.modes <= {mode.value for mode in Mode} for response in responses().values())
    assert set(REFUSED) <= set(causes())
    assert {slug for slugs, _ in REFUSED.values() for slug in slugs} <= set(responses())


def test_each_mode_goes_from_the_smallest_intrusion_up_and_ends_the_run_at_last() -> None:
    known = responses()
    for allowed in (Policy(mode).allowed() for mode in ("val", "prod")):
        steps = [known[slug].intrusion for slug in allowed]
        assert steps == sorted(steps) and known[allowed[-1]].ends


def test_a_cause_that_lies_in_the_weights_rules_skipping_out() -> None:
    policy = Policy("prod")
    assert "the weights themselves" in policy.refuses("skip-update", a_bad_step(cause="weights-nonfinite"))
    assert policy.refuses("roll-back", a_bad_step(cause="weights-nonfinite")) == ""
    assert policy.refuses("skip-update", a_bad_step(cause="data-nonfinite")) == ""
    assert policy.refuses("skip-update", a_bad_step()) == ""
