"""A finite row far from all others: the line where it left their range, or the store that held it so."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from debugtracer.replay.fetch.out_of_range import left_range
from tests.replay.fetch.pipelines import line_of, module
from tests.replay.fetch.test_followed import batch

ROWS = np.random.default_rng(2).random((12, 4)) + 0.5
HEALTHY = (0, 2, 4, 6, 7)


def test_the_line_of_a_branch_that_others_do_not_take(tmp_path: Path):
    made, _iterator = batch(module(tmp_path).Rows("scaled", ROWS), (8, 9))
    found = left_range(made, 8, HEALTHY)
    assert found is not None
    assert (found.kind, found.expression, found.record_clean) == ("range", "x * 1000.0", True)
    assert found.frame is not None
    assert found.frame.line == line_of("return x * 1000.0")
    assert float(found.value or 0) > 400 > 10 > float(found.usual or 0)


def test_a_record_that_is_stored_so(tmp_path: Path):
    rows = ROWS.copy()
    rows[5] *= 500
    made, _iterator = batch(module(tmp_path).Rows("stored", rows), (5, 6))
    found = left_range(made, 5, HEALTHY)
    assert found is not None
    assert (found.kind, found.expression, found.record_clean) == ("stored", "self.table[i]", False)


def test_a_row_like_the_others_has_no_line(tmp_path: Path):
    made, _iterator = batch(module(tmp_path).Rows("scaled", ROWS), (3, 5))
    assert left_range(made, 3, HEALTHY) is None


def test_a_stream_is_refused(tmp_path: Path):
    made, _iterator = batch(module(tmp_path).Stream(ROWS))
    found = left_range(made, 3, HEALTHY)
    assert found is not None
    assert "stream" in found.refused
