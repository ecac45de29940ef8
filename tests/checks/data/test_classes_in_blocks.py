"""Labels in blocks beside inputs that were shuffled."""

from __future__ import annotations

from debugtracer.checks.data.classes_in_blocks import ClassesInBlocks
from debugtracer.trace.facts.class_blocks import ClassBlocks
from debugtracer.trace.window import LOSS
from tests.checks.facts_at import judged, line, ref


def found(losses, ended=True):
    fact = ClassBlocks(ref=ref(4), rows=2400, frame=line(35), loss_frame=line(76), classes=2, entropy=0.6616)
    return judged(ClassesInBlocks(), [fact], ended=ended, **{LOSS: tuple(losses)})


def test_a_loss_at_the_entropy_is_told_at_the_end():
    (finding,) = found([0.66] * 200)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "targets_misaligned", line(35))
    assert finding.message == (
        "step 199, rank 0: of 2400 rows all of each of the 2 classes stand together, while the inputs are put into "
        "another order at train.py:35, and the loss, 0.66, stands at the entropy of the classes, 0.662; expected both "
        "sides in one order. Take both by one index."
    )


def test_a_loss_that_fell_a_short_run_and_one_that_goes_on_are_silent():
    assert found([0.66] * 100 + [0.6] * 100) == []
    assert found([0.66] * 50) == []
    assert found([0.66] * 200, ended=False) == []
