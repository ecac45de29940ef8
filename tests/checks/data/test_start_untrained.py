"""What is said of a start that is never trained."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.data.start_untrained import StartUntrained
from debugtracer.trace.facts.untrained_start import UntrainedStart
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_untrained_start import start


def judged(times: int = 1, **more: Any) -> list[Finding]:
    check, memories, found = StartUntrained(), {}, []
    for _ in range(times):
        fact = start(**more)
        window = Window(fact.ref, facts={UntrainedStart: [fact]}, came={UntrainedStart: 1}, memories=memories)
        found += check.judge(window)
    return found


def test_it_fires_once():
    (finding,) = judged(3)
    assert (
        "in all texts of training the first target of cross_entropy (model.py:237) is that of position 6; the targets "
        "are written at train.py:60, and the evaluation (model.py:252) begins to write after 6 words, at position 5, "
        "which has none; expected a target there. Mask one target less." in finding.message
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "label_mask_wrong", 60)


def test_at_the_threshold():
    assert len(judged(steps=2)) == 1
    assert judged(steps=1) == []
