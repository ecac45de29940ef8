"""Programs that cut their batches themselves, under a real session."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.observers.data.stored_rows import StoredRowsObserver
from debugtracer.trace.facts.outlying_batch import OutlyingBatch
from debugtracer.trace.facts.stored_rows import StoredOddity, StoredRows
from tests.observers.runs import a_run
from tests.observers.told import facts, findings
from tests.watching import under_watch


def flowers(mixed=False):
    g = torch.Generator().manual_seed(0)
    kind = torch.arange(4).repeat_interleave(80)
    x = torch.randn(4, 6, generator=g)[kind] + torch.randn(320, 6, generator=g)
    order = torch.randperm(320, generator=g) if mixed else torch.arange(320)
    return x[order], kind[order]


def slices(x, y):
    for k in range(0, len(x), 16):
        yield x[k : k + 16], y[k : k + 16]


def drawn(x, y):
    for rows in torch.randperm(len(x)).split(16):
        yield x[rows], y[rows]


def records(x, y):
    rows = list(zip(x.tolist(), y.tolist(), strict=True))
    for k in range(0, len(rows), 16):
        part = rows[k : k + 16]
        yield torch.tensor([a for a, _ in part]), torch.tensor([b for _, b in part])


def arrays(x, y):
    x, y = x.double().numpy(), y.numpy()
    for k in range(0, len(x), 16):
        yield torch.tensor(x[k : k + 16], dtype=torch.float), torch.from_numpy(y[k : k + 16])


def loader(x, y):
    yield from DataLoader(TensorDataset(x, y), 16)


def everything(x, y):
    yield from [(x, y)] * 20


def anew(x, y):
    for _ in range(20):
        yield torch.randn(16, 6), torch.randint(4, (16,))


def train(out, feed, data, passes=1):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
    x_all, y_all = data
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(passes):
            for x, y in feed(x_all, y_all):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()


@pytest.mark.parametrize("feed", [slices, records, arrays])
def test_classes_in_blocks_are_told_however_the_loop_cuts_its_batches(tmp_path, feed):
    train(tmp_path / "runs", feed, flowers())
    told = facts(tmp_path / "runs", StoredRows)
    assert (told[-1].length, told[-1].rows, told[-1].in_order, told[-1].looks) == (320, 16, True, 3)
    assert [leaf.path for leaf in told[-1].leaves] == ["input", "target"]
    assert [(one.begins, one.period) for one in told] == [(16, 0), (32, 20)]
    assert told[-1].leaves[1].classes == 4
    (finding,) = findings(tmp_path / "runs", "data/class-skew")
    assert "the 320 rows of" in finding.message
    assert finding.place.frame.function in (feed.__name__, "train")


@pytest.mark.parametrize("feed", [slices, records, arrays])
def test_mixed_rows_are_quiet(tmp_path, feed):
    train(tmp_path / "runs", feed, flowers(mixed=True))
    assert facts(tmp_path / "runs", StoredRows)
    assert not findings(tmp_path / "runs", "data/")


def test_drawn_rows_are_quiet(tmp_path):
    train(tmp_path / "runs", drawn, flowers())
    assert not facts(tmp_path / "runs", StoredRows)[-1].in_order
    assert not findings(tmp_path / "runs", "data/")


@pytest.mark.parametrize("feed", [loader, everything, anew])
def test_loaders_all_rows_at_once_and_rows_drawn_anew_are_no_stored_rows(tmp_path, feed):
    train(tmp_path / "runs", feed, flowers())
    assert not facts(tmp_path / "runs", StoredRows)


@pytest.mark.parametrize("anew", [True, False], ids=["cut in each step", "cut once, an overfit test"])
def test_the_same_rows_in_each_step_are_told_where_they_are_cut_anew(tmp_path, anew):
    def stuck(x, y):
        first = x[:16], y[:16]
        for _ in range(210):
            yield (x[:16], y[:16]) if anew else first

    x, y = flowers(mixed=True)
    train(tmp_path / "runs", stuck, (x, y))
    assert {one.same for one in facts(tmp_path / "runs", StoredRows)} == {anew}
    assert len(findings(tmp_path / "runs", "data/restarted-pass")) == anew


def test_a_buffer_that_changes_is_no_data_set(tmp_path):
    def growing(x, y):
        for n in range(10):
            x = torch.cat([x[16:], torch.randn(16, 6)])
            yield x[n : n + 16], y[n : n + 16]

    train(tmp_path / "runs", growing, flowers())
    assert not [f for f in facts(tmp_path / "runs", StoredRows) if any(leaf.path == "input" for leaf in f.leaves)]


def test_a_row_with_a_code_is_named_at_the_step_whose_loss_it_makes_jump(tmp_path):
    rng = np.random.default_rng(0)
    heat = rng.normal(size=(960, 6))
    later = heat.sum(1, keepdims=True)
    heat[770, 2] = -9999.0
    torch.manual_seed(0)
    model = nn.Linear(6, 1)
    with under_watch(tmp_path / "runs"):
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for k in range(0, 960, 16):
            x = torch.tensor(heat[k : k + 16], dtype=torch.float)
            y = torch.tensor(later[k : k + 16], dtype=torch.float)
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    (batch,) = [one for one in facts(tmp_path / "runs", OutlyingBatch) if one.ref.step == 48]
    assert batch.indices == tuple(range(768, 784))
    (odd,) = facts(tmp_path / "runs", StoredOddity)
    assert (odd.ref.step, odd.samples, odd.rows, odd.channel, odd.value) == (48, (770,), (2,), 2, -9999.0)
    (finding,) = findings(tmp_path / "runs", "data/hard-samples")
    assert (finding.severity, finding.place.sample_index) == ("warning", (770,))
    (note,) = findings(tmp_path / "runs", "data/range-extreme")
    assert (note.severity, note.step) == ("note", 1)
    assert "row 770 of 960" in note.message


def test_a_step_that_was_not_seen_to_its_end_is_let_go():
    observer, rows = StoredRowsObserver(a_run()), torch.ones(4, 2)
    observer.note("input", rows)
    assert len(observer.given) == 1
    observer.missed()
    assert observer.given == []
