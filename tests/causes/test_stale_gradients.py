"""Gradients are not cleared between updates."""

from __future__ import annotations

import msgspec

from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.stale_gradients import StaleGradients
from debugtracer.trace.birth import Frame
from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_zero_grad_missing():
    finding = told("optimizer/zero-grad-missing")
    evidence = hears("stale-gradients", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("call optimizer.zero_grad")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/zero-grad-missing"))
    alone = hears("stale-gradients", finding).confidence
    assert hears("stale-gradients", finding, told("optimizer/loss-spike")).confidence > alone
    against = told("optimizer/accum-scaling")
    assert hears("stale-gradients", finding, against).confidence < alone
    assert hears("stale-gradients", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("stale-gradients", told("data/loader-bound"), told("optimizer/loss-spike"))


def test_the_change_is_made_at_the_line():
    assert change("stale-gradients", "optimizer.step()") == ("optimizer.step()", "optimizer.zero_grad()")
    assert change("stale-gradients", "pass") is None


def test_a_second_step_is_not_mended_by_clearing():
    line = Frame(file="train.py", line=15, function="<module>", code="optimizer.step()")
    finding = msgspec.structs.replace(told("optimizer/zero-grad-missing"), evidence={"repeated": 4.0})
    assert StaleGradients().change(FindingEvidence((finding,)), line) is None
