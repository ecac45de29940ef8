"""Limits far below the norm."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.clip_share import ClipShare
from tests.checks.optimizer.seen import told


def test_every_update_clipped_far_below_its_norm_is_one_note():
    (finding,) = told(ClipShare(), [{"clip_ratio": 42.0}] * 620)
    assert finding.severity == "note"
    assert finding.message == (
        "step 499, rank 0: 500 of the last 500 updates were clipped, the median norm is 42 times the limit; expected a "
        "limit near the 90th percentile of the "
        "norm. Raise max_norm if that is not meant."
    )


@pytest.mark.parametrize("ratios", [[42.0] * 499, [2.0] * 600, [42.0, 0.5] * 300])
def test_a_limit_that_fits_is_healthy(ratios: list[float]):
    assert told(ClipShare(), [{"clip_ratio": r} for r in ratios]) == []
