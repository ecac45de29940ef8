"""What is said of a focal loss of a mean."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.model.focal_of_mean import FocalOfMean
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_focal_mean import focal


def judged(**more: Any) -> Finding:
    fact = focal(**more)
    (finding,) = FocalOfMean().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1}))
    return finding


def test_it_fires_on_one_weight_for_all_rows():
    finding = judged()
    assert finding.message.endswith(
        "cross_entropy (train.py:18) is the mean of 32 rows, and exp of its negative (train.py:19) makes the weight it "
        'is multiplied with (train.py:20): one weight for all rows; expected one for each. Use reduction="none" and '
        "take the mean after the product."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "loss_misuse", 18)


def test_it_names_the_line_that_builds_the_loss():
    assert judged(built=Frame(file="train.py", line=12)).place.frame.line == 12


def test_it_stays_silent_without_a_fact():
    assert not list(FocalOfMean().judge(Window(focal().ref)))
