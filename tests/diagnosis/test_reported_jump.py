"""A note is tried only where a strong spike begins; a level is what its check has measured."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.diagnosis.reported_jump import LEVEL, SPIKE, is_worth, level
from debugtracer.spikes.episode import STRONG
from debugtracer.trace.finding import Finding


def finding(check: str, severity: str, **evidence: float) -> Finding:
    known: dict[str, Any] = {"check": check, "severity": severity, "evidence": evidence}
    return Finding(**known, layer="optimizer", step=9, iteration=9, rank=0, message="the loss jumped")


@pytest.mark.parametrize(
    ("check", "severity", "z", "worth"),
    [
        (SPIKE, "warning", 0.0, True),
        (LEVEL, "error", 0.0, True),
        (SPIKE, "note", 6.0 * STRONG, True),
        (SPIKE, "note", 6.0 * STRONG - 0.01, False),
        (LEVEL, "note", 60.0 * STRONG, False),
    ],
)
def test_what_is_worth_trials(check: str, severity: str, z: float, worth: bool) -> None:
    assert is_worth(finding(check, severity, z=z, threshold=6.0)) is worth


def test_a_note_without_its_numbers_is_not_worth_them() -> None:
    assert not is_worth(finding(SPIKE, "note"))


def test_a_level_is_what_was_expected_and_what_is_now_before_the_losses_that_were() -> None:
    assert level(finding(LEVEL, "warning", expected=0.5, loss=2.0), [0.4, 0.6]) == (0.5, 2.0, [0.5, 0.4, 0.6])
