"""A sample fetched again and followed: the line, the kind, what it was given; the program is as before."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from debugtracer.hooks.loading.loader_batch import batch_of, info_of_iterator
from debugtracer.hooks.loading.loader_feed import FetchedRows
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch
from debugtracer.replay.fetch.followed import followed, part_of
from debugtracer.trace.pipeline_birth import PipelineBirth
from tests.replay.fetch.pipelines import line_of, module

GOOD = np.arange(24.0).reshape(6, 4) + 1


def table(bad: Any, row: int = 4) -> Any:
    """Six good rows, one of which is replaced."""
    made = GOOD.copy()
    made[row] = bad
    return made


def batch(dataset: Any, indices: tuple[int, ...] | None = (3, 4), number: int = 0, **options: Any) -> tuple[Batch, Any]:
    """A batch as the loader's hook would note it, and the iterator that keeps its dataset alive."""
    iterator = iter(DataLoader(dataset, batch_size=2, **options))
    info = info_of_iterator(iterator)
    info.iterated(iterator)
    info.num_workers = options.get("num_workers", 0)
    leaves = leaves_of(torch.zeros(2, 3))
    return batch_of(info, FetchedRows(2, indices, "why"), number, 0.0, leaves), iterator


def born(dataset: Any, rows: tuple[int, ...] = (1,), path: str = "batch[0]", **options: Any) -> PipelineBirth:
    """Where its second row became bad."""
    made, _iterator = batch(dataset, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = followed(made, path, rows)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("how", "rows", "kind", "line", "expression"),
    [
        ("by_function", table(2.0), "spread", "return centred / spread", "centred / spread"),
        ("by_chain", table(0.0), "log", "return np.log", "np.log(x.sum(keepdims=True))"),
        ("in_place", table(3.0), "spread", "x /= x.abs().max()", "x / x.abs().max()"),
        ("masked", table(5.0), "division", "ratio = 1.0 /", "1.0 / (x[0] - x[1])"),
        ("stored", table(np.nan), "stored", "row = self.table[i]", "self.table[i]"),
        ("parsed", ["1;2"] * 4 + ["1;nan"], "stored", "float(cell) for cell", "float(cell)"),
        ("marked", ["1;2"] * 4 + ["1;-,5"], "written", 'return float("nan")', "float('nan')"),
        ("rooted", table(-1.0), "domain", "math.sqrt(4.0)", "np.sqrt(self.table[i][0])"),
        ("halved", table(1e5), "half", "astype(np.float16)", "self.table[i].astype(np.float16)"),
        ("empty", table(1.0), "empty", "return chosen.mean()", "chosen.mean()"),
    ],
)
def test_the_line_that_made_it(tmp_path: Path, how: str, rows: Any, kind: str, line: str, expression: str):
    found = born(module(tmp_path).Rows(how, rows))
    assert (found.kind, found.expression, found.refused) == (kind if how != "in_place" else "division", expression, "")
    assert found.frame is not None
    assert found.frame.line == line_of(line)
    assert found.index == 4
    assert found.record_clean is ({"stored": False, "written": None}.get(kind, True))


def test_a_collate_fn_is_followed_too(tmp_path: Path):
    made = module(tmp_path)
    flat = np.ones((6, 4))
    found = born(made.Rows("stored", flat), path="batch", collate_fn=made.collated)
    assert (found.kind, found.expression) == ("spread", "(x - x.mean(0)) / x.std(0)")


def test_a_stream_is_read_again_up_to_its_place(tmp_path: Path):
    found = born(module(tmp_path).Stream(table(0.0)), path="batch")
    assert (found.kind, found.frame and found.frame.line) == ("division", line_of("share = row / row.sum()"))


def test_a_stream_that_gives_other_samples_is_refused(tmp_path: Path):
    assert "other samples" in born(module(tmp_path).Stream(GOOD), path="batch").refused


def test_a_sample_that_the_dataset_has_kept_is_made_anew(tmp_path: Path):
    dataset = module(tmp_path).Rows("kept", table(2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset[4]
    assert born(dataset).kind == "spread"
    assert 4 in dataset.samples


def test_where_the_expression_cannot_be_told_the_line_is(tmp_path: Path):
    found = born(module(tmp_path).Rows("consumed", GOOD))
    assert (found.kind, found.expression) == ("unknown", "")
    assert found.frame is not None
    assert found.frame.line == line_of("return np.log(next(rows))")


def test_a_value_that_is_drawn_is_fetched_until_it_is_bad(tmp_path: Path):
    made, _iterator = batch(module(tmp_path).Rows("drawn", GOOD))
    torch.manual_seed(1)  # the first draw is above a half
    found = followed(made, "batch[0]", (1,))
    assert found is not None
    assert found.kind == "division"
    assert found.fetches > 1


def test_a_sample_that_is_good_now_is_refused_with_the_reason(tmp_path: Path):
    assert "finite" in born(module(tmp_path).Rows("by_function", GOOD)).refused


def test_without_indices_the_reason_is_the_loaders(tmp_path: Path):
    assert born(module(tmp_path).Rows("by_function", GOOD), indices=None).refused == "why"


def test_a_dataset_of_torch_hands_it_out_from_its_store():
    dataset = torch.utils.data.TensorDataset(torch.tensor(table(np.nan)))
    found = born(dataset)
    assert (found.kind, found.frame, found.refused) == ("stored", None, "")


def test_the_program_is_as_before(tmp_path: Path):
    dataset = module(tmp_path).Rows("by_function", table(2.0))
    made, _iterator = batch(dataset)
    before = random.getstate(), torch.get_rng_state(), np.random.get_state()[1].copy()
    assert followed(made, "batch[0]", (1,)) is not None
    assert (dataset.asked, dataset.cache) == (0, {})
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])
    assert np.array_equal(np.random.get_state()[1], before[2])


def test_a_guard_is_derived_and_makes_the_expression_finite(tmp_path: Path):
    made = module(tmp_path)
    assert born(made.Rows("by_function", table(2.0))).guard == "return centred / np.maximum(spread, 1e-6)"
    assert born(made.Rows("by_chain", table(0.0))).guard == "return np.log(np.maximum(x.sum(keepdims=True), 1e-10))"
    assert born(made.Rows("halved", table(1e5))).guard == "return self.table[i].astype(np.float32)"
    assert born(made.Rows("rooted", table(-1.0))).guard == ""


@pytest.mark.parametrize(("path", "part"), [("batch[1]", 1), ("batch['x']", "x"), ("batch", None)])
def test_the_part_of_a_sample(path: str, part: Any):
    assert part_of(path) == part


def reversed_rows(samples: Any) -> Any:
    return torch.stack(sorted(samples, key=float, reverse=True))


def test_where_rows_are_sorted_the_sample_is_the_one_that_comes_out_bad(tmp_path: Path):
    values = module(tmp_path).Rows("by_function", table(2.0))
    found = born(values, rows=(0,), collate_fn=reversed_rows)  # index 4 is bad, and its row would be the second
    assert (found.index, found.bad_samples, found.kind) == (4, (4,), "spread")
    assert found.frame is not None
    assert found.frame.code.startswith("return centred / spread")


def test_without_a_known_row_every_sample_is_fetched_and_only_that_is_said(tmp_path: Path):
    found = born(module(tmp_path).Rows("stored", table(np.nan)), rows=())
    assert (found.index, found.bad_samples, found.kind) == (4, (4,), "stored")
    refused = born(module(tmp_path).Rows("by_function", GOOD), rows=()).refused
    assert refused == "fetched again all samples of the batch are finite: it depends on what was drawn before"
