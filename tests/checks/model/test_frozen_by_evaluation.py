"""Evaluations that leave parameters frozen."""

from __future__ import annotations

from debugtracer.checks.model.frozen_by_evaluation import FrozenByEvaluation
from debugtracer.trace.facts.frozen_evaluation import FrozenEvaluation
from tests.checks.facts_at import judged, line, ref


def frozen(step: int = 50, steps: int = 25, **fields: object) -> FrozenEvaluation:
    given = {"frame": line(44), "frozen_by": line(39), **fields}
    return FrozenEvaluation(
        ref=ref(step), params=("encoder.1.weight", "encoder.1.bias"), count=4, share=0.93, held=6, steps=steps, **given
    )


def test_a_part_that_stays_frozen_is_told_once_at_the_line_that_freezes():
    (finding,) = judged(FrozenByEvaluation(), [frozen(), frozen(75)])
    assert finding.message == (
        "step 25, rank 0: 4 of 6 parameters (encoder.1.weight, ...; 93% of all values) are frozen since the evaluation "
        "at train.py:44 (train.py:39 freezes) and were not unfrozen in 25 updates; expected those that learnt before "
        "it to go on. Use torch.no_grad() there, or set requires_grad_(True) after it."
    )
    assert (finding.severity, finding.kind, finding.place.module) == ("warning", "train_eval_mode", "encoder.1")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(39), line(44))


def test_without_the_line_that_freezes_the_evaluation_is_the_place():
    (finding,) = judged(FrozenByEvaluation(), [frozen(frozen_by=None)])
    assert finding.place.frame == line(44)


def test_at_the_threshold():
    assert judged(FrozenByEvaluation(), [frozen(steps=7)]) == []
    assert len(judged(FrozenByEvaluation(), [frozen(steps=8)])) == 1


def test_what_train_freezes_was_to_be_frozen_from_the_start():
    (finding,) = judged(FrozenByEvaluation(), [frozen(by_train=line(42))])
    assert finding.message == (
        "step 50, rank 0: 4 of 6 parameters (encoder.1.weight, ...; 93% of all values) were trained until the "
        "evaluation (train.py:44) and are frozen since: train() (train.py:42) freezes them, and was not called before "
        "the first update; expected them to be frozen from the start. Call model.train() before the loop, or freeze "
        "them where the module is built."
    )
    assert finding.place.frame == line(39) and "no_grad" not in str(finding.remedy)
