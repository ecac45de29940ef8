"""Losses of an accumulation that are divided by the wrong number."""

from __future__ import annotations

from debugtracer.checks.optimizer.loss_divided_twice import LossDividedTwice
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("optimizer/loss-divided-twice")
    evidence = hears("accumulation-unscaled", finding)
    assert evidence.leading == finding
    assert evidence.remedies == LossDividedTwice.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("accumulation-unscaled", told("data/loader-bound"), told("optimizer/clip-share"))
