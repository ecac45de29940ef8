"""What is said of padding that a model reads."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.model.padding_read import PaddingRead
from debugtracer.trace.facts.read_padding import ReadPadding
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_read_padding import read


def judged(steps: int = 2, **more: Any) -> list[Finding]:
    check, memories, found = PaddingRead(), {}, []
    for step in range(steps):
        fact = read(step, **more)
        window = Window(fact.ref, facts={ReadPadding: [fact]}, came={ReadPadding: 1}, memories=memories)
        found += check.judge(window)
    return found


def test_it_fires_on_the_second_look_and_once():
    assert judged(1) == []
    (finding,) = judged(4)
    assert (
        "position 17 of 18, read by an index (net.py:28), holds padding (id 0) in 75 % of the rows (96 of 128) (laid "
        "out at data.py:9), 8.25 positions behind their last id; expected an id there. Pad on the left"
        in finding.message
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "input_ignored", 28)
    assert finding.place.symptom_frame.line == 9


def test_it_says_where_padding_in_front_is_read():
    (finding,) = judged(function="gather", place=None, side="left", made=None)
    assert "the position, read by gather (net.py:28), holds padding" in finding.message
    assert "positions before their first id; expected an id there. Pad on the right" in finding.message


@pytest.mark.parametrize(("inside", "told"), [(31, 0), (32, 1)])
def test_at_the_threshold(inside, told):
    assert len(judged(inside=inside)) == told


@pytest.mark.parametrize(("gap", "told"), [(9.0, 0), (9.5, 1)])
def test_a_recurrent_layer_carries_what_it_read_over_as_much_padding(gap, told):
    assert len(judged(recurrent=True, gap=gap)) == told


def test_it_says_what_an_unpacked_sequence_is_filled_up_with():
    (finding,) = judged(packed=True, made=None)
    assert (
        "position 17 of 18, read by an index (net.py:28), holds what pad_packed_sequence fills up with in 75 % of the "
        "rows (96 of 128), 8.25 positions behind their ends; expected a state there. Take the last state, h_n, or read "
        "each row at its length - 1." in finding.message
    )
