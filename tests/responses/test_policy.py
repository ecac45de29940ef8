"""Which responses are asked in which mode, and which a cause rules out."""

from __future__ import annotations

import pytest

from debugtracer.causes.cause import causes
from debugtracer.errors import UsageError
from debugtracer.responses.policy import REFUSED, Policy, choices
from debugtracer.responses.response import responses
from debugtracer.settings import Mode
from tests.responses.steps import a_bad_step


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        ("observe", ()),
        ("dev", ()),
        ("val", ("skip-update", "pause", "stop")),
        ("prod", ("skip-update", "full-precision", "loss-scale", "roll-back", "pause", "stop")),
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


def test_a_cause_can_be_given_a_response_of_its_own() -> None:
    chosen = choices("data-nonfinite=stop, labels-all-ignored=skip-update", "prod")
    policy = Policy("prod", chosen)
    assert policy.allowed("data-nonfinite") == ("stop",)
    assert policy.allowed("labels-all-ignored") == ("skip-update", "stop")
    assert Policy("prod", choices("lr-too-high=lower-lr", "prod")).allowed("lr-too-high") == ("lower-lr", "stop")
    assert policy.allowed("data-blank-sample") == policy.allowed() != ("stop",)


@pytest.mark.parametrize(
    "text", ["nothing-such=stop", "data-nonfinite=heal", "data-nonfinite", "data-nonfinite=roll-back"]
)
def test_unknown_words_are_named(text: str) -> None:
    with pytest.raises(UsageError, match="respond"):
        choices(text, "val")


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("stop", "prod", "expected CAUSE=RESPONSE"),
        ("=stop", "prod", "expected CAUSE=RESPONSE"),
        ("data-nonfinite=stop", "dev", "expected --mode val or prod"),
    ],
)
def test_what_was_expected_is_said(text: str, mode: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        choices(text, mode)
