"""Which buffers of a root are copied, when one has moved, and what stands in the place of a parameter."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.recorder.state import roots as module
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.state.roots import Root, Roots, unwrapped


class Counting(nn.Module):
    """Holds a buffer that a call may change, and one that is empty."""

    def __init__(self, **buffers) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(2))
        self.register_buffer("none", None)
        for name, value in buffers.items():
            self.register_buffer(name, value)


def a_root(model):
    return Roots().add(model, model)


def moving(model, change):
    """The names of the buffers that were seen to move in one call."""
    root = a_root(model)
    root.before()
    change(model)
    root.after()
    return sorted(name for _, name in root.moving)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda m: None, []),
        (lambda m: m.seen.add_(1), ["seen"]),
        (lambda m: m.seen.data.add_(1), ["seen"]),
        (lambda m: m.seen.data.add_(0), []),
    ],
)
def test_a_buffer_moves_by_a_version_or_by_its_values(change, found):
    assert moving(Counting(), change) == found


def test_a_sparse_buffer_moves_by_its_version_alone():
    assert moving(Counting(table=torch.eye(2).to_sparse()), lambda m: m.seen.add_(1)) == ["seen"]
    assert moving(Counting(table=torch.ones(2, device="meta")), lambda m: None) == []


@pytest.mark.parametrize(
    ("training", "found"), [(True, ["num_batches_tracked", "running_mean", "running_var"]), (False, [])]
)
def test_the_statistics_of_a_norm_move_in_training(training, found):
    assert moving(nn.BatchNorm1d(2).train(training), lambda m: None) == found


def test_after_enough_calls_only_what_moved_is_copied():
    model = Counting(still=torch.zeros(1))
    root = a_root(model)
    for _ in range(3):
        assert len(root.before().buffers) == (2 if root.calls[True] == 0 else len(root.moving))
        model.seen.add_(1)
        root.after()
    assert [buffer is model.seen for buffer in root.moving_buffers()] == [True]
    assert len(root.before().buffers) == 1 and root.values == {}


@pytest.mark.parametrize(("less", "copied"), [(0, 1), (1, 0)])
def test_buffers_that_are_too_large_are_copied_once_they_are_known_to_move(monkeypatch, less, copied):
    model = Counting()
    monkeypatch.setattr(module, "FIRST_COPY_BYTES", held_bytes(model.seen) - less)
    root = a_root(model)
    assert len(root.before().buffers) == copied


def test_a_buffer_that_is_gone_is_no_buffer_that_moves():
    model = Counting()
    root = a_root(model)
    root.before()
    model.seen.add_(1)
    root.after()
    model.seen = None
    assert root.moving_buffers() == []
    del model.seen
    assert root.moving_buffers() == []
    del model
    assert root.moving_buffers() == []


def test_a_parameter_that_was_exchanged_is_told():
    model = nn.Linear(2, 1)
    root = a_root(model)
    assert root.swapped(model) == {}
    swapped = {}

    def told(*asked):
        swapped.update(root.swapped(model))
        return torch.zeros(1)

    model.register_forward_hook(lambda *given: told())
    torch.func.functional_call(model, {"weight": torch.ones(1, 2), "bias": torch.ones(1)}, (torch.ones(1, 2),))
    assert sorted(swapped) == ["bias", "weight"]
    assert a_root(nn.Identity()).swapped(nn.Identity()) == {}
    scripted = torch.jit.script(nn.Linear(2, 1))
    assert a_root(scripted).swapped(scripted) == {}


def test_only_what_torch_wraps_is_unwrapped():
    inner, outer = nn.Linear(1, 1), nn.Module()
    outer.module = inner
    assert unwrapped(outer) is outer and unwrapped(inner) is inner


def test_a_root_is_a_root():
    assert isinstance(a_root(nn.Linear(1, 1)), Root)
