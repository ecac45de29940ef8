"""A series in a few bins."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.series.overview import level_for
from debugtracer.trace.store.writer import TraceWriter


def a_series(run: Path, values: np.ndarray, sealed: bool) -> None:
    writer = TraceWriter(run, 0, flush_steps=10**6, flush_s=600, segment_flushes=7)
    for step, value in enumerate(values.tolist()):
        writer.point(step, {"loss": value})
        if step % 500 == 499:
            writer.flush()
    writer.flush()
    if sealed:
        writer.close()


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("bins", [1, 7, 40, 5000])
def test_an_overview_counts_every_value_and_keeps_every_extreme(bins: int, sealed: bool, tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=20_000).astype(np.float32)
    values[[5000, 19_999]] = [np.inf, np.nan]
    values[777] = -50.0
    a_series(tmp_path, values, sealed)
    found = open_trace(tmp_path).overview("loss", bins=bins)
    good = values[np.isfinite(values)]
    assert len(found) <= bins
    assert sum(one.n for one in found) == 20_000
    assert sum(one.bad for one in found) == 2
    assert min(one.low for one in found if one.low is not None) == -50.0
    assert max(one.high for one in found if one.high is not None) == good.max()
    total = sum(one.mean * (one.n - one.bad) for one in found if one.mean is not None)
    assert total == pytest.approx(good.astype(np.float64).sum(), abs=1e-3)
    assert [one.step0 for one in found] == sorted({one.step0 for one in found})
    assert (found[0].step0, found[-1].step1) == (0, 19_999)
    low = next(one for one in found if one.low == -50.0)
    assert low.step0 - 32 * (bins < 5000) <= 777 <= low.step1 + 32 * (bins < 5000) + 1024 * (bins == 1)


def test_a_bin_without_a_finite_value_has_no_edges(tmp_path: Path) -> None:
    a_series(tmp_path, np.array([1.0] * 10 + [math.nan] * 10), sealed=False)
    first, second = open_trace(tmp_path).overview("loss", bins=2)
    assert (first.low, first.high, first.mean, first.bad) == (1.0, 1.0, 1.0, 0)
    assert (second.step0, second.step1, second.n, second.low, second.high, second.mean, second.bad) == (
        10,
        19,
        10,
        None,
        None,
        None,
        10,
    )


@pytest.mark.parametrize(
    ("n", "bins", "level"), [(100, 10, 1), (1279, 10, 1), (1280, 10, 32), (40_959, 10, 32), (40_960, 10, 1024)]
)
def test_the_coarsest_rollup_that_is_fine_enough_is_read(n: int, bins: int, level: int) -> None:
    assert level_for(n, bins) == level
