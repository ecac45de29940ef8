"""Models that take their rows in another order, and put them back or not."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from debugtracer.observers.model.recorded_call import RecordedCall
from debugtracer.observers.model.row_order_trial import in_batch_order, is_order, row_order, with_row
from debugtracer.observers.model.shadow_model import ShadowModel
from debugtracer.observers.model.stilled_draws import StilledDraws

ROWS = 12
DRAWN = torch.Generator().manual_seed(1)
SOUND = torch.randn(ROWS, 9, 3, generator=DRAWN)
WORDS = torch.randint(1, 20, (ROWS, 9), generator=DRAWN)
LENGTHS = torch.tensor([5, 9, 3, 7, 4, 8, 6, 2, 9, 5, 3, 7])


class Listener(nn.Module):
    """Sorts by length, and takes what comes out by `back` of the order."""

    def __init__(self, back, noise: float = 0.0) -> None:
        super().__init__()
        self.back, self.noise = back, noise
        self.words = nn.Embedding(20, 3)
        self.rnn = nn.GRU(3, 5, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        x = x if x.is_floating_point() else self.words(x)
        lengths, order = lengths.sort(descending=True, stable=True)
        _, last = self.rnn(pack_padded_sequence(x[order], lengths, batch_first=True))
        heard = last[0] + self.noise * torch.randn(last[0].shape)
        return self.back(heard, order)


def again(heard, order):
    return heard[order]


def by_index(heard, order):
    return heard.index_select(0, order)


def tried(model: nn.Module, x: Tensor, lengths: Tensor = LENGTHS):
    torch.manual_seed(0)
    return row_order(StilledDraws(ShadowModel(model, [])), RecordedCall(model, (x, lengths), {}))


@pytest.mark.parametrize("x", [SOUND, WORDS])
@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("back", [again, by_index])
def test_an_order_that_is_taken_twice_is_found_with_both_lines(x, noise, back):
    found = tried(Listener(back, noise), x)
    assert found is not None
    assert (found["function"], found["position"] >= 6) == ("again", True)
    assert ("heard" in found["frame"].code, "x[order]" in found["made"][0].code) == (True, True)


def test_an_order_that_is_never_taken_back_is_found_at_its_line():
    found = tried(Listener(lambda heard, order: heard), SOUND)
    assert found is not None and found["function"] == "" and "x[order]" in found["frame"].code


class Masked(Listener):
    """Puts a mask in the order of its rows, too."""

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        lengths, order = lengths.sort(descending=True, stable=True)
        kept = x[order]
        shown = (x != 0)[order]
        return self.rnn(pack_padded_sequence(kept * shown, lengths, batch_first=True))[1][0]


def test_two_tensors_in_one_order_are_not_one_that_is_taken_twice():
    found = tried(Masked(None), SOUND)
    assert found is not None and found["function"] == ""


@pytest.mark.parametrize(
    "back",
    [
        lambda heard, order: heard[order.argsort()],
        lambda heard, order: torch.empty_like(heard).index_copy_(0, order, heard),
        lambda heard, order: heard[order.argsort()] + heard.mean(0),  # rows see each other
    ],
)
def test_what_puts_its_rows_back_or_mixes_them_is_silent(back):
    assert tried(Listener(back), SOUND) is None
    assert tried(Listener(back, 1.0), WORDS) is None


def test_a_model_without_an_order_and_a_batch_that_is_sorted_already_are_silent():
    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.out = nn.Linear(3, 2)

        def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
            return self.out(x.mean(1))

    assert tried(Plain(), SOUND) is None
    assert tried(Listener(again), SOUND, LENGTHS.sort(descending=True).values) is None


def test_six_rows_are_the_least():
    assert tried(Listener(again), SOUND[:5], torch.tensor([2, 5, 9, 3, 7])) is None
    assert tried(Listener(again), SOUND[:6], torch.tensor([2, 5, 9, 3, 7, 4])) is not None


def test_an_order_holds_each_row_once_and_not_in_its_place():
    assert is_order(torch.tensor([1, 0, 2]), 3)
    for index in (torch.arange(3), torch.tensor([1, 1, 0]), torch.tensor([0.0, 2.0, 1.0]), torch.tensor([1, 0])):
        assert not is_order(index, 3)
    assert not is_order(torch.tensor([[1, 0, 2]]), 3)


def test_one_row_is_changed_and_its_length_stays():
    words = torch.tensor([[7, 7, 3, 0], [5, 4, 0, 0]])
    assert with_row(words, 0, 2).tolist() == [[7, 3, 7, 0], [5, 4, 0, 0]]
    assert with_row(torch.tensor([3, 2]), 0, 2).tolist() == [3, 2]
    values = torch.tensor([[2.0, 4.0], [4.0, 8.0]])
    assert with_row(values, 0, 2).tolist() == [[3.0, 6.0], [4.0, 8.0]]
    assert with_row("text", 0, 2) == "text"


def test_targets_stand_in_the_order_of_the_batch_as_they_are_or_moved_on_by_one():
    leaf = torch.arange(24).reshape(6, 4)
    assert in_batch_order(leaf.flatten(), [torch.zeros(6), leaf])
    assert in_batch_order(leaf[:, 1:].flatten(), [leaf])
    assert in_batch_order(leaf[:, :2], [leaf])
    assert not in_batch_order(leaf.flip(0), [leaf])
    assert not in_batch_order(torch.ones(6), [torch.ones(6)])  # any order is its own
    assert not in_batch_order(leaf[:5], [leaf[:5]])
