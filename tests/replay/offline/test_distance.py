from __future__ import annotations

import math

import pytest
import torch

from debugtracer.replay.offline.distance import relative_difference

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.2], [1.0, 2.0], 0.1),
        ([NAN, INF, -INF], [NAN, INF, -INF], 0.0),
        ([0.0, 1.0], [NAN, 1.0], INF),
        ([INF, 1.0], [1.0, 1.0], INF),
        ([INF], [-INF], INF),
        ([1.0], [0.0], INF),
        ([], [], 0.0),
    ],
)
def test_two_nans_are_no_difference_and_one_is_an_infinite_one(
    here: list[float], there: list[float], expected: float
) -> None:
    distance = relative_difference(torch.tensor(here, dtype=torch.float64), torch.tensor(there))
    assert distance == pytest.approx(expected) or (expected == INF and distance > 1e200)


def test_nothing_recorded_is_infinitely_far() -> None:
    assert relative_difference(torch.ones(2), None) == INF
    assert relative_difference(torch.ones(2), torch.ones(3)) == INF
