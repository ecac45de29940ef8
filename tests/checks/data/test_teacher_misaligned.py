"""Soft targets beside labels."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from debugtracer.checks.data.teacher_misaligned import (
    TeacherMisaligned,
    agreement,
    moved,
    permuted,
    tried,
    with_own_labels,
)
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


def rows(soft: Sequence[int], hard: Sequence[int], top: float = 0.7, **more: object) -> SoftTarget:
    return SoftTarget(
        ref=at(0), loss="kl_div", loss_frame=line(45), classes=8, soft=tuple(soft), hard=tuple(hard), top=top, number=0,
        **more,
    )  # type: ignore[arg-type]  # fmt: skip


def test_what_agrees_and_what_would_by_chance():
    assert agreement([]) == (0, 0.0, 1.0)
    assert agreement([rows((0, 0, 1), (0, 1, 1))]) == (2, pytest.approx(4 / 3), 1.0)
    halves = [rows([0, 1] * 25, [0, 0, 1, 1] * 12 + [0, 1]) for _ in range(2)]
    assert agreement(halves) == (52, 50.0, 5.0)


def two(count: int, first: int, top: float = 0.7) -> list[SoftTarget]:
    """Two looks at `count` rows together, of which so many are of class 0 and the rest of class 1."""
    soft = [0] * first + [1] * (count - first)
    half = count // 2
    return [rows(soft[:half], soft[:half], top), rows(soft[half:], soft[half:], top)]


@pytest.mark.parametrize(
    ("looks", "agreed", "chance", "spread", "apart"),
    [
        (two(96, 48), 10, 10.0, 1.0, True),
        (two(95, 48), 10, 10.0, 1.0, False),  # too few rows
        ([rows([0, 1] * 48, [0, 1] * 48)], 10, 10.0, 1.0, False),  # one look
        (two(96, 48), 12, 10.0, 1.0, True),  # two standard deviations above chance are chance
        (two(96, 48), 13, 10.0, 1.0, False),
        (two(100, 89), 10, 10.0, 1.0, True),
        (two(100, 90), 10, 10.0, 1.0, False),  # one class for nearly all
        (two(100, 50, top=0.2), 10, 10.0, 1.0, False),  # a teacher that is 10 points above chance, no more
        (two(100, 50, top=0.21), 10, 10.0, 1.0, True),
        (two(100, 50, top=0.3), 10, 10.0, 4.0, False),  # five standard deviations would not show
        (two(100, 50, top=0.31), 10, 10.0, 4.0, True),
    ],
)
def test_the_two_are_apart_from_each_limit_on(looks, agreed, chance, spread, apart):
    assert TeacherMisaligned().apart(looks, agreed, chance, spread) is apart


def test_one_class_of_the_labels_is_as_bad_as_one_of_the_teacher():
    looks = [rows([0, 1] * 25, [0] * 45 + [1] * 5) for _ in range(2)]
    assert not TeacherMisaligned().apart(looks, 10, 10.0, 1.0)


def test_rows_made_of_samples_whose_labels_were_seen():
    looks = [
        rows((0, 1, 2), (5, 6, 7), samples=(10, 11, 12), made_of=(11, 12, 13)),
        rows((6, 5), (1, 2), samples=(13, 14), made_of=(11, 99)),
    ]
    assert with_own_labels(looks) == (1, 4)  # 6 of sample 11; nothing is known of 99


@pytest.mark.parametrize(("own", "untrained"), [(2, False), (3, True)])
def test_a_teacher_is_untrained_where_more_than_half_were_made_of_the_sample(own, untrained):
    made_of = (*range(own), *range(90, 94 - own))
    told = tried([rows((0, 1, 2, 3), (4, 5, 6, 7), samples=(0, 1, 2, 3), made_of=made_of)])
    assert ("knows no more than chance" in told) is untrained
    assert f"{own} of 4 were made of the sample" in told


@pytest.mark.parametrize("by", [1, -1, 5, -5])
def test_rows_may_be_moved_either_way(by):
    looks = [look(step, [*LABELS[step][-by:], *LABELS[step][:-by]]) for step in range(2)]
    assert moved(looks) == (by, 2 * (64 - abs(by)), 2 * (64 - abs(by)))


def test_rows_that_do_not_agree_anywhere_are_not_moved():
    assert moved([look(step, others(step)) for step in range(2)]) == (0, 0, 0)


def counts(same: int, other: int, classes: int) -> SoftTarget:
    """So many rows of each class with its own label, and with each other one."""
    pairs = [(a, b) for a in range(classes) for b in range(classes) for _ in range(same if a == b else other)]
    return rows([a for a, _ in pairs], [b for _, b in pairs])


@pytest.mark.parametrize(
    ("table", "depend"),
    [
        (counts(24, 8, 2), True),  # chi squared 16, with one degree of freedom: from 15.1 on
        (counts(23, 9, 2), False),  # 12.3
        (counts(8, 24, 2), True),
        (counts(30, 12, 3), True),  # 36, with four degrees: from 32.3 on
        (counts(28, 13, 3), False),  # 25
        (counts(16, 16, 2), False),
    ],
)
def test_two_columns_depend_on_one_another_from_a_chi_squared_on(table, depend):
    assert permuted([table]) is depend


@pytest.mark.parametrize(
    ("known", "shown"), [({"frame": line(7), "made": line(8)}, 7), ({"made": line(8)}, 8), ({}, 45)]
)
def test_the_line_is_where_they_are_taken_else_made_else_scored(known, shown):
    looks = [rows(others(step), LABELS[step], **known) for step in range(2)]
    (finding,) = found(TeacherMisaligned(), looks)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(shown), line(45))
    assert (", taken (train.py:7)," in finding.message) is ("frame" in known)
