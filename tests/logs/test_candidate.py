"""How signs add up, and that text never becomes sure."""

from __future__ import annotations

import pytest

from debugtracer.logs.candidate import MOST, At, Case


def test_two_signs_are_worth_more_than_each_and_never_more_than_the_limit():
    case = Case()
    assert case.speaks_for("log_domain", 0.5, "one").certainty == 0.5
    assert case.speaks_for("log_domain", 0.5, "two").certainty == 0.75
    assert case.speaks_for("log_domain", 0.89, "three").certainty == MOST
    assert case.candidates["log_domain"].evidence == ("three", "one", "two")


def test_a_sign_against_lowers_it_and_is_told():
    case = Case()
    case.speaks_for("lr_too_high", 0.6, "it grew")
    case.speaks_against("lr_too_high", 0.5, "it did not")
    case.speaks_against("nobody", 0.5, "nothing to lower")
    assert case.candidates["lr_too_high"].certainty == pytest.approx(0.3)
    assert case.candidates["lr_too_high"].against == ["it did not"]


def test_of_equal_ones_the_first_in_the_log_leads_and_faint_ones_are_left_out():
    case = Case()
    case.speaks_for("late", 0.5, "x", At(line=9))
    case.speaks_for("early", 0.5, "x", At(line=2))
    case.speaks_for("faint", 0.04, "x")
    assert [one.kind for one in case.ranked()] == ["early", "late"]
