"""The line at which a row of a loss that jumped left the range of others becomes that of the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from debugtracer.diagnosis.jump_rows import kept_at, line_of_rows
from debugtracer.hooks.loading.loader_batch import batch_of
from debugtracer.hooks.loading.loader_feed import FetchedRows
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.replay.fetch.sample import pipeline_of
from debugtracer.trace.birth import Frame
from debugtracer.trace.verdict import Verdict
from tests.replay.fetch.pipelines import line_of, module
from tests.replay.fetch.test_followed import batch

ROWS = np.random.default_rng(2).random((12, 4)) + 0.5


def verdict(**changes: Any) -> Verdict:
    plain: dict[str, Any] = {"kind": "data_hard_samples", "cause": "data-hard-samples", "symptom": "loss_spike"}
    return Verdict(**(plain | {"layer": "data", "iteration": 4, "step": 4, "sample_index": (8, 9)} | changes))


def judged(folder: Path, how: str, rows: Any, given: Verdict) -> Verdict | None:
    made, _iterator = batch(module(folder).Rows(how, rows), (8, 9))
    log = BatchLog()
    for indices in ((0, 1), (2, 3), (4, 5)):
        log.add(batch_of(made.loader, FetchedRows(2, indices, ""), 0, 0.0, leaves_of(torch.zeros(2, 3))))
    log.add(made)
    return line_of_rows(given, made, log, pipeline_of(made.loader))


def test_the_line_that_made_it_is_the_lines_to_edit(tmp_path: Path):
    told = judged(tmp_path, "scaled", ROWS, verdict())
    assert told is not None
    assert (told.kind, told.cause, told.line) == (
        "data_range_extreme",
        "data-range-extreme",
        line_of("return x * 1000.0"),
    )
    assert told.pipeline is not None
    assert set(told.pipeline.neighbours) <= {0, 1, 2, 3, 4, 5}


def test_a_stored_record_keeps_the_class(tmp_path: Path):
    rows = ROWS.copy()
    rows[8] *= 500
    told = judged(tmp_path, "stored", rows, verdict())
    assert told is not None
    assert (told.kind, told.line) == ("data_hard_samples", line_of("row = self.table[i]"))


@pytest.mark.parametrize("given", [verdict(kind="lr_too_high"), verdict(sample_index=None)])
def test_what_no_row_has_done_is_left_alone(tmp_path: Path, given: Verdict):
    assert judged(tmp_path, "scaled", ROWS, given) == given


def test_a_row_like_the_others_is_left_alone(tmp_path: Path):
    given = verdict(sample_index=(7,))
    assert judged(tmp_path, "scaled", ROWS, given) == given


def test_the_line_that_makes_what_a_stored_record_is_read_from(tmp_path: Path):
    file = tmp_path / "plants.py"
    file.write_text(
        "class Plants:\n    def __init__(self, rows, given):\n        self.y = torch.tensor([float(r) for r in rows])\n"
        "        self.given = given\n\n    def __getitem__(self, i):\n        return self.given[i], self.y[i]\n"
    )
    read = Frame(str(file), 7, "__getitem__")
    assert (kept_at(read, "self.y[i]").line, kept_at(read, "self.y[i]").function) == (3, "__init__")
    assert kept_at(read, "self.given[i]") == read  # given by somebody else
    assert kept_at(read, "") == read
