"""Boxes of loaders that are mirrored by their dataset, in real sessions."""

from __future__ import annotations

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

from debugtracer import session
from debugtracer.observers.loaders.box_orders import LOOKS
from debugtracer.trace.facts.box_edges import BoxEdges
from tests.observers.loaders.test_box_rows import boxes, mirrored
from tests.observers.told import facts, findings
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Signs(Dataset):
    """Pictures with a box each, mirrored in half of the fetches."""

    def __init__(self, flip, rows=None):
        self.flip, self.rows = flip, boxes(200) if rows is None else rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        box = self.rows[index]
        return torch.randn(6), self.flip(box) if torch.rand(()) < 0.5 else box


def swap_missing(box):
    box = box.clone()
    box[[0, 2]] = 100 - box[[0, 2]]
    return box


def swapped(box):
    box = box.clone()
    box[[0, 2]] = 100 - box[[2, 0]]
    return box


def in_numpy(box):
    box = box.numpy().copy()
    box[[0, 2]] = 100 - box[[0, 2]]
    return torch.from_numpy(numpy.ascontiguousarray(box))


def train(out, data, other=None, epochs=1, collate=None, **options):
    torch.manual_seed(0)
    model = nn.Linear(6, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    with under_watch(out):
        loader = DataLoader(data, 20, shuffle=True, collate_fn=collate, **options)
        held_out = DataLoader(other, 50, collate_fn=collate) if other is not None else []
        for _ in range(epochs):
            for x, y in loader:
                optimizer.zero_grad()
                if isinstance(y, tuple):
                    x, y = torch.stack(x), torch.cat([one["boxes"] for one in y])
                F.mse_loss(model(x), y.float()).backward()
                optimizer.step()
            for x, _ in held_out:
                model(torch.stack(x) if isinstance(x, tuple) else x)
    return facts(out, BoxEdges), findings(out, "box-order")


@pytest.mark.parametrize("workers", [0, 1])
def test_edges_that_are_not_exchanged_are_told_at_their_line(tmp_path, workers):
    found, said = train(tmp_path, Signs(swap_missing), num_workers=workers)
    assert {(f.path, f.low, f.breaks, f.fetched, f.elsewhere) for f in found} == {("batch[1]", 0, True, 8, 0)}
    assert found[0].frame.code == "box[[0, 2]] = 100 - box[[0, 2]]"
    assert [f.severity for f in said] == ["warning"]
    assert 0 < len(found[0].samples) <= 8


def test_targets_in_a_list_of_dicts_are_told(tmp_path):
    def listed(samples):
        return tuple(zip(*[(x, {"boxes": box[None]}) for x, box in samples], strict=True))

    found, _ = train(tmp_path, Signs(swap_missing), collate=listed)
    assert {(f.path, f.breaks) for f in found} == {("batch[1][*]['boxes']", True)}


def test_another_loader_shows_what_the_order_is(tmp_path):
    found, said = train(tmp_path, Signs(in_numpy), TensorDataset(torch.randn(60, 6), boxes(60, 2)))
    assert {(f.path, f.breaks, f.elsewhere) for f in found} == {("batch[1]", False, 50)}
    assert len(said) == 1


def test_boxes_that_are_stored_broken_are_told_beside_others(tmp_path):
    stored = TensorDataset(torch.randn(200, 6), mirrored(boxes(200), 1, 0.3))
    assert train(tmp_path, stored, TensorDataset(torch.randn(60, 6), boxes(60, 2)))[0][0].low == 1


def test_boxes_that_are_broken_everywhere_are_silent(tmp_path):
    stored = TensorDataset(torch.randn(200, 6), mirrored(boxes(200)))
    assert train(tmp_path, stored, TensorDataset(torch.randn(60, 6), mirrored(boxes(60)))) == ([], [])


def test_edges_that_are_exchanged_are_silent_and_nothing_is_fetched_again(tmp_path):
    asked = []
    assert train(tmp_path, Signs(lambda box: asked.append(0) or swapped(box)), Signs(swapped)) == ([], [])
    assert len(asked) <= 260


def test_lane_marks_that_lean_either_way_are_silent(tmp_path):
    """Ends of lines, the far one first: mirroring them is right as it is."""
    lanes = boxes(300)
    lanes[::2] = lanes[::2][:, [2, 1, 0, 3]]
    assert train(tmp_path, Signs(swap_missing, lanes), Signs(swap_missing, lanes[:60])) == ([], [])


def test_fetching_again_changes_no_random_number(tmp_path):
    def drawn(out, flip):
        train(out, Signs(flip))
        return torch.rand(3).tolist()

    assert drawn(tmp_path / "a", swap_missing) == drawn(tmp_path / "b", swapped)


def test_a_loader_without_rows_of_four_is_left_alone(tmp_path):
    data = TensorDataset(torch.randn(60, 6), torch.randn(60, 3))
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path) as watched:
        observer = watched.dispatcher.observers["box-orders"]
        for x, y in DataLoader(data, 10):
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        assert observer.fetched in observer.run.unwanted
        assert not observer.known
        assert max(observer.looks.values()) < LOOKS
