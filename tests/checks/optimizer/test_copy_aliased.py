"""What is said of weights that were kept in their own memory."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.copy_aliased import CopyAliased
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_shared_memory import shared


def found(**more: object) -> list[Finding]:
    fact = shared(**more)
    return list(CopyAliased().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1})))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("restored", "load_state_dict (train.py:31) is given the memory of Net itself, taken 120 updates ago: it rest"),
        (
            "exchanged",
            "load_state_dict (train.py:31) has overwritten it, and loading it afterwards brings nothing back",
        ),
        ("unchanged", "load_state_dict (train.py:31) gives Net what it has already, three times in a row"),
        (
            "difference",
            "the loss takes Net from a tensor of before in its own memory (train.py:31), 4 param",
        ),
        ("rescue", "the optimizer (train.py:31) keeps Net and 3 more in their own memory"),
        ("network", "all 4 parameters of a Net that no optimizer holds lie in the memory of a trained one"),
    ],
)
def test_says_what_was_shared_and_where(how, said):
    (finding,) = found(how=how)
    assert said in finding.message
    assert (finding.severity, finding.kind) == ("warning", "copy_aliased")
    assert "expected a copy" in finding.message


def test_the_line_is_where_it_was_taken():
    made = Frame("/x/train.py", 24, "<module>", "")
    (finding,) = found(made=made)
    assert (finding.place.frame, finding.place.symptom_frame) == (made, shared().frame)
    assert "with state_dict() (train.py:24)" in finding.message


def test_stays_silent_without_a_fact():
    assert not list(CopyAliased().judge(Window(shared().ref)))
