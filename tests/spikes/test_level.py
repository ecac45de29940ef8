"""Medians of blocks."""

from __future__ import annotations

from debugtracer.spikes.level import BLOCK, Level


def level_of(values: list[float]) -> Level:
    level = Level()
    for value in values:
        level.push(value)
    return level


def test_a_block_ends_every_sixteen_values():
    level = Level()
    assert [level.push(1.0) for _ in range(2 * BLOCK)].count(True) == 2


def test_first_best_and_now_ignore_outliers():
    level = level_of([3.0] * BLOCK + [1.0] * (BLOCK - 1) + [900.0] + [2.0] * BLOCK)
    assert (level.first, level.best, level.now, level.least) == (3.0, 1.0, 2.0, 1.0)


def test_halves_of_the_last_values():
    level = level_of([4.0] * 200 + [3.0] * 100 + [2.0] * 100)
    assert level.halves(200) == (3.0, 2.0)
    assert level.halves(4000) is None
