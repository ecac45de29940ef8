"""Gradients are too small for float16."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_gradient_underflow():
    finding = told("numerics/gradient-underflow")
    evidence = hears("fp16-underflow", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("scale the loss with torc")


def test_what_else_was_seen_counts():
    finding = guess(told("numerics/gradient-underflow"))
    alone = hears("fp16-underflow", finding).confidence
    assert hears("fp16-underflow", finding, told("model/vanishing-gradient")).confidence == alone  # the same family
    against = told("numerics/half-headroom")
    assert hears("fp16-underflow", finding, against).confidence < alone
    assert hears("fp16-underflow", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("fp16-underflow", told("data/loader-bound"), told("model/vanishing-gradient"))
