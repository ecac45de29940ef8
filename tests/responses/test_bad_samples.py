"""A sample that is bad in itself costs one update, not one in every pass."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from debugtracer.errors import StoppedByTracer
from debugtracer.responses.bad_samples import bad_rows, is_bad
from debugtracer.trace.events import Noted
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.skip_list import SKIPPED, read_skip_list
from tests.responses.loops import a_model, actions, adam
from tests.watching import events, under_watch


class Rows(Dataset[torch.Tensor]):
    """Rows of which some hold a NaN."""

    def __init__(self, count: int, bad: tuple[int, ...]) -> None:
        made = torch.Generator().manual_seed(5)
        self.x = torch.randn(count, 4, generator=made)
        self.x[list(bad), 1] = math.nan
        self.read: list[int] = []

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> torch.Tensor:
        self.read.append(index)
        return self.x[index]


def train(rows: Rows, passes: int, workers: int = 0) -> int:
    """Train, and answer in how many batches the loop has met a NaN."""
    torch.manual_seed(0)
    model = a_model()
    optimizer = adam(model.parameters())
    loader: DataLoader[Any] = DataLoader(rows, batch_size=4, shuffle=True, num_workers=workers)
    met = 0
    for _ in range(passes):
        for x in loader:
            met += bool(x.isnan().any())
            optimizer.zero_grad()
            (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
            optimizer.step()
    assert all(bool(p.isfinite().all()) for p in model.parameters())
    return met


@pytest.mark.parametrize("workers", [0, 2])
def test_one_bad_sample_spends_one_skip_in_thirty_passes(tmp_path: Path, workers: int) -> None:
    rows = Rows(24, (7,))
    with under_watch(tmp_path, "prod"):
        met = train(rows, 30 if not workers else 6, workers)
    assert met == 1
    done = actions(tmp_path)
    assert [a.action for a in done] == ["skip-update", "skip-sample"]
    assert done[1].samples == (7,) and "1 sample of Rows of 24 samples left out from now on (7)" in done[1].reason
    assert read_skip_list(open_trace(tmp_path).path / SKIPPED) == {"Rows of 24 samples": {7}}
    assert workers or rows.read.count(7) <= 2  # the loop, and the look at what the dataset hands out


def test_after_the_first_bad_batch_others_are_dropped_before_the_forward(tmp_path: Path) -> None:
    rows = Rows(48, (7, 19, 33))
    with under_watch(tmp_path, "prod"):
        met = train(rows, 5)
    assert met == 1  # the loop saw no other
    done = [a.action for a in actions(tmp_path)]
    assert done[:2] == ["skip-update", "skip-sample"]
    assert done.count("skip-batch") <= 2 and set(done) <= {"skip-update", "skip-sample", "skip-batch"}
    assert read_skip_list(open_trace(tmp_path).path / SKIPPED) == {"Rows of 48 samples": {7, 19, 33}}


def test_a_later_run_honours_the_list_in_every_mode(tmp_path: Path) -> None:
    with under_watch(tmp_path / "a", "prod"):
        train(Rows(24, (7,)), 2)
    listed = open_trace(tmp_path / "a").path / SKIPPED
    rows = Rows(24, (7,))
    with under_watch(tmp_path / "b", "observe", skip_list=listed):
        assert train(rows, 3) == 0
    assert 7 not in rows.read


def test_a_dataset_of_bad_samples_is_no_case_for_a_list(tmp_path: Path) -> None:
    rows = Rows(240, tuple(range(0, 240, 2)))
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        train(rows, 1)
    assert len(actions(tmp_path)) <= 45
    assert actions(tmp_path)[-1].action == "stop"
    assert any(isinstance(e, Noted) and "stays in: more than 0.5 %" in e.text for e in events(tmp_path))


def test_values_are_judged_by_rows() -> None:
    leaf = torch.ones(4, 2, 2)
    assert not is_bad(leaf) and not is_bad(torch.full((3,), 3e38))
    leaf[1, 0, 1], leaf[3] = math.inf, math.nan
    assert is_bad(leaf) and list(bad_rows(leaf)) == [1, 3]
    assert not is_bad(torch.zeros(0)) and list(bad_rows(torch.tensor(math.nan))) == []
