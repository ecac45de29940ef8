"""A column that tells the target."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.trace.facts.target_column import TargetColumn
from tests.observers.told import facts, findings
from tests.watching import under_watch


def run(out, x, y, loss_of=lambda given, y: F.mse_loss(given.squeeze(1), y), width=1):
    model = nn.Linear(x.shape[1], width)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for step in range(4):
            rows = slice(step * 10, step * 10 + 10)
            loss = loss_of(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, TargetColumn)


def test_the_target_itself_a_scaled_one_and_a_class_are_seen(tmp_path):
    torch.manual_seed(2)  # ten classes of a slice may all be the same
    x = torch.randn(40, 5)
    assert [(f.column, f.looks, f.equal) for f in run(tmp_path / "a", x, x[:, 3])] == [
        (3, 1, True),
        (3, 2, True),
        (3, 3, True),
    ]
    assert [f.equal for f in run(tmp_path / "b", x, 20 * x[:, 1] - 7)] == [False] * 3
    y = torch.randint(0, 2, (40,))
    x[:, 4] = y.float() * 2 - 1
    assert [f.column for f in run(tmp_path / "c", x, y, F.cross_entropy, 2)] == [4] * 3
    assert [f.severity for f in findings(tmp_path / "c", "target-in-input")] == ["warning"]


def test_noise_sums_and_lines_through_one_number_are_silent(tmp_path):
    x = torch.randn(40, 5)
    assert not run(tmp_path / "a", x, x[:, 3] + 0.05 * torch.randn(40))
    assert not run(tmp_path / "b", x, x.sum(1))
    assert not run(tmp_path / "c", x[:, :1], 2 * x[:, 0] + 1)
    assert not run(tmp_path / "d", x, torch.zeros(40))


def test_a_column_predicted_beside_another_loss_is_a_lesson_of_its_own(tmp_path):
    x = torch.randn(40, 5)
    assert not run(
        tmp_path, x, x[:, 3], lambda given, y: F.mse_loss(given[:, 0], y) + F.mse_loss(given[:, 1], y.detach() ** 2), 2
    )


def test_a_column_that_is_not_finite_tells_nothing(tmp_path):
    x = torch.randn(40, 5)
    y = x.sum(1)
    x[:, 2] = float("nan")
    assert not run(tmp_path, x, y)


def test_a_window_that_reaches_into_the_hour_adds_up_with_the_hour_before(tmp_path):
    walk = torch.randn(64).cumsum(0)
    before = torch.roll(walk, 1)
    table = torch.stack([torch.randn(64), before, torch.randn(64), torch.randn(64), (walk + before) / 2], 1)[1:]
    table, wanted = (table - table.mean(0)) / table.std(0), walk[1:]
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for step in range(4):
            rows = torch.arange(20) + 10 * step
            loss = F.mse_loss(model(table[rows]), wanted[rows, None])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert [(f.together, f.looks, f.equal) for f in facts(tmp_path, TargetColumn)] == [
        ((1, 4), looks, False) for looks in (1, 2, 3)
    ]
    (finding,) = findings(tmp_path, "target-in-input")
    assert "columns 1 and 4 of 5 of the input add up to the target, with the same weights in 3" in finding.message


class Propagated(nn.Module):
    """A layer over the nodes of a sparse graph."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 1)

    def forward(self, adjacency, x):
        return torch.sparse.mm(adjacency, self.linear(x))


def test_the_links_of_a_sparse_graph_are_no_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("DEBUG_TRACER_STRICT", "1")
    adjacency, x, y, model = torch.eye(20).to_sparse(), torch.randn(20, 5), torch.randn(20), Propagated()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(3):
            optimizer.zero_grad()
            F.mse_loss(model(adjacency, x).squeeze(1), y).backward()
            optimizer.step()
    assert not facts(tmp_path, TargetColumn)


def test_a_column_that_alone_lays_the_classes_apart_is_told_of_and_is_no_leak_by_itself(tmp_path):
    torch.manual_seed(4)
    classes = torch.arange(40) % 2
    x = torch.randn(40, 5)
    x[:, 2] = 3.0 * classes + torch.rand(40)
    told = run(tmp_path / "a", x, classes, F.cross_entropy, 2)
    assert [(f.column, f.looks, f.apart) for f in told] == [(2, 3, True)]
    assert not findings(tmp_path / "a", "target-in-input")
    x[5, 2], x[15, 2], x[25, 2] = 0.5, 0.5, 0.5  # one row of each batch lies among the others
    assert not run(tmp_path / "b", x, classes, F.cross_entropy, 2)


def test_two_columns_that_lay_the_classes_apart_and_ties_name_none(tmp_path):
    torch.manual_seed(4)
    classes = torch.arange(40) % 2
    x = torch.randn(40, 5)
    x[:, 2] = 3.0 * classes + torch.rand(40)
    x[:, 4] = torch.rand(40) - 3.0 * classes
    assert not run(tmp_path / "a", x, classes, F.cross_entropy, 2)
    y = torch.randn(40, 5)
    y[:, 1] = 0.0
    assert not run(tmp_path / "b", y, classes, F.cross_entropy, 2)
