"""The budget table of README.md: what is over its budget is bold."""

from __future__ import annotations

import pytest

from tests.faults.scoring import part

over = part("budget_table").over


@pytest.mark.parametrize(
    ("value", "allowed", "form", "said"),
    [
        (1.0849, 1.08, ".2f", "**1.085** (1.08)"),  # shorter it would read as what is allowed
        (1.0751, 1.08, ".2f", "1.08 (1.08)"),
        (1.08, 1.08, ".2f", "1.08 (1.08)"),
        (60.4, 60.0, ".0f", "**60.4** (60)"),
        (2.174, 1.15, ".2f", "**2.17** (1.15)"),
    ],
)
def test_what_is_over_is_bold_and_reads_so(value: float, allowed: float, form: str, said: str) -> None:
    assert over(value, allowed, form) == said
