"""Logits that run away while the loss stays high."""

from __future__ import annotations

import pytest

from debugtracer.checks.check import Check
from debugtracer.checks.model.logit_divergence import LogitDivergence
from debugtracer.checks.selection import select
from debugtracer.trace.facts.logit_scale import LogitScale
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window


def a_look(step: int, log_z: float, gap: float = 1.0, loss: float = 2.9) -> LogitScale:
    return LogitScale(ref=StepRef(iteration=step, step=step), classes=48, rows=256, log_z=log_z, gap=gap, loss=loss)


def judged(*looks: LogitScale, check: Check | None = None) -> list[Finding]:
    found: list[Finding] = []
    memories: dict[str, dict[object, object]] = {}
    for look in looks:
        found += (check or LogitDivergence()).judge(
            Window(ref=look.ref, facts={LogitScale: [look]}, came={LogitScale: 1}, memories=memories)
        )
    return found


def test_fires_on_logits_that_have_run_away():
    (finding,) = judged(a_look(0, 4.02), a_look(1, 4.1), a_look(200, 45.0), a_look(300, 52.1), a_look(400, 60.0))
    assert (finding.severity, finding.kind, finding.step) == ("warning", "logit_divergence", 300)
    assert finding.message == (
        "step 300, rank 0: mean |log Z| of 48 classes is 52.1, from 4.02 at step 0, at a cross-entropy of 2.9 (log C "
        "is 3.87); expected below 40.2. "
        "Add a z-loss, decay the weights of the head, or lower the learning rate."
    )


def test_fires_on_a_model_that_is_sure_and_wrong():
    (finding,) = judged(a_look(0, 4.0), a_look(200, 20.0, gap=12.0), a_look(300, 22.0, gap=14.0))
    assert (
        "the first of 48 classes is 14 above the second on average, at a cross-entropy of 2.9 (log C is 3.87); "
        "expected below 10"
    ) in finding.message


def test_steady_growth_is_a_note_with_its_lead():
    (finding,) = judged(a_look(0, 4.02), a_look(100, 5.3), a_look(200, 8.0), a_look(300, 13.4), a_look(400, 20.1))
    assert finding.severity == "note"
    assert (
        "is 13.4, from 4.02 at step 0, and grows (40.2 in about 213 steps at this pace), at a cross-entropy"
        in finding.message
    )


@pytest.mark.parametrize(
    "looks",
    [
        (a_look(0, 4.0), a_look(200, 60.0, 20.0, 0.2), a_look(300, 70.0, 20.0, 0.1)),  # confident and right
        (a_look(0, 4.0), a_look(100, 60.0), a_look(150, 60.0)),  # warm-up
        (a_look(0, 4.0), a_look(200, 60.0), a_look(300, 5.0), a_look(400, 60.0)),  # one look
        # large from the start, as with a temperature
        (a_look(0, 90.0, loss=3.8), a_look(200, 92.0), a_look(300, 95.0)),
        # it learns
        (
            a_look(0, 4.0, loss=3.9),
            a_look(100, 7.0, loss=3.4),
            a_look(200, 10.0, loss=3.0),
            a_look(300, 14.0, loss=2.4),
        ),
    ],
)
def test_stays_silent_on_logits_that_learn(looks):
    assert judged(*looks) == []


def test_at_the_threshold():
    assert judged(a_look(0, 4.0), a_look(200, 40.0), a_look(300, 40.0)) == []
    assert len(judged(a_look(0, 4.0), a_look(200, 40.1), a_look(300, 40.1))) == 1
    assert judged(a_look(0, 4.0), a_look(200, 60.0, loss=1.93), a_look(300, 60.0, loss=1.93)) == []


def test_with_the_limits_of_the_articles_a_sure_model_is_a_note_whatever_its_loss():
    seed = select("seed")["model/logit-divergence"]
    sure = a_look(20, 12.0, gap=11.0, loss=0.1), a_look(40, 12.0, gap=13.0, loss=0.1)
    (finding,) = judged(*sure, check=seed)
    assert (finding.severity, finding.step) == ("note", 20)
    assert finding.message == (
        "step 20, rank 0: the first of 48 classes is 11 above the second on average; expected below 10. A softmax has "
        "no gradient left there: smooth the labels, or add a z-loss."
    )
    assert judged(a_look(20, 12.0, gap=10.0), check=seed) == []
    assert judged(*sure) == []
