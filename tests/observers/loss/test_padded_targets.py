"""Padding among targets."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.loss.padded_targets import ending, ends_before, rows_of
from debugtracer.trace.facts.padded_targets import PaddedTargets
from tests.observers.told import facts
from tests.watching import under_watch


def padded(rows=16, pad=0):
    """Ids of 1..8, ended by padding at different places."""
    made = torch.Generator().manual_seed(2)
    ids = torch.randint(1, 9, (rows, 12), generator=made)
    lengths = torch.randint(2, 8, (rows, 1), generator=made)
    return torch.where(torch.arange(12) < lengths, ids, torch.full_like(ids, pad))


class Tagger(nn.Module):
    """Scores of each position."""

    def __init__(self, known):
        super().__init__()
        self.table = nn.Embedding(10, 6, padding_idx=0 if known == "table" else None)
        self.head, self.known = nn.Linear(6, 10), known

    def forward(self, ids):
        states = self.table(ids)
        return self.head(states * (ids != 0).unsqueeze(2) if self.known == "mask" else states)


def run(out, known="table", target=None, loss_of=None):
    model, ids = Tagger(known), padded()
    target = ids if target is None else target
    loss_of = loss_of or (lambda scores, target: nn.functional.cross_entropy(scores.transpose(1, 2), target))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(2):
            optimizer.zero_grad()
            loss_of(model(ids), target).backward()
            optimizer.step()
    return facts(out, PaddedTargets)


def test_it_is_known_by_the_table_or_by_a_comparison(tmp_path):
    (fact,) = run(tmp_path / "a")
    assert (fact.pad, fact.rows, fact.known_by) == (0, 16, "Embedding(padding_idx=0)")
    assert float(fact.share) == float((padded() == 0).double().mean())
    (other,) = run(tmp_path / "b", "mask")
    assert (other.known_by, other.known_frame.function) == ("a comparison", "Tagger.forward")


def test_flat_targets_are_seen_through_their_view(tmp_path):
    flat = lambda scores, target: nn.functional.cross_entropy(scores.flatten(0, 1), target.view(-1))  # noqa: E731
    assert len(run(tmp_path, loss_of=flat)) == 1


@pytest.mark.parametrize(
    "more",
    [
        {"ignore_index": 0},
        {"weight": torch.tensor([0.0] + [1.0] * 9)},
        {"reduction": "none"},
    ],
)
def test_a_loss_that_leaves_it_out_is_silent(tmp_path, more):
    def loss_of(scores, target):
        return nn.functional.cross_entropy(scores.transpose(1, 2), target, **more).mean()

    assert run(tmp_path, loss_of=loss_of) == []


def test_an_id_that_nobody_calls_padding_is_silent(tmp_path):
    assert run(tmp_path, "") == []


def test_ends_that_are_no_padding():
    assert ending(torch.randint(0, 9, (16, 12), generator=torch.Generator().manual_seed(0))) is None
    assert ending(torch.full((16, 12), 3)) is None  # one class in all positions
    assert ending(padded()) is not None
    assert rows_of(torch.zeros(5, dtype=torch.long)) is None


def shifted(scores, target):
    return nn.functional.cross_entropy(scores[:, 1:].flatten(0, 1), target[:, 1:].flatten())


def time_first(scores, target):
    return nn.functional.cross_entropy(scores.transpose(0, 1).reshape(-1, 10), target.t().reshape(-1))


@pytest.mark.parametrize("loss_of", [shifted, time_first])
def test_targets_that_were_copied_flat_are_seen_as_rows(tmp_path, loss_of):
    (fact,) = run(tmp_path, loss_of=loss_of)
    assert (fact.pad, fact.rows) == (0, 16)


def test_rows_of_one_length_that_were_copied_flat_are_silent(tmp_path):
    full = torch.randint(1, 9, (16, 12), generator=torch.Generator().manual_seed(2))
    assert run(tmp_path, target=full, loss_of=shifted) == []


def test_an_ignored_id_that_no_target_is_says_that_another_was_meant(tmp_path):
    def ignoring(id):
        return lambda scores, target: nn.functional.cross_entropy(scores.transpose(1, 2), target, ignore_index=id)

    (fact,) = run(tmp_path / "a", "", loss_of=ignoring(9))
    assert (fact.pad, fact.known_by, fact.ignores_none) == (0, "", 9)
    assert run(tmp_path / "b", "", loss_of=ignoring(5)) == []  # some targets are 5
    assert run(tmp_path / "c", "", loss_of=ignoring(-100)) == []  # the default


def test_the_longest_rows_of_a_batch_have_no_padding():
    target = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 0, 0], [1, 0, 0, 0]])
    assert ending(target) == (0, 5 / 16)
    assert ending(target[:3]) is None  # one place of an end is any last word


def test_the_criterion_has_its_line_and_the_end_that_it_leaves_out_is_said(tmp_path):
    ids = padded()
    ids[torch.arange(16), (ids != 0).sum(1) - 1] = 9
    criterion = nn.CrossEntropyLoss(ignore_index=9)
    (fact,) = run(tmp_path, target=ids, loss_of=lambda scores, target: criterion(scores.transpose(1, 2), target))
    assert fact.built.code == "criterion = nn.CrossEntropyLoss(ignore_index=9)"
    assert fact.ignores_end == 9


def test_what_ends_the_rows_before_their_padding():
    rows = torch.tensor([[3, 4, 9, 0], [3, 9, 0, 0], [4, 4, 4, 9]])
    assert ends_before(rows, 0, 9)
    assert not ends_before(rows, 0, 4)
    assert not ends_before(rows, 0, 0)
    assert not ends_before(rows, 0, -100)
