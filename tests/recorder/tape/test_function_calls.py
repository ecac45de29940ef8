"""Facts about one function call on the tape: what is written before it, after it, and not at all."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.recorder.tape.entry import Leaf
from debugtracer.recorder.tape.function_calls import (
    MOST_MADE,
    finish,
    is_idle,
    is_older_gradient,
    is_untaped,
    made_there,
    own_generators,
    prepare,
)
from debugtracer.recorder.tape.functions import GRAD_GET, FunctionMeaning, meaning
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


@pytest.mark.parametrize(
    ("function", "args", "drawn"),
    [
        (torch.nn.functional.dropout, (torch.ones(2),), True),
        (Tensor.uniform_, (torch.ones(2),), True),
        (Tensor.add_, (torch.ones(2), 1), False),
        (torch.exp, (torch.ones(2),), False),
    ],
)
def test_what_draws_numbers_keeps_the_state_of_the_generator(
    tape: Tape, function: Any, args: tuple[Any, ...], drawn: bool
) -> None:
    call(tape, function, *args)
    assert (tape.current.entries[0].rng is not None) is drawn


def test_a_random_draw_from_a_tensor_is_kept_as_a_value(tape: Tape) -> None:
    call(tape, torch.bernoulli, torch.full((2,), 0.5))
    assert [entry.kind for entry in tape.current.entries] == ["const"]


def test_a_call_on_a_list_of_tensors_is_an_entry(tape: Tape) -> None:
    call(tape, torch.stack, [torch.ones(2), torch.ones(2)])
    call(tape, torch.chunk, torch.ones(4), 2)
    assert [(entry.kind, entry.outputs) for entry in tape.current.entries] == [("fn", 1), ("fn", 2)]


def test_what_a_call_writes_into_is_copied_before(tape: Tape) -> None:
    x, out, y = torch.ones(2), torch.full((2,), 7.0), torch.full((2,), 3.0)
    for read in (out, y):
        call(tape, torch.exp, read)
    call(tape, torch.add, x, 1, out=out)
    call(tape, Tensor.copy_, y, x)
    saved = [tape.current.leaves[id(t)].saved for t in (x, out, y)]
    assert saved[0] is None
    assert [one.tolist() for one in saved[1:] if one is not None] == [[7.0, 7.0], [3.0, 3.0]]


@pytest.mark.parametrize("name", ["tensor", "input", "self"])
def test_an_in_place_call_is_known_by_its_first_argument_under_each_of_its_names(tape: Tape, name: str) -> None:
    weight = nn.Parameter(torch.ones(2))
    with torch.no_grad():
        assert prepare(tape, meaning(Tensor.zero_), Tensor.zero_, (), {name: weight}) is None
    assert prepare(tape, meaning(Tensor.zero_), Tensor.zero_, (), {"other": weight}) is not None


def test_a_write_into_what_training_changes_is_recorded_where_a_graph_or_the_segment_sees_it(tape: Tape) -> None:
    weight, leaf, plain = nn.Parameter(torch.ones(2)), torch.ones(2, requires_grad=True), torch.ones(2)
    assert not is_untaped(tape, Tensor.mul_, weight)
    with torch.no_grad():
        assert is_untaped(tape, Tensor.mul_, weight)
        assert is_untaped(tape, Tensor.mul_, leaf)
        assert is_untaped(tape, Tensor.mul_, nn.Parameter(torch.ones(2), requires_grad=False))
        assert not is_untaped(tape, Tensor.mul_, plain)
        assert not is_untaped(tape, Tensor.mul_, None)
        call(tape, torch.exp, weight)
        assert not is_untaped(tape, Tensor.mul_, weight)
    assert tape.current.refused == ""


def test_data_that_is_replaced_refuses_the_segment(tape: Tape) -> None:
    weight = nn.Parameter(torch.ones(2))
    setter = vars(torch._C.TensorBase)["data"].__set__
    assert prepare(tape, meaning(setter), setter, (weight, torch.zeros(2)), {}) is None
    assert "data of a parameter was replaced" in tape.current.refused
    plain = Tape(lambda: ())
    assert not is_untaped(plain, setter, torch.ones(2))
    assert plain.current.refused == ""


def test_a_call_of_another_kind_that_is_named_like_one_moves_no_memory(tape: Tape) -> None:
    x = torch.ones(2)
    call(tape, torch.exp, x)
    tape.current.sharing(x)

    def set_(value: Tensor) -> Tensor:
        return value + 1

    finish(tape, FunctionMeaning.RECORD, set_, prepare(tape, FunctionMeaning.RECORD, set_, (x,), {}), set_(x))
    assert not tape.current.unsorted
    call(tape, Tensor.set_, x, torch.zeros(2))
    assert tape.current.unsorted


def test_a_scalar_of_a_scalar_loss_is_taken_for_the_loss(tape: Tape) -> None:
    loss = nn.Parameter(torch.ones(2)).sum()
    mean = call(tape, torch.mean, loss.reshape(1))
    assert not tape.is_losslike(call(tape, torch.zeros, 1))
    assert tape.is_losslike(call(tape, Tensor.detach, mean))


def test_no_older_gradient_without_a_segment_before_or_with_one_that_recorded_nothing(tape: Tape) -> None:
    assert not is_older_gradient(tape)
    tape.boundary(1, 1)
    assert not is_older_gradient(tape)
    tape.close(tape.open("step", None, (), {}), None)
    tape.close(tape.open("backward", None, (), {}), None)
    tape.boundary(2, 2)
    assert is_older_gradient(tape)
    tape.current.backwards.append(0)
    assert not is_older_gradient(tape)


@pytest.fixture
def rounds(tape: Tape, monkeypatch: pytest.MonkeyPatch) -> Tape:
    """A tape whose rounds have all been there before."""
    monkeypatch.setattr(tape.rounds, "repeats", lambda place: True)
    return tape


def idle(tape: Tape, function: Any, *args: Any, **kwargs: Any) -> bool:
    return is_idle(tape, meaning(function), args, kwargs)


def test_a_call_that_the_loop_made_in_rounds_before_is_idle_until_a_graph_is_there(rounds: Tape) -> None:
    x, weight = torch.ones(2), nn.Parameter(torch.ones(2))
    assert idle(rounds, torch.exp, x)
    assert idle(rounds, torch.zeros, 2)
    assert not idle(rounds, torch.mul, x, weight)
    assert not idle(rounds, torch.mul, x, other=weight)
    with torch.no_grad():
        assert idle(rounds, torch.mul, x, weight)
    rounds.current.has_graph = True
    assert not idle(rounds, torch.exp, x)
    rounds.current.has_graph = False
    rounds.current.backwards.append(0)
    assert not idle(rounds, torch.exp, x)


def test_what_comes_for_the_first_time_is_not_idle(tape: Tape) -> None:
    assert not idle(tape, torch.exp, torch.ones(2))


def test_a_write_is_idle_where_nothing_of_the_segment_lies_there(rounds: Tape) -> None:
    x, taken = torch.ones(2), torch.ones(2)
    assert idle(rounds, Tensor.add_, x, 1)
    assert idle(rounds, torch.add, x, 1, out=torch.zeros(2))
    assert not is_idle(rounds, FunctionMeaning.INPLACE, (), {})
    assert not idle(rounds, Tensor.add_, x.as_subclass(type("Own", (Tensor,), {})), 1)
    with torch.no_grad():
        assert not idle(rounds, Tensor.add_, torch.ones(2, requires_grad=True), 1)
    call(rounds, torch.exp, taken)
    assert not idle(rounds, Tensor.add_, taken[:1], 1)
    assert not idle(rounds, torch.add, x, 1, out=taken)
    made = call(rounds, torch.exp, torch.zeros(2))
    assert not idle(rounds, Tensor.add_, made[1:], 1)
    assert idle(rounds, Tensor.add_, x, 1)


def test_among_many_that_the_segment_made_none_is_looked_for(tape: Tape) -> None:
    kept = [call(tape, torch.exp, torch.ones(1)) for _ in range(MOST_MADE)]
    assert not made_there(tape.current, torch.ones(1))
    kept.append(call(tape, torch.exp, torch.ones(1)))
    assert len(kept) == 33
    assert made_there(tape.current, torch.ones(1))


class Moved(nn.Module):
    """Converts its weights, with the calls on a tape."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.tape = tape

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        return super()._apply(lambda t: self.seen(fn(t)), recurse)

    def seen(self, value: Tensor) -> Tensor:
        is_untaped(self.tape, type(self.weight).data.__set__, self.weight, (value,))
        return value


def test_a_module_on_its_way_to_a_device_writes_nothing_of_its_own(tape: Tape) -> None:
    model = Moved(tape)
    model.to("cpu")
    model.float()
    assert tape.current.own_writes.all() == []
    model.half()
    assert [write.function for _, write in tape.current.own_writes.all()] == ["__set__"]
