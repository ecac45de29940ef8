"""Hand-written backwards that are not the derivative."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.wrong_derivative import WrongDerivative
from debugtracer.trace.facts.function_derivative import FunctionDerivative
from tests.checks.windows import LOADER, ref, told


def judged(*inputs, **more):
    facts = [
        FunctionDerivative(ref=ref(), function="Swish", frame=LOADER, input=place, derivative=0.4, backward=0.2, **more)
        for place in inputs
    ]
    return list(WrongDerivative().judge(told(*facts)))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"difference": "factor", "ratio": 0.5},
            "gives 0.5 times the derivative of its forward for input 0 (0.2 against 0.4)",
        ),
        (
            {"difference": "other"},
            "is not the derivative of its forward for input 0 (0.2 against 0.4); expected the same",
        ),
        ({"difference": "cut"}, "gives 0 for input 0 where forward moves (0.2 against 0.4); expected the derivative"),
        (
            {"difference": "reversed"},
            "is 0 for input 0 in 80 % of the elements where forward rises and not 0 where it is flat",
        ),
    ],
)
def test_each_kind_has_its_words(more, said):
    (finding,) = judged(0, **more)
    assert finding.message.startswith(f"step 0, rank 0: backward of Swish {said}")
    assert finding.message.endswith("Compare them with torch.autograd.gradcheck.")
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "custom_backward_wrong", LOADER)


def test_the_same_is_silent_and_a_function_is_told_once():
    assert judged(0, difference="same") == []
    assert len(judged(0, 1, difference="other")) == 1


@pytest.mark.parametrize(("difference", "said"), [("rows", "for each row"), ("bounded", "small"), ("steps", "steps")])
def test_what_is_made_on_purpose_as_well_is_a_note_and_hides_no_wrong_sign(difference, said):
    (note,) = judged(2, difference=difference)
    assert (note.severity, said in note.message) == ("note", True)
    assert "for input 2; expected that only if it is meant. Compare them" in note.message
    both = list(
        WrongDerivative().judge(
            told(
                *(
                    FunctionDerivative(ref=ref(), function="Centre", frame=LOADER, input=place, difference=kind)
                    for place, kind in ((0, difference), (2, "factor"))
                )
            )
        )
    )
    assert [finding.severity for finding in both] == ["note", "warning"]
