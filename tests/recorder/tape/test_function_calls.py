"""Facts about one function call on the tape: what is written before it, after it, and not at all."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.recorder.tape.entry import Leaf
from debugtracer.recorder.tape.function_calls import finish, own_generators, prepare
from debugtracer.recorder.tape.functions import GRAD_GET, meaning
from debugtracer.recorder.tape.step_tape import Tape


@pytest.fixture
def tape() -> Tape:
    return Tape(lambda: ())


def call(tape: Tape, function: Any, *args: Any, **kwargs: Any) -> Any:
    """What the function mode does."""
    pending = prepare(tape, meaning(function), function, args, kwargs)
    output = function(*args, **kwargs)
    if pending is not None:
        finish(tape, meaning(function), function, pending, output)
    return output


def test_a_call_on_tensors_is_an_entry(tape: Tape) -> None:
    x = torch.ones(2)
    call(tape, torch.add, x, 1, alpha=3)
    (entry,) = tape.current.entries
    assert (entry.args[0].tensor, entry.args[1:], entry.kwargs) == (x, (1,), {"alpha": 3})
    assert entry.outputs == 1


def test_a_call_on_tensors_in_keywords_is_an_entry(tape: Tape) -> None:
    x = torch.ones(2)
    call(tape, torch.exp, input=x)
    assert tape.current.entries[0].kwargs["input"].tensor is x


def test_a_call_without_tensors_is_a_constant(tape: Tape) -> None:
    made = call(tape, torch.zeros, 2)
    (entry,) = tape.current.entries
    assert entry.kind == "const"
    assert [leaf.tensor for leaf in tape.all_leaves()] == [made]


def test_what_gives_no_tensor_and_changes_none_is_left_out(tape: Tape) -> None:
    call(tape, torch.numel, torch.ones(2))
    assert tape.current.entries == []


def test_a_constant_written_later_keeps_its_first_value(tape: Tape) -> None:
    made = call(tape, torch.zeros, 2)
    call(tape, torch.Tensor.add_, made, 1)
    assert tape.all_leaves()[0].saved.tolist() == [0.0, 0.0]


def test_a_leaf_given_other_memory_is_found_by_a_write_to_it(tape: Tape) -> None:
    x, memory = torch.ones(2), torch.full((2,), 5.0)
    call(tape, torch.exp, x)
    call(tape, torch.Tensor.neg_, torch.zeros(1))
    call(tape, torch.Tensor.set_, x, memory)
    leaf = tape.current.entries[0].args[0]
    assert isinstance(leaf, Leaf)
    leaf.saved = None  # as if the first write had not been seen
    call(tape, torch.Tensor.add_, memory[:1], 1)
    assert leaf.saved is not None


def test_weights_written_by_hand_are_not_recorded(tape: Tape) -> None:
    weight = nn.Parameter(torch.ones(2))
    with torch.no_grad():
        call(tape, torch.Tensor.mul_, weight, 0.5)
    assert tape.current.entries == []


def test_the_generators_of_a_call_are_found() -> None:
    made = torch.Generator()
    assert own_generators((1, made), {"generator": made}) == [made, made]


def test_a_full_segment_takes_nothing(tape: Tape) -> None:
    tape.overflow()
    call(tape, torch.exp, torch.ones(1))
    call(tape, torch.zeros, 2)
    assert (tape.current.entries, tape.all_leaves()) == ([], [])


@pytest.mark.parametrize(("last", "kind"), [("backward", "const"), ("step", "fn")])
def test_a_gradient_that_ended_the_last_segment_is_kept_as_a_value(tape: Tape, last: Any, kind: str) -> None:
    """A loop that updates by hand reads it then; one with an optimizer makes its gradients anew."""
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.full((2,), 3.0)
    tape.close(tape.open(last, None, (), {}), None)
    tape.boundary(1, 1)
    call(tape, GRAD_GET, weight)
    assert tape.current.entries[-1].kind == kind
    tape.close(tape.open("backward", None, (), {}), None)
    tape.current.backwards.append(1)
    call(tape, GRAD_GET, weight)
    assert tape.current.entries[-1].kind == "fn"


@torch.no_grad()
def test_a_write_that_is_not_recorded_is_noted_with_what_made_its_value(tape: Tape) -> None:
    weight, total = nn.Parameter(torch.ones(2)), torch.ones(2)
    value = call(tape, torch.div, total, 2.0)
    call(tape, Tensor.copy_, weight, value)
    assert [entry.kind for entry in tape.current.entries] == ["fn"]
    ((written, write),) = tape.current.own_writes.all()
    assert written is weight
    assert (write.function, write.replayed, write.source) == ("copy_", False, ())
    call(tape, torch.mul, weight, 2.0)
    call(tape, Tensor.mul_, weight, 0.5)
    assert tape.current.own_writes.all()[0][1].replayed
