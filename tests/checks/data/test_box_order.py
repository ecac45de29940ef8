"""What is said of boxes whose edges stand the wrong way round."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.data.box_order import BoxOrder
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_box_edges import edges


def judged(**more: Any) -> list[Finding]:
    fact = edges(**more)
    return list(BoxOrder().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1})))


def test_it_fires_on_boxes_that_a_line_has_mirrored():
    (finding,) = judged()
    assert finding.message.endswith(
        "batch[1] (data.py:32): columns 0 and 2 of its rows stand the wrong way round in 90 of 200 (samples 7, 2), "
        "0.28 apart, 0.29 in the others, while columns 1 and 3 are in order in all: edges of boxes that were mirrored "
        "and not exchanged; expected column 0 <= column 2, as before that line in 8 samples fetched again. Exchange "
        "the two when they are mirrored."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "data_label_noise", 32)
    assert finding.place.sample_index == (7, 2)


def test_it_says_where_else_they_are_in_order():
    (finding,) = judged(low=1, breaks=False, fetched=0, elsewhere=160, samples=())
    assert "columns 1 and 3 of its rows stand the wrong way round in 90 of 200, 0.28 apart" in finding.message
    assert "expected column 1 <= column 3, as in all 160 rows of another loader." in finding.message


@pytest.mark.parametrize(("broken", "told"), [(9, 0), (10, 1)])
def test_at_the_threshold(broken, told):
    assert len(judged(broken=broken)) == told


def test_it_stays_silent_without_a_fact():
    assert not list(BoxOrder().judge(Window(edges().ref)))
