"""What a loop without an optimizer trains: parameters of its roots, leaves of its own, and whether it has changed
them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from debugtracer.recorder.gate.trained_tensors import TrainedTensors
from debugtracer.recorder.tape.step_tape import Segment, Tape

EMPTY = Segment(0)


def norms(tensors: list[Tensor]) -> list[float]:
    return [float(t.detach().norm()) for t in tensors]


def test_parameters_of_a_called_root_count_when_they_have_a_gradient() -> None:
    model, trained = nn.Linear(2, 1), TrainedTensors()
    trained.entered(model)
    assert trained.with_gradients(EMPTY) == []
    model.weight.grad = torch.ones(1, 2)
    trained.entered(model)
    assert [id(t) for t in trained.with_gradients(EMPTY)] == [id(model.weight)]
    assert trained.with_gradients(EMPTY) == []  # not called since


def test_parameters_put_in_their_place_are_those_that_are_trained() -> None:
    model, trained = nn.Linear(2, 1), TrainedTensors()
    trained.entered(model)
    other = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    for tensor in (*other.values(), *model.parameters()):
        tensor.grad = torch.ones_like(tensor)
    model.register_forward_pre_hook(lambda module, args: trained.entered(module))
    torch.func.functional_call(model, other, (torch.ones(1, 2),))
    assert {id(t) for t in trained.with_gradients(EMPTY)} == {id(t) for t in other.values()}


def test_leaves_of_the_loop_count_where_no_root_has_a_gradient() -> None:
    tape, trained = Tape(tuple), TrainedTensors()
    w = torch.ones(3, requires_grad=True)
    tape.refer(w)
    w.grad = torch.ones(3)
    assert len(trained.with_gradients(tape.current)) == 1
    assert trained.with_gradients(tape.current) == []  # the same gradient was seen before
    w.grad.add_(1)
    assert len(trained.with_gradients(tape.current)) == 1


def test_a_leaf_made_anew_by_a_functional_update_stands_for_the_old_one() -> None:
    tape, trained = Tape(tuple), TrainedTensors()
    old, new = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    tape.refer(old)
    tape.close(tape.open("fn", torch.neg, (old,), {}), new)
    old.grad = new.grad = torch.ones(3)
    assert [id(t) for t in trained.with_gradients(tape.current)] == [id(new)]


def test_only_a_leaf_that_is_trained_stands_for_the_old_one() -> None:
    tape, trained = Tape(tuple), TrainedTensors()
    old = torch.ones(3, requires_grad=True)
    computed, fixed, unused = old * 2, torch.ones(3), torch.ones(3, requires_grad=True)
    computed.retain_grad()
    tape.refer(old)
    for made in (computed, fixed, unused):
        tape.close(tape.open("fn", torch.neg, (old,), {}), made)
    computed.sum().backward()
    fixed.grad = torch.ones(3)
    assert [id(t) for t in trained.with_gradients(tape.current)] == [id(old)]


def test_a_changed_norm_is_a_change_and_rest_is_none() -> None:
    trained, tensors = TrainedTensors(), [torch.ones(2), torch.ones(3)]
    assert not trained.changed(tensors, norms(tensors))
    assert not trained.changed(tensors, norms(tensors))
    tensors[1].data.mul_(2)
    assert trained.changed(tensors, norms(tensors))


def test_two_networks_that_take_turns_are_told_apart() -> None:
    trained, first, second = TrainedTensors(), [torch.ones(2)], [torch.ones(3)]
    assert [trained.changed(t, norms(t)) for t in (first, second, first, second)] == [False] * 4
    first[0].mul_(2)
    assert [trained.changed(t, norms(t)) for t in (first, second)] == [True, False]


def test_tensors_that_took_the_place_of_others_are_an_update() -> None:
    trained, old, new = TrainedTensors(), [torch.ones(2)], [torch.ones(2)]
    trained.changed(old, norms(old))
    assert trained.changed(new, norms(new))


def test_the_last_tensors_are_given_while_they_are_alive() -> None:
    trained, tensors = TrainedTensors(), [torch.ones(2), torch.ones(3)]
    trained.changed(tensors, norms(tensors))
    assert len(trained.last()) == 2
    del tensors[0]
    assert trained.last() == []
    trained.reset()
    assert (trained.latest, len(trained.roots)) == ([], 0)


def test_where_root_calls_are_not_told_each_backward_is_one_of_all_that_are_known() -> None:
    model, trained = nn.Linear(2, 1), TrainedTensors()
    assert not trained.are_always_the_same()
    model.weight.grad = torch.ones(1, 2)
    trained.entered(model)
    found = trained.with_gradients(EMPTY)
    trained.changed(found, norms(found))
    assert trained.are_always_the_same()
    assert trained.at_rest() == []
    trained.rest_calls(True)
    for _ in range(2):
        assert [id(t) for t in trained.at_rest()] == [id(model.weight)]
        trained.counted(trained.at_rest())
        trained.left_out()
    trained.rest_calls(False)
    assert trained.at_rest(), "a call before the backward in flight was not told"
    trained.counted(trained.at_rest())
    assert trained.at_rest() == []
    other = [torch.ones(1, requires_grad=True)]
    trained.changed(other, norms(other))
    assert not trained.are_always_the_same(), "two sets take turns"
