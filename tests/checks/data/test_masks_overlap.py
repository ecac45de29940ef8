"""Masks of one output that overlap."""

from __future__ import annotations

from debugtracer.checks.data.masks_overlap import MasksOverlap
from debugtracer.trace.facts.evaluated_rows import EvaluatedRows
from tests.checks.facts_at import judged, line, ref


def fact(**other):
    given = {
        "length": 400, "trained": 200, "rows": 200, "shared": 96, "frame": line(41), "train_frame": line(32),
        "made": (line(15),),
    }  # fmt: skip
    return EvaluatedRows(ref=ref(99), **(given | other))


def test_rows_in_both_are_told_at_the_line_that_made_the_index():
    (finding,) = judged(MasksOverlap(), [fact()])
    assert (finding.severity, finding.kind) == ("warning", "data_train_eval_overlap")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(15), line(41))
    assert finding.message == (
        "step 99, rank 0: of 200 rows that the evaluation takes (train.py:41), made at train.py:15, 96 are among the "
        "200 that the loss is taken of (train.py:32), of 400 in all; expected none. Cut both from one order."
    )


def test_a_few_rows_are_no_split_that_overlaps():
    assert judged(MasksOverlap(), [fact(shared=7)]) == []
    assert judged(MasksOverlap(), [fact(rows=500, shared=9)]) == []


def test_without_a_made_line_the_evaluation_is_named():
    (finding,) = judged(MasksOverlap(), [fact(made=())])
    assert finding.place.frame == line(41)


def test_a_loss_of_all_nodes_is_told_at_its_line():
    (finding,) = judged(MasksOverlap(), [fact(whole=True, trained=400, shared=200, made=())])
    assert (finding.place.frame, finding.place.symptom_frame) == (line(32), line(41))
    assert finding.message == (
        "step 99, rank 0: the loss is taken of all 400 nodes (train.py:32), also of the 200 that the evaluation takes "
        "(train.py:41); expected the nodes of training alone. Index both with their mask."
    )
