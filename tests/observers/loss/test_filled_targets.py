"""Labels that are filled with one number and written in places."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.trace.facts.filled_target import FilledTarget
from tests.observers.told import facts
from tests.watching import under_watch

ROWS, COLUMNS = torch.tensor([0, 1, 2, 2]), torch.tensor([2, 0, 4, 1])
KINDS = torch.tensor([1, 3, 2, 3])


def with_index(scores, target, ignore):
    return F.cross_entropy(scores, target, ignore_index=ignore)


def run(out, wanted, ignore=-100, loss=with_index):
    torch.manual_seed(0)
    model = nn.Linear(3, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(2):
            optimizer.zero_grad()
            scores = model(torch.randn(3, 5, 3))
            loss(scores.flatten(0, 1), wanted().flatten(), ignore).backward()
            optimizer.step()
    return facts(out, FilledTarget)


def placed(fill, kinds=KINDS):
    wanted = torch.full((3, 5), fill)
    wanted[ROWS, COLUMNS] = kinds
    return wanted


def test_written_labels_are_counted_that_are_the_number_of_the_others(tmp_path):
    first, second = run(tmp_path, lambda: placed(3))
    assert (first.fill, first.classes, first.filled, first.written, first.same) == (3, 4, 11, 4, 2)
    assert (first.ref.step, second.ref.step, first.loss) == (0, 1, "cross_entropy")
    assert first.frame.code == "wanted = torch.full((3, 5), fill)" and "F.cross_entropy" in first.loss_frame.code


def test_an_index_of_its_own_has_no_meeting(tmp_path):
    assert {fact.same for fact in run(tmp_path, lambda: placed(0))} == {0}


def test_padding_ignored_numbers_one_kind_and_slices_are_left_alone(tmp_path):
    def padded():
        wanted = torch.zeros(3, 5, dtype=torch.long)
        wanted[torch.arange(5)[None] < torch.tensor([[2], [4], [1]])] = torch.tensor([1, 0, 2, 0, 3, 1, 1])
        return wanted

    def sliced():
        wanted = torch.zeros(3, 5, dtype=torch.long)
        wanted[1, :3] = torch.tensor([1, 0, 2])
        return wanted

    assert run(tmp_path / "a", padded) == []
    assert run(tmp_path / "b", sliced) == []
    assert run(tmp_path / "c", lambda: placed(3), ignore=3) == []
    assert run(tmp_path / "d", lambda: placed(3, torch.tensor([1, 1, 1, 1]))) == []


def test_an_index_by_position_counts_and_losses_of_each_row_may_be_masked_later(tmp_path):
    by_position = lambda scores, target, ignore: F.cross_entropy(scores, target, None, None, ignore)  # noqa: E731
    of_rows = lambda scores, target, ignore: F.cross_entropy(scores, target, reduction="none").mean()  # noqa: E731
    assert run(tmp_path / "a", lambda: placed(3), 3, by_position) == []
    assert run(tmp_path / "b", lambda: placed(3), loss=of_rows) == []
