"""Whether a tensor was written since the last look, and which of them are taken for an average."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from debugtracer.recorder.state.averages import Averages, same


def averages(*roots):
    made = Averages(lambda: list(roots))
    made.held_weights = SimpleNamespace(look=lambda roots, trained: [])
    return made


def test_a_first_look_knows_of_no_write():
    made, tensor = averages(), torch.ones(3)
    assert made.has_moved(tensor) is False and made.has_moved(tensor) is False


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        (lambda t: t.add_(1), True),
        (lambda t: t.add_(0), True),
        (lambda t: t.data.add_(1), True),
        (lambda t: t.data.add_(0), False),
        (lambda t: t.data[15:].add_(1), True),
        (lambda t: t.data[16:].add_(1), False),
    ],
)
def test_a_write_is_known_by_its_version_or_by_the_first_elements(change, moved):
    made, tensor = averages(), torch.ones(20)
    made.has_moved(tensor)
    change(tensor)
    assert made.has_moved(tensor) is moved


def test_elsewhere_it_is_known_by_its_version_alone():
    made, tensor = averages(), torch.ones(3, device="meta")
    assert made.has_moved(tensor) is False and made.has_moved(tensor) is False
    tensor.add_(1)
    assert made.has_moved(tensor) is True


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (torch.ones(2), torch.ones(2), True),
        (torch.ones(2), torch.ones(1), False),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), True),
        (torch.ones(1), torch.ones(1) + 1e-7, False),
    ],
)
def test_values_are_the_same_to_the_bit(a, b, expected):
    assert same(a, b) is expected


def test_a_copy_is_an_average_until_it_was_seen_to_stand_still_and_again_when_it_moves():
    trained, copy = nn.Linear(2, 1), nn.Linear(2, 1)
    made = averages(trained, copy)
    held = list(trained.parameters())
    assert {id(one.tensor) for one in made.copies(held)} == {id(p) for p in copy.parameters()}
    assert made.copies(held) == []
    with torch.no_grad():
        copy.weight.add_(1)
    assert [one.tensor is copy.weight for one in made.copies(held)] == [True]
    assert [one.tensor is copy.weight for one in made.copies(held)] == [True]


@pytest.mark.parametrize(("size", "taken"), [(2, True), (3, False)])
def test_what_is_larger_than_what_is_trained_is_no_average_of_it(size, taken):
    other = nn.Linear(size, 1, bias=False)
    made = averages(other)
    assert bool(made.copies([nn.Parameter(torch.ones(2))])) is taken


def test_what_the_program_keeps_is_copied_again_where_it_was_written():
    trained, kept = nn.Parameter(torch.ones(2)), {"w": torch.ones(2), "step": 3}
    made = averages()
    made.held_weights = SimpleNamespace(look=lambda roots, trained: [kept, [torch.zeros(1)]])
    first = made.copies([trained])
    assert [(one.holder is kept, one.key) for one in first] == [(True, "w"), (False, 0)]
    again = made.copies([trained])
    assert again[0].value is first[0].value
    kept["w"].add_(1)
    assert made.copies([trained])[0].value.tolist() == [2.0, 2.0]
