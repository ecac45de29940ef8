"""Older snapshots are thinned by their age."""

from __future__ import annotations

import itertools

from debugtracer.recorder.state.thinning import gives_way


def held_after(steps: int, every: int, most: int, reach: int) -> list[int]:
    """Which snapshots are held where one is taken `every` so many steps."""
    held: list[int] = []
    for now in range(0, steps, every):
        if len(held) == most:
            del held[gives_way(held, now, reach)]
        held.append(now)
    return held


def test_few_of_them_reach_far_and_are_denser_the_younger_they_are() -> None:
    for end in range(600, 1200, 8):
        held = held_after(end, 8, 6, 500)
        assert held == sorted(set(held))
        assert 200 <= end - held[0] <= 520
        gaps = [b - a for a, b in itertools.pairwise(held)]
        assert gaps[0] >= gaps[-1]
        assert max(gaps) < 0.8 * (end - held[0]), "no hole that a divergence fits into"


def test_one_that_is_too_old_goes_first_and_of_two_the_older() -> None:
    assert gives_way([0, 480, 488], 505, 500) == 0
    assert gives_way([3], 11, 500) == 0
    assert gives_way([3, 11], 19, 500) == 0
