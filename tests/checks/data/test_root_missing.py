"""Data and noise that are mixed with a share and a root."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.data.root_missing import RootMissing
from debugtracer.trace.facts.noise_share import NoiseShare
from tests.checks.optimizer.seen import at, found, line


def judged(steps: int = 3, **more: Any) -> Any:
    seen: dict[str, Any] = {
        "rows": 64, "squares": 0.25, "plain_noise": 6e-8, "plain_data": 0.2, "straight": 0.2, "low": 0.0, "high": 0.9,
        "frame": line(38), **more,
    }  # fmt: skip
    return found(RootMissing(), [NoiseShare(ref=at(step), **seen) for step in range(steps)])


def test_the_noise_without_its_root():
    assert judged(1) == []
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "noise_differs", line(38))
    assert finding.message == (
        "step 0, rank 0: data and noise are mixed (train.py:38) with s and n of which s^2 + n is 1 in all of 64 rows, "
        "to 6e-08, and s^2 + n^2 is off by up to 0.25, in 2 steps; expected s^2 + n^2 to be 1. Take the root of the "
        "noise's share: (1 - a).sqrt() beside a.sqrt()."
    )


def test_the_data_without_their_root():
    (finding,) = judged(plain_noise=0.2, plain_data=6e-8)
    assert "with s and n of which s + n^2 is 1" in finding.message
    assert "Take the root of the data's share" in finding.message


@pytest.mark.parametrize(
    "more",
    [
        {"squares": 1e-7},
        {"straight": 1e-7},
        {"plain_noise": 0.1},
        {"low": 0.85},
        {"low": -0.5},
    ],
    ids=["both-roots", "flow", "another", "one-strength", "negative"],
)
def test_what_is_meant_so(more):
    assert judged(**more) == []


def test_at_the_threshold():
    assert len(judged(plain_noise=1e-4)) == 1
    assert judged(plain_noise=1.1e-4) == []
