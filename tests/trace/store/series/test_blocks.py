"""Blocks and roll-ups against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from debugtracer.trace.store.series.blocks import (
    as_float32,
    bad_rows,
    live_batch,
    one_each,
    points_of,
    series_rows,
    stride_of,
)

floats = st.one_of(st.floats(width=32), st.sampled_from([math.nan, math.inf, -math.inf]))
points = st.lists(st.tuples(st.integers(-(2**62), 2**62), floats), min_size=1, max_size=100)


@given(points)
@settings(max_examples=60, deadline=None)
def test_any_points_survive_the_blocks(written: list[tuple[int, float]]) -> None:
    steps, values = np.array([s for s, _ in written], np.int64), np.array([v for _, v in written], np.float32)
    back_steps, back_values = points_of(series_rows("x", steps, values))
    order = np.argsort(steps, kind="stable")
    np.testing.assert_array_equal(back_steps, steps[order])
    np.testing.assert_array_equal(back_values, values[order])


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1023, 1024, 1025, 5000])
def test_rollups_are_exact(n: int) -> None:
    rng = np.random.default_rng(n)
    values = rng.normal(size=n).astype(np.float32)
    values[rng.random(n) < 0.2] = np.nan
    values[n // 2] = np.inf
    values[64:96] = -np.inf  # a group without any finite value
    rows = series_rows("x", np.arange(n) * 3 + 5, values).to_pylist()
    assert [row["n"] for row in rows] == [1024] * (n // 1024) + [n % 1024] * (n % 1024 > 0)
    for index, row in enumerate(rows):
        block = values[index * 1024 : index * 1024 + 1024]
        good = block[np.isfinite(block)].astype(np.float64)
        assert (row["step0"], row["step1"]) == (index * 3072 + 5, index * 3072 + 5 + 3 * (len(block) - 1))
        assert (row["stride"], row["steps"]) == (3 if len(block) > 1 else 1, None)
        assert row["bad"] == len(block) - len(good)
        assert row["first_bad"] == (
            None if row["bad"] == 0 else row["step0"] + 3 * int(np.flatnonzero(~np.isfinite(block))[0])
        )
        assert (row["min"], row["max"]) == ((good.min(), good.max()) if len(good) else (None, None))
        assert row["sum"] == pytest.approx(good.sum(), abs=1e-9)
        for group in range(len(row["min32"])):
            part = block[group * 32 : group * 32 + 32]
            fine = part[np.isfinite(part)].astype(np.float64)
            assert row["bad32"][group] == len(part) - len(fine)
            assert row["sum32"][group] == pytest.approx(fine.sum(), abs=1e-9)
            if len(fine):
                assert (row["min32"][group], row["max32"][group]) == (fine.min(), fine.max())
            else:
                assert math.isnan(row["min32"][group])


def test_finite_values_beyond_float32_stay_finite_and_others_stay_what_they_are() -> None:
    largest = float(np.finfo(np.float32).max)
    assert as_float32([1e39, -1e300, 1.5]).tolist() == [largest, -largest, 1.5]
    assert as_float32([math.inf, -math.inf]).tolist() == [math.inf, -math.inf]
    assert math.isnan(as_float32([math.nan])[0])


@pytest.mark.parametrize(
    ("steps", "stride"), [([7], 1), ([1, 2, 3], 1), ([0, 5, 10], 5), ([0, 5, 11], 0), ([3, 3], 0), ([3, 2], 0)]
)
def test_a_stride_is_only_that_of_even_ascending_steps(steps: list[int], stride: int) -> None:
    assert stride_of(np.array(steps, np.int64)) == stride


def test_the_last_value_of_a_repeated_step_wins() -> None:
    steps, values = one_each(np.array([3, 1, 3, 2, 1], np.int64), np.array([1, 2, 3, 4, 5], np.float32))
    assert (steps.tolist(), values.tolist()) == ([1, 2, 3], [5.0, 4.0, 3.0])


def test_a_flush_is_one_row_per_series_and_only_uneven_steps_are_spelled_out() -> None:
    batch = live_batch([(0, {"a": 1.0, "b": 2.0}), (1, {"a": 3.0}), (2, {"a": 4.0, "b": 5.0}), (7, {"b": 6.0})])
    assert pa.record_batch(batch).to_pylist() == [
        {"series": "a", "step0": 0, "stride": 1, "steps": None, "values": [1.0, 3.0, 4.0]},
        {"series": "b", "step0": 0, "stride": 0, "steps": [0, 2, 7], "values": [2.0, 5.0, 6.0]},
    ]


def test_bad_rows_are_those_that_hold_a_value_that_is_not_finite() -> None:
    flushes = [
        pa.record_batch(live_batch([(0, {"a": 1.0, "b": math.nan})])),
        pa.record_batch(live_batch([(1, {"a": 1.0, "b": 1.0}), (2, {"a": -math.inf, "b": 1.0})])),
    ]
    table = pa.Table.from_batches(flushes)
    assert [(row["series"], row["step0"]) for row in bad_rows(table).to_pylist()] == [("b", 0), ("a", 1)]
    assert len(bad_rows(pa.Table.from_batches(flushes[:1]).slice(0, 1))) == 0
    assert len(bad_rows(table.slice(1, 3))) == 2
