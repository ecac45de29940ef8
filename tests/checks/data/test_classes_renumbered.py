"""Does the evaluation number its classes as training does?"""

from __future__ import annotations

import pytest

from debugtracer.checks.data.classes_renumbered import ClassesRenumbered
from debugtracer.trace.facts.evaluated_classes import EvaluatedClasses
from tests.checks.facts_at import judged, line, ref


def fact(called, hits=None, counts=None, share=0.95, trained=0.9, made=(22,), step=200):
    counts = counts or [40] * len(called)
    most = [round(share * count) for count in counts]
    hits = hits or [m if c == i else 0 for i, (c, m) in enumerate(zip(called, most, strict=True))]
    return EvaluatedClasses(
        ref=ref(step), counts=tuple(counts), hits=tuple(hits), called=tuple(called), most=tuple(most), trained=trained,
        frame=line(61), made=tuple(line(n) for n in made),
    )  # fmt: skip


def test_another_numbering_is_told_once_with_the_lines_that_made_it():
    seen = fact([0, 3, 1, 2, 4])
    (finding,) = judged(ClassesRenumbered(), [seen, fact([0, 3, 1, 2, 4], step=400)])
    assert (finding.severity, finding.kind) == ("warning", "targets_misaligned")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(22), line(61))
    assert finding.message == (
        "step 200, rank 0: the evaluation (train.py:61) calls class 1 what training calls class 3 (38 of 40 samples, 0 "
        "as class 1), class 2 what it calls class 1, class 3 what it calls class 2, 3 of 5 classes in all; its labels "
        "were made at train.py:22; expected one table of class ids. Use that of training for both."
    )


def test_without_lines_of_its_own_it_is_the_line_of_the_loader():
    (finding,) = judged(ClassesRenumbered(), [fact([1, 0], made=())])
    assert finding.place.frame == line(61) and "made at" not in finding.message


@pytest.mark.parametrize("called", [[1, 0], [1, 2, 3, 4, 5], [0, 2, 1]])
def test_exchanged_shifted_and_partly_exchanged_ids(called):
    counts = [40] * len(called) if called[-1] != 5 else [40, 40, 40, 40, 40]
    assert len(judged(ClassesRenumbered(), [fact(called, counts=counts)])) == 1


@pytest.mark.parametrize(
    "seen",
    [
        fact([0, 1, 2]),
        fact([1, 1, 2]),  # one class is taken for another
        fact([1, 2, 2]),  # two go elsewhere, one of them where the third stays
        fact([1, 0, 2], share=0.6),
        fact([1, 0, 2], hits=[12, 12, 38]),
        fact([1, 0], counts=[9, 9]),
        fact([1, 0], trained=0.5),
        fact([0, 0, 0], hits=[38, 0, 0]),
    ],
)
def test_errors_few_samples_and_models_that_know_little_are_silent(seen):
    assert judged(ClassesRenumbered(), [seen]) == []
