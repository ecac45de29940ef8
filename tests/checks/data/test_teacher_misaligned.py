"""Soft targets beside labels."""

from __future__ import annotations

import random
from collections.abc import Sequence

from debugtracer.checks.data.teacher_misaligned import TeacherMisaligned, moved, permuted
from debugtracer.trace.facts.soft_target import SoftTarget
from tests.checks.optimizer.seen import at, found, line

LABELS = [random.Random(step).choices(range(8), k=64) for step in range(6)]


def look(step: int, soft: Sequence[int], top: float = 0.7, **more: object) -> SoftTarget:
    return SoftTarget(
        ref=at(step), loss="kl_div", loss_frame=line(45), frame=line(74), classes=8, soft=tuple(soft),
        hard=tuple(LABELS[step]), top=top, number=step, **more,
    )  # type: ignore[arg-type]  # fmt: skip


def others(step: int) -> list[int]:
    """Classes that have nothing to do with the labels."""
    return random.Random(100 + step).choices(range(8), k=64)


def test_distributions_of_other_samples_are_told_once():
    (finding,) = found(TeacherMisaligned(), [look(step, others(step)) for step in range(4)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "targets_misaligned", line(74))
    assert "the soft targets of kl_div (train.py:45), taken (train.py:74), name the class of the label in " in (
        finding.message
    )
    assert "of 128 rows, as chance would (" in finding.message and "give their class 70 % on average" in finding.message
    assert finding.message.endswith("if both are so, the teacher was not trained.")


def test_one_look_is_too_few():
    assert found(TeacherMisaligned(), [look(0, others(0))]) == []


def test_a_noisy_teacher_is_silent_and_stays_so():
    noisy = [*LABELS[0][:26], *others(0)[26:]]
    assert found(TeacherMisaligned(), [look(0, noisy), *(look(step, others(step)) for step in range(1, 4))]) == []


def test_distributions_that_tell_little_are_silent():
    assert found(TeacherMisaligned(), [look(step, others(step), top=0.2) for step in range(4)]) == []


def test_one_class_for_all_is_silent():
    assert found(TeacherMisaligned(), [look(step, [3] * 64) for step in range(4)]) == []


def test_samples_that_the_rows_were_made_of():
    first = {"samples": tuple(range(64)), "made_of": tuple(range(64, 128))}
    second = {"samples": tuple(range(64, 128)), "made_of": tuple(range(64))}
    looks = [look(0, LABELS[1], made=line(50), **first), look(1, LABELS[0], made=line(50), **second)]
    (finding,) = found(TeacherMisaligned(), looks)
    assert "0 of 128 were made of the sample that they score (train.py:50), and 128 of 128 name the label" in (
        finding.message
    )


def test_a_teacher_that_knows_nothing_of_its_own_samples_is_told_as_that():
    own = {"samples": tuple(range(64)), "made_of": tuple(range(64))}
    (finding,) = found(TeacherMisaligned(), [look(step, others(step), **own) for step in range(2)])
    assert finding.message.endswith("the teacher knows no more than chance. Train it, or load its weights.")


def test_rows_that_are_moved_by_one():
    looks = [look(step, [*LABELS[step][1:], LABELS[step][0]]) for step in range(2)]
    assert moved(looks) == (-1, 126, 126)
    (finding,) = found(TeacherMisaligned(), looks)
    assert finding.message.endswith("; moved by -1 rows, 126 of 126 agree. Take both from the same rows.")


def test_classes_in_another_order():
    looks = [look(step, [(label + 3) % 8 for label in LABELS[step]]) for step in range(2)]
    assert permuted(looks) and not permuted([look(step, others(step)) for step in range(2)])
    (finding,) = found(TeacherMisaligned(), looks)
    assert finding.message.endswith("put the classes of both into one order.")
