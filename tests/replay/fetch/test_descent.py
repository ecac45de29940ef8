"""The way back from a bad sample: through names, calls and library code to the first expression that made it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from debugtracer.replay.fetch.descent import Descent, Origin
from debugtracer.replay.fetch.line_trace import LineTrace
from tests.replay.fetch.pipelines import line_of, module


def origin(tmp_path: Path, how: str, row: object) -> tuple[Origin | None, Descent]:
    dataset, trace = module(tmp_path).Rows(how, [row]), LineTrace()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sample = trace.run(lambda: dataset[0])  # noqa: F841 - the trace holds it
    trace.visits = [v for v in trace.visits if v.code.co_name != "<lambda>" or "pipeline_code" in v.code.co_filename]
    for visit in trace.visits:  # the lambda of this test is a caller of the user's here
        if visit.parent is not None and visit.parent.code.co_filename == __file__:
            visit.parent = None
    descent = Descent(trace, 0)
    return descent.origin(), descent


def test_the_lines_from_the_sample_to_the_origin(tmp_path: Path):
    found, descent = origin(tmp_path, "by_function", np.ones(3))
    assert found is not None
    assert [frame.line for frame in descent.way] == [
        line_of("return getattr(self, self.how)"),
        line_of("return torch.from_numpy(row)"),
        line_of("row = standardised"),
        line_of("return centred / spread"),
    ]


def test_a_nan_that_is_masked_later_is_not_the_origin(tmp_path: Path):
    found, _ = origin(tmp_path, "masked", np.zeros(3))
    assert found is not None
    assert found.executed.statement.line == line_of("ratio = 1.0 /")


def test_a_stored_value_ends_at_the_store(tmp_path: Path):
    found, _ = origin(tmp_path, "stored", np.array([1.0, np.nan]))
    assert found is not None
    assert found.stored
