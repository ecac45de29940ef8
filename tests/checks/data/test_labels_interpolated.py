"""What is said of resized class ids."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.data.labels_interpolated import LabelsInterpolated
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_resized_labels import resized


def judged(**more: Any) -> list[Finding]:
    fact = resized(**more)
    return list(LabelsInterpolated().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1})))


def test_it_fires_on_ids_that_were_not_there():
    (finding,) = judged()
    assert (
        "interpolate with mode bilinear (data.py:20) resizes class ids, and 7.5 % of the pixels of the targets get one "
        "that stands nowhere near in the map they were made of (ids 1, 2, 3); expected ids that were there."
        in finding.message
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "data_label_noise", 20)
    assert finding.place.sample_index == (7, 2)


@pytest.mark.parametrize(("stray", "told"), [(7, 0), (8, 1)])
def test_at_the_threshold(stray, told):
    assert len(judged(stray=stray)) == told


def test_it_stays_silent_without_a_fact():
    assert not list(LabelsInterpolated().judge(Window(resized().ref)))
