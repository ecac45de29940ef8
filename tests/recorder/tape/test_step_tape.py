"""Facts about the tape: what a loop's torch calls become, and when a step may be executed again."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.free_calls import FreeCallMode
from debugtracer.hooks.inspection import Inspection
from debugtracer.recorder.call_cost import CallCost
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape import step_tape as tape_module
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.step_tape import Tape


class NothingElse(LoopEvents):
    """Only the tape is looked at."""


@pytest.fixture
def tape() -> Iterator[Tape]:
    """A tape that the function mode writes on."""
    found = Tape(lambda: ())
    mode = FreeCallMode(
        NothingElse(), TrainingThread(), found, ModeStack(), Inspection(lambda: False), CallCost(RunState())
    )
    mode.install()
    yield found
    mode.remove()


def names(tape: Tape) -> list[str]:
    return [getattr(e.function, "__name__", e.kind) if e.kind == "fn" else e.kind for e in tape.current.entries]


def argument(entry: Entry, index: int = 0) -> Slot | Leaf:
    found: Slot | Leaf = entry.args[index]
    return found


def test_what_a_call_made_is_a_slot_of_the_next_and_what_came_from_outside_a_leaf(tape: Tape) -> None:
    x = torch.ones(3)
    tape.reset()
    y = x.exp()
    y.log()
    exp, log = tape.current.entries
    assert isinstance(argument(exp), Leaf)
    assert argument(exp).tensor is x
    slot = argument(log)
    assert isinstance(slot, Slot)
    assert (slot.segment, slot.entry, slot.output) == (tape.current.number, 0, 0)


def test_a_tensor_taken_twice_is_one_leaf(tape: Tape) -> None:
    x = torch.ones(3)
    tape.reset()
    y, z = x.exp(), x.log()
    assert argument(tape.current.entries[0]) is argument(tape.current.entries[1])
    assert len(tape.current.leaves) == 1
    del y, z


def test_outputs_are_numbered_in_their_order(tape: Tape) -> None:
    x = torch.arange(6.0)
    tape.reset()
    first, second = x.chunk(2)
    second.exp()
    assert tape.current.entries[0].outputs == 2
    assert argument(tape.current.entries[1]).output == 1
    del first


def test_only_calls_that_give_one_number_are_scalar(tape: Tape) -> None:
    x = torch.arange(6.0)
    tape.reset()
    kept = [x.sum(), x.exp(), x.max(0)]
    assert [e.scalar for e in tape.current.entries] == [True, False, True]
    del kept


def test_activations_are_not_kept_alive(tape: Tape) -> None:
    x = torch.ones(3)
    tape.reset()
    y = x.exp()
    alive = weakref.ref(y)
    del y
    gc.collect()
    assert alive() is None


def test_a_reused_id_is_no_slot(tape: Tape) -> None:
    x = torch.ones(3)
    tape.reset()
    held = [x.exp() for _ in range(200)]
    gone = {id(t) for t in held}
    # All at once: let go one by one, each place may go to the tape's own entry of the next call
    del held
    with torch._C.DisableTorchFunction():
        outside = [torch.zeros(3) for _ in range(200)]
    assert gone & {id(t) for t in outside}, "ids are never reused here: nothing is tested"
    assert all(tape.slot(t) is None for t in outside)
    fresh = [torch.Tensor.detach(x) for _ in range(5)]
    assert all(tape.slot(t) is not None for t in fresh)


def test_a_leaf_written_in_place_keeps_the_bytes_the_step_saw(tape: Tape) -> None:
    x = torch.ones(3)
    tape.reset()
    y = x.exp()
    x.mul_(7)
    leaf = argument(tape.current.entries[0])
    assert leaf.saved is not None
    assert leaf.saved.tolist() == [1, 1, 1]
    assert not leaf.moved
    del y


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[:1].fill_(5.0),
        lambda x: x.view(-1).add_(1),
        lambda x: x.__setitem__(0, 5.0),
        lambda x: torch.exp(x, out=x),
        lambda x: x.detach().zero_(),
        lambda x: nn.init.zeros_(x),
    ],
)
def test_a_leaf_written_through_a_view_or_out_is_saved_first(tape: Tape, write) -> None:
    x = torch.ones(3)
    tape.reset()
    y = x.exp()
    write(x)
    assert not torch.equal(x, torch.ones(3)), "the write did nothing"
    saved = tape.current.leaves[id(x)].saved
    assert saved is not None
    assert saved.tolist() == [1, 1, 1]
    del y


def test_a_leaf_is_saved_once_before_the_first_write(tape: Tape) -> None:
    x = torch.ones(3)
    tape.reset()
    y = x.exp()
    x.mul_(7)
    x.mul_(7)
    assert tape.current.leaves[id(x)].saved.tolist() == [1, 1, 1]
    del y


def test_a_write_where_nobody_could_copy_first_is_seen_by_its_version(tape: Tape) -> None:
    x = torch.ones(3)
    tape.reset()
    y = x.exp()
    with torch._C.DisableTorchFunction():
        x.mul_(7)
    assert argument(tape.current.entries[0]).moved
    del y


def test_an_in_place_result_is_the_slot_of_the_call_that_wrote_it_last(tape: Tape) -> None:
    x = torch.ones(3)
    tape.reset()
    y = x.exp()
    y.mul_(2)
    y.log()
    assert names(tape) == ["exp", "mul_", "log"]
    assert [argument(e).entry for e in tape.current.entries[1:]] == [0, 1]


def test_a_factory_is_a_constant_and_a_draw_too(tape: Tape) -> None:
    made = [torch.zeros(3), torch.arange(4), torch.randn(2), torch.tensor([1.0, 2.0])]
    assert names(tape) == ["const"] * 4
    for entry, tensor in zip(tape.current.entries, made, strict=True):
        assert entry.args[0].tensor is tensor


def test_a_constant_that_is_written_is_kept_as_it_was_and_without_its_graph(tape: Tape) -> None:
    weight = torch.ones(3, requires_grad=True)
    tape.reset()
    made = torch.zeros(3)
    made[:2] = weight[:2]
    (leaf,) = tape.current.entries[0].args
    assert made.requires_grad and not leaf.tensor.requires_grad
    assert leaf.tensor.data_ptr() == made.data_ptr()
    assert (leaf.saved.tolist(), leaf.asked_grad) == ([0.0, 0.0, 0.0], False)


def test_a_draw_from_a_tensor_is_a_constant(tape: Tape) -> None:
    x = torch.ones(3)
    tape.reset()
    noise = torch.randn_like(x)
    noise.add(x)
    assert names(tape) == ["const", "add"]
    assert isinstance(argument(tape.current.entries[1]), Slot)


def test_a_constant_written_in_place_is_saved_first(tape: Tape) -> None:
    mask = torch.zeros(3)
    mask[1] = 1
    assert names(tape) == ["const", "__setitem__"]
    saved = tape.current.entries[0].args[0].saved
    assert saved is not None
    assert saved.tolist() == [0, 0, 0]


def test_random_calls_keep_the_generator_state_and_others_do_not(tape: Tape) -> None:
    x = torch.ones(30)
    tape.reset()
    before = torch.get_rng_state()
    kept = F.dropout(x, 0.5), x.exp(), x.clone().uniform_()
    dropout, exp, _, uniform = tape.current.entries
    assert torch.equal(dropout.rng.cpu, before)
    assert exp.rng is None
    assert not torch.equal(uniform.rng.cpu, before)
    del kept


def test_a_tensor_with_a_graph_that_no_recorded_call_made_is_foreign(tape: Tape) -> None:
    w = torch.ones(3, requires_grad=True)
    with torch._C.DisableTorchFunction():
        hidden = w * 2
    hidden.exp()
    leaf = argument(tape.current.entries[-1])
    assert leaf.foreign
    assert leaf.origin is None


def test_a_tensor_of_the_step_before_knows_where_it_was_made(tape: Tape) -> None:
    w = torch.ones(3, requires_grad=True)
    hidden = w * 2
    number = tape.current.number
    tape.boundary(1, 1)
    hidden.exp()
    leaf = argument(tape.current.entries[-1])
    assert not leaf.foreign
    assert (leaf.origin.segment, leaf.origin.entry) == (number, len(tape.previous.entries) - 1)


def test_a_boundary_starts_a_segment_and_keeps_one_before_it(tape: Tape) -> None:
    torch.zeros(1)
    first = tape.current
    tape.boundary(4, 2)
    second = tape.current
    assert tape.previous is first
    assert (second.number, second.first_iteration, second.first_step, second.entries) == (first.number + 1, 4, 2, [])
    tape.boundary(5, 3)
    assert tape.previous is second


def test_a_cut_drops_what_has_no_graph(tape: Tape) -> None:
    torch.zeros(1).exp()
    tape.cut(3, 1)
    assert tape.current.entries == []
    assert (tape.current.first_iteration, tape.current.first_step) == (3, 1)
    assert tape.previous is None


def test_a_cut_keeps_what_a_backward_may_still_need(tape: Tape) -> None:
    w = torch.ones(1, requires_grad=True)
    loss = w.exp()
    count = len(tape.current.entries)
    tape.cut(3, 1)
    assert len(tape.current.entries) == count
    del loss


def test_a_cut_keeps_a_segment_with_a_backward(tape: Tape) -> None:
    torch.zeros(1)
    tape.current.backwards.append(0)
    tape.cut(3, 1)
    assert tape.current.entries


def test_too_many_calls_refuse_the_step_and_hold_no_more(tape: Tape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape_module, "MAX_ENTRIES", 10)
    x = torch.ones(1)
    for _ in range(30):
        x.exp()
    assert tape.current.entries == []
    assert tape.current.leaves == {}
    assert "more than 10 torch calls" in tape.current.refused
    tape.boundary(1, 1)
    assert tape.current.refused == ""


def test_replaced_parameter_data_refuses_the_step(tape: Tape) -> None:
    parameter = nn.Parameter(torch.ones(3))
    tape.reset()
    parameter.data = torch.zeros(3)
    assert "data of a parameter was replaced" in tape.current.refused


def test_replaced_data_of_another_tensor_does_not(tape: Tape) -> None:
    x = torch.ones(3)
    x.data = torch.zeros(3)
    assert tape.current.refused == ""


def test_lasting_state_written_by_hand_without_grad_is_not_taped(tape: Tape) -> None:
    average, parameter = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))
    tape.reset()
    with torch.no_grad():
        average.mul_(0.9)
        parameter.clamp_(-1, 1)
    assert tape.current.entries == []


def test_a_parameter_of_the_step_written_by_hand_is_taped(tape: Tape) -> None:
    parameter = nn.Parameter(torch.ones(3))
    tape.reset()
    loss = parameter.sum()
    with torch.no_grad():
        parameter.clamp_(-0.5, 0.5)
    assert names(tape) == ["sum", "clamp_"]
    assert tape.current.leaves[id(parameter)].saved.tolist() == [1, 1, 1]
    del loss


def test_a_number_computed_from_the_loss_is_still_the_loss(tape: Tape) -> None:
    w = torch.ones(3, requires_grad=True)
    loss = (w * 2).sum()
    detached = loss.detach()
    averaged = detached.float().mean()
    assert tape.is_losslike(loss)
    assert tape.is_losslike(detached)
    assert tape.is_losslike(averaged)


@pytest.mark.parametrize(
    "make", [lambda w: w * 2, lambda w: torch.ones(()), lambda w: (w * 2).argmax(), lambda w: w.detach().sum()]
)
def test_vectors_constants_integers_and_plain_statistics_are_no_loss(tape: Tape, make) -> None:
    assert not tape.is_losslike(make(torch.ones(3, requires_grad=True)))


def test_grad_mode_and_autocast_of_a_call_are_kept(tape: Tape) -> None:
    x = torch.ones(2, 2)
    tape.reset()
    y = x.exp()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        z = x.mm(x)
    assert [(e.grad, e.autocast) for e in tape.current.entries] == [(True, ()), (False, (("cpu", torch.bfloat16),))]
    del y, z


def test_arguments_by_keyword_and_in_lists_are_referred_to(tape: Tape) -> None:
    x, y = torch.ones(2), torch.zeros(2)
    tape.reset()
    out = torch.cat(tensors=[x, y]), torch.where(input=x, condition=x > 0, other=y)
    cat = tape.current.entries[0]
    assert [id(leaf.tensor) for leaf in cat.references()] == [id(x), id(y)]
    del out


def test_forgetting_drops_everything(tape: Tape) -> None:
    w = torch.ones(1, requires_grad=True)
    loss = w.exp().sum()
    tape.boundary(1, 1)
    tape.mark_losslike(loss, loss)
    tape.reset()
    assert tape.previous is None
    assert tape.current.entries == []
    assert tape.losslike == {}
