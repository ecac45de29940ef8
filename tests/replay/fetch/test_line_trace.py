"""Tracing of the user's files: which line turned which name, which call gave it back, and its bounds."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from debugtracer.replay.fetch import line_trace
from debugtracer.replay.fetch.line_trace import LineTrace, TooLong
from tests.replay.fetch.pipelines import line_of, module


def test_the_line_that_turned_a_name_and_its_values_before(tmp_path: Path):
    made, trace = module(tmp_path), LineTrace()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace.run(lambda: made.standardised(np.ones(3)))
    visit = next(v for v in trace.visits if v.code.co_name == "standardised")
    assert visit.returned_bad
    assert visit.last is not None
    assert visit.last.statement.line == line_of("return centred / spread")
    assert list(visit.last.before["spread"].reshape(-1)) == [0.0]


def test_names_of_the_module_are_no_locals_that_are_not_set_yet(tmp_path: Path):
    made, trace = module(tmp_path), LineTrace()
    made.centred = np.array([np.nan])  # a global of the same name, as a script's loop leaves it
    trace.run(lambda: made.standardised(np.array([1.0, 3.0])))
    assert trace.turns == []
    assert not trace.visits[0].returned_bad


def test_libraries_are_not_followed():
    trace = LineTrace()
    trace.run(lambda: np.linspace(0, 1, 5))
    assert all("site-packages" not in v.code.co_filename for v in trace.visits)


def test_too_many_lines_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_trace, "LINES", 2)
    made = module(tmp_path)
    with pytest.raises(TooLong):
        LineTrace().run(lambda: made.standardised(np.ones(3)))


def test_a_tracer_that_was_there_is_put_back(tmp_path: Path):
    before = sys.gettrace()
    made = module(tmp_path)

    def other(*_: object) -> None:
        return None

    sys.settrace(other)
    try:
        LineTrace().run(lambda: made.standardised(np.array([1.0, 3.0])))
        assert sys.gettrace() is other
    finally:
        sys.settrace(before)
