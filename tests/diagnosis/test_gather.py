"""The facts of an incident, from steps that went wrong."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from debugtracer.diagnosis.gather import plain
from tests.watching import LogHead, batches, only, seeded, train, under_watch


def test_a_bad_loss_has_its_line_and_the_numbers_before(tmp_path):
    with under_watch(tmp_path):
        train(seeded(LogHead), batches(6, bad=4), torch.optim.AdamW, lr=0.01)
    facts = only(tmp_path).facts
    assert facts.symptom_frame.code == "loss = model(x).pow(2).mean()"
    assert (facts.loss, facts.ref.step, facts.ref.iteration, facts.ref.phase) == ("NaN", 4, 4, "loss")
    assert len(facts.recent["loss"]) == 4 and "NaN" not in facts.recent["loss"]


def test_a_bad_gradient_names_parameters_norm_optimizer_and_its_line(tmp_path):
    class Root(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sqrt(super().forward(x) * 0.0)

    model = seeded(lambda: Root(4, 4))
    with under_watch(tmp_path):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        model(batches(1)[0]).sum().backward()
        optimizer.step()
    facts = only(tmp_path).facts
    assert (facts.symptom, facts.ref.phase, facts.birth.direction) == ("inf_grad", "backward", "backward")
    assert facts.bad_params == ("weight", "bias") and float(facts.grad_l2) != float(facts.grad_l2)
    assert (facts.optimizer.kind, facts.optimizer.lr, facts.optimizer.eps, facts.optimizer.param_dtypes) == (
        "AdamW",
        0.01,
        1e-8,
        ("float32",),
    )
    assert facts.optimizer.frame.code == "optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)"
    assert facts.symptom_frame.code == "optimizer.step()"


def test_rows_of_a_loader_s_batch_become_dataset_indices(tmp_path):
    data = torch.rand(12, 4) + 0.5
    data[9, 0] = -1.0
    with under_watch(tmp_path):
        model = seeded(LogHead)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data), batch_size=4)
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
    facts = only(tmp_path).facts
    assert (facts.batch_rows, facts.sample_index, facts.loader.indices) == ((1,), (9,), (8, 9, 10, 11))
    assert (facts.loader.dataset, facts.loader.dataset_len, facts.loader.batch_size) == ("TensorDataset", 12, 4)


def test_the_line_of_a_loss_is_where_it_was_computed_not_where_it_was_divided(tmp_path):
    model = seeded(LogHead)
    with under_watch(tmp_path):
        torch.optim.SGD(model.parameters(), lr=0.1)
        loss = model(batches(1, bad=0)[0]).mean()
        scaled = loss / 4
        scaled.backward()
    assert only(tmp_path).facts.symptom_frame.code == "loss = model(batches(1, bad=0)[0]).mean()"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(torch.tensor(0.5), 0.5), (3, 3.0), (None, None), (float("nan"), "NaN"), (float("inf"), "Infinity"), ("x", None)],
)
def test_a_hyper_parameter_is_a_number_or_nothing(value, expected):
    assert plain(value) == expected


class Graphs(torch.utils.data.Dataset):
    """Points of each graph; those of one lie on one place."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        points = torch.arange(2.0 + index)[:, None] + index / 7
        return points * 0 if index == 4 else points


def of_edges(graphs):
    """Join graphs end to end, with an edge between neighbours."""
    starts = [0, *torch.tensor([len(g) for g in graphs]).cumsum(0).tolist()]
    ends = torch.cat([torch.arange(a, b - 1) for a, b in itertools.pairwise(starts)])
    return torch.cat(graphs), ends, ends + 1


def test_an_edge_of_a_batch_of_graphs_names_its_graph(tmp_path):
    loader = DataLoader(Graphs(), batch_size=3, collate_fn=of_edges)
    with under_watch(tmp_path):
        model = seeded(lambda: nn.Linear(1, 4))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for points, begin, end in loader:
            placed = model(points)
            loss = (placed[begin] - placed[end]).pow(2).sum(-1).sqrt().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert only(tmp_path).facts.sample_index == (4,)
