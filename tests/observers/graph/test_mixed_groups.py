"""Rows that are averaged with rows of other classes, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer import session
from debugtracer.trace.facts.mixed_groups import MixedGroups
from tests.observers.told import facts, findings
from tests.watching import under_watch

WAYS, SHOTS, QUERIES, SIZE, CLASSES = 4, 3, 2, 5, 7


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Episodes:
    def __init__(self, turned, blocks=False):
        self.turned, self.blocks = turned, blocks

    def __len__(self):
        return 4

    def __iter__(self):
        for _ in range(4):
            kinds = torch.randperm(CLASSES)[:WAYS]
            rows = kinds[:, None] * 10 + torch.randperm(10)[: SHOTS + QUERIES]
            if self.blocks:
                yield torch.cat([rows[:, :SHOTS].flatten(), rows[:, SHOTS:].flatten()])
                continue
            yield (rows.t() if self.turned else rows).reshape(-1)


SHOT_BY_SHOT = torch.arange(WAYS).repeat(QUERIES)
BY_CLASS = torch.arange(WAYS).repeat_interleave(QUERIES)


def shots_first(z):
    return z.reshape(SHOTS, WAYS, -1).mean(0)


def ways_first(z):
    return z.view(WAYS, SHOTS, -1).mean(dim=1)


def over_ways(z):
    return z.view(WAYS, SHOTS, -1).mean(0)


def exchanged(z):
    return F.normalize(z, dim=-1).view(WAYS, SHOTS, -1).transpose(0, 1).mean(0)


def apart(z):
    groups = z.reshape(SHOTS, WAYS, -1)
    return groups.mean(0) + (groups - groups.mean(0)).square().mean(0).sqrt()


def trained(folder, sampler, fold, wanted, labels=True, kept=False):
    torch.manual_seed(0)
    kinds = torch.arange(CLASSES).repeat_interleave(10)
    data = TensorDataset(torch.randn(len(kinds), SIZE), *([kinds] if labels else []))
    if kept:
        data.kinds = kinds.tolist()
    net = nn.Sequential(nn.Linear(SIZE, 6), nn.ReLU(), nn.Linear(6, 6))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    with under_watch(folder):
        for batch in DataLoader(data, batch_sampler=sampler):
            x = batch[0]
            middles = fold(net(x[: WAYS * SHOTS]))
            loss = F.cross_entropy(-torch.cdist(net(x[WAYS * SHOTS :]), middles), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@pytest.mark.parametrize("kept", [False, True])
def test_a_sampler_that_hands_out_class_by_class(tmp_path, kept):
    trained(tmp_path, Episodes(False), shots_first, SHOT_BY_SHOT, not kept, kept)
    fact = facts(tmp_path, MixedGroups)[0]
    assert (fact.sizes, fact.dim, fact.turned, fact.asked, fact.sampler) == ((3, 4), 0, False, False, "Episodes")
    assert fact.path == ("" if kept else "batch[1]")
    (found,) = findings(tmp_path, "model/groups-mixed")
    assert "hands the rows out in another order" in found.message


def test_a_view_of_blocks_where_the_targets_follow_them(tmp_path):
    trained(tmp_path, Episodes(False, True), shots_first, BY_CLASS)
    fact = facts(tmp_path, MixedGroups)[0]
    assert (fact.turned, fact.asked, len(fact.labels)) == (False, True, SHOTS)
    (found,) = findings(tmp_path, "model/groups-mixed")
    assert found.message.endswith("Take them apart as (4, 3) and fold dimension 1.")
    assert found.place.frame.function == "shots_first"


def test_the_other_axis_of_the_right_view(tmp_path):
    trained(tmp_path, Episodes(False, True), over_ways, BY_CLASS % SHOTS)
    fact = facts(tmp_path, MixedGroups)[0]
    assert (fact.turned, fact.dim, len(fact.labels)) == (True, 0, WAYS)


def test_axes_that_are_exchanged_count_as_they_lie(tmp_path):
    trained(tmp_path, Episodes(False, True), exchanged, BY_CLASS)
    assert facts(tmp_path, MixedGroups) == []


@pytest.mark.parametrize(
    ("sampler", "fold", "wanted"),
    [
        (Episodes(True), shots_first, SHOT_BY_SHOT),
        (Episodes(False, True), ways_first, BY_CLASS),
        (Episodes(False, True), apart, BY_CLASS),  # deviations from a mean over a batch
    ],
)
def test_groups_of_one_class_and_spreads_are_quiet(tmp_path, sampler, fold, wanted):
    trained(tmp_path, sampler, fold, wanted)
    assert facts(tmp_path, MixedGroups) == []


def test_rows_without_labels_are_quiet(tmp_path):
    trained(tmp_path, Episodes(False), shots_first, SHOT_BY_SHOT, labels=False)
    assert facts(tmp_path, MixedGroups) == []


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    kinds = torch.arange(CLASSES).repeat_interleave(10)
    net = nn.Linear(SIZE, 6)
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["mixed-groups"]
        x, _ = next(iter(DataLoader(TensorDataset(torch.randn(70, SIZE), kinds), batch_sampler=Episodes(False))))
        shots_first(net(x[: WAYS * SHOTS]))
        assert observer.known and observer.groups
        session.dispatcher.missed()
        assert not observer.known and not observer.groups
