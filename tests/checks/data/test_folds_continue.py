"""Folds of one network."""

from __future__ import annotations

from debugtracer.checks.data.folds_continue import FoldsContinue
from debugtracer.trace.facts.continued_folds import ContinuedFolds
from tests.checks.facts_at import judged, line, ref


def test_rows_that_were_trained_on_in_a_fold_before():
    fact = ContinuedFolds(
        ref=ref(79), fold=2, model="Net", shared=160, rows=160, current=0, frame=line(34), train_frame=line(33),
        built=line(24), samples=(3, 17),
    )  # fmt: skip
    (finding,) = judged(FoldsContinue(), [fact])
    assert (finding.severity, finding.kind) == ("warning", "data_train_eval_overlap")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(24), line(34))
    assert finding.message == (
        "step 79, rank 0: in fold 2 160 of 160 rows of the evaluation (train.py:34) were trained on in a fold before "
        "(train.py:33) by the same Net, e.g. samples 3, 17; its weights go on from fold to fold; expected new ones in "
        "each. Build the model and the optimizer (train.py:24) inside the loop over the folds."
    )


def test_without_a_fact_it_is_silent():
    assert judged(FoldsContinue(), []) == []
