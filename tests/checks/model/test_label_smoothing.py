"""Label smoothing that is impossible, and label smoothing that would help."""

from __future__ import annotations

import math

from debugtracer.checks.model.label_smoothing import LabelSmoothing, effect
from debugtracer.trace.facts.label_smoothing import LabelSmoothing as Looked
from debugtracer.trace.facts.label_smoothing import Smoothed
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import LOSS, Window

TABLE = tuple(
    Smoothed(epsilon=e, target_kl=k, gradient_variance=v)
    for e, k, v in ((0.0, 0.0, 1.0), (0.1, 0.094, 0.8), (0.2, 0.198, 0.61))
)


def a_look(step, top=0.95, accuracy=0.6, used=0.0, closed=0):
    ref = StepRef(iteration=step, step=step)
    return Looked(
        ref=ref, classes=10, rows=64, used=used, closed=closed, table=TABLE, top_probability=top, accuracy=accuracy
    )


def judged(*looks):
    memories = {}
    windows = (
        Window(ref=looks[n - 1].ref, facts={Looked: looks[:n]}, came={Looked: 1}, memories=memories)
        for n in range(1, len(looks) + 1)
    )
    return [f for window in windows for f in LabelSmoothing().judge(window)]


def test_smoothing_over_closed_classes_is_an_error():
    (finding,) = judged(a_look(100, used=0.1, closed=3))
    assert (finding.severity, finding.kind) == ("error", "label_smoothing_misuse")
    assert finding.message == (
        "step 100, rank 0: label_smoothing 0.1 is used with 3 of 10 classes at -inf; expected finite logits for every "
        "smoothed class. "
        "Smooth the open classes only."
    )


def test_a_model_that_gives_no_numbers_gets_no_advice():
    assert judged(a_look(100, top=math.nan), a_look(200, top=math.nan)) == []


def test_a_model_surer_than_right_gets_advice_with_the_measured_effect():
    (finding,) = judged(a_look(100), a_look(200))
    assert finding.severity == "note"
    assert finding.message == (
        "step 200, rank 0: the model gives 95% to its guess and is right in 60% of 64 targets; expected within 15%. "
        "label_smoothing=0.1 may help "
        "(on this batch 0.1: KL 0.094, gradient variance -20%; 0.2: KL 0.198, gradient variance -39%)."
    )


def test_a_model_at_a_new_task_is_left_alone_until_its_loss_is_where_it_was():
    def judged_at(losses):
        memories, told = {}, []
        for n, loss in enumerate(losses):
            looks = [a_look(step) for step in (100, 200) if step <= n]
            came = {Looked: int(n in (100, 200))}
            facts, ref = {Looked: looks}, StepRef(iteration=n, step=n)
            series = {LOSS: [*losses[:n], loss]}
            window = Window(ref=ref, series=series, facts=facts, came=came, memories=memories)
            told += LabelSmoothing().judge(window)
        return [found.step for found in told]

    assert judged_at([0.1] * 190 + [1.2] * 20) == []
    assert judged_at([0.1] * 110 + [1.2] * 40 + [0.12] * 60) == [200]


def test_an_honest_model_the_first_steps_closed_classes_without_smoothing_and_smoothing_that_works_are_left_alone():
    assert judged(a_look(100, accuracy=0.9), a_look(200, accuracy=0.9)) == []
    assert judged(a_look(1), a_look(2)) == []
    assert judged(a_look(100, closed=3), a_look(200, closed=3)) == []
    assert judged(a_look(100, used=0.1), a_look(200, used=0.1)) == []


def test_it_is_told_again_when_it_is_much_worse():
    steps = [a_look(100, 0.9), a_look(200, 0.9), a_look(300, 0.95), a_look(400, 0.99, 0.5), a_look(500, 0.99, 0.5)]
    assert [finding.message.partition(",")[0] for finding in judged(*steps)] == ["step 200", "step 400"]


def test_no_share_is_told_of_a_gradient_that_does_not_vary():
    smoothed = Smoothed(epsilon=0.1, target_kl=0.094, gradient_variance=0.8)
    assert effect(smoothed, 0.0) == effect(smoothed, 1e-12) == "0.1: KL 0.094"
    assert effect(smoothed, 1.0) == "0.1: KL 0.094, gradient variance -20%"
