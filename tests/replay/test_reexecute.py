"""A tape executed again gives the same bits."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.rng import RngState
from debugtracer.replay.reexecute import Reexecution, scale_one, unscale
from debugtracer.replay.replay_plan import ReplayPlan
from tests.replay.taping import a_tape, backward, call


def test_loss_and_gradients_come_again_bit_for_bit():
    tape, model = a_tape(), nn.Linear(4, 3)
    out, _ = call(tape, model, torch.randn(5, 4), kind="module")
    loss, last = call(tape, torch.mean, out)
    backward(tape, loss)
    live = model.weight.grad.clone()
    model.zero_grad()
    run = Reexecution(ReplayPlan([tape.current]), torch.autograd.backward)
    run.run()
    assert torch.equal(model.weight.grad, live)
    assert [torch.equal(value, loss) for value in (run.values[0, last.index][0], *run.losses.values())] == [True, True]


def test_grad_mode_autocast_and_generator_are_those_of_the_call():
    tape, x = a_tape(), torch.ones(64, 8)
    drop = nn.Dropout(0.5)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        product, first = call(tape, torch.mm, x, x.t().clone().requires_grad_())
    entry = tape.open("module", drop, (x,), {}, rng=RngState())
    dropped = drop(x)
    tape.close(entry, dropped)
    torch.rand(3)
    run = Reexecution(ReplayPlan([tape.current]), torch.autograd.backward)
    run.run()
    again = run.values[0, first.index][0]
    assert (again.dtype, again.requires_grad) == (torch.bfloat16, False) == (product.dtype, product.requires_grad)
    assert torch.equal(run.values[0, entry.index][0], dropped)


def test_an_overwritten_leaf_is_taken_from_its_copy():
    tape, x = a_tape(), torch.ones(3)
    _, entry = call(tape, torch.mul, x, 2.0)
    tape.save_before_write(x)
    x.fill_(9.0)
    run = Reexecution(ReplayPlan([tape.current]), torch.autograd.backward)
    run.run()
    assert run.values[0, entry.index][0].tolist() == [2.0, 2.0, 2.0]
    assert x.tolist() == [9.0, 9.0, 9.0]


def test_a_module_is_called_with_the_tensors_that_stood_for_its_parameters():
    tape, model = a_tape(), nn.Linear(2, 1, bias=False)
    weight = torch.full((1, 2), 3.0, requires_grad=True)
    entry = tape.open("module", model, (torch.ones(1, 2),), {})
    entry.swapped = tape.encode({"weight": weight})
    tape.close(entry, torch.full((1, 1), 6.0))
    assert any(getattr(r, "tensor", None) is weight for r in entry.references())
    run = Reexecution(ReplayPlan([tape.current]), torch.autograd.backward)
    run.run()
    assert [v.tolist() for v in run.values[entry.segment, entry.index]] == [[[6.0]]]


def test_a_call_that_fails_now_is_refused_with_its_error():
    tape, calls = a_tape(), []

    def once(x: torch.Tensor) -> torch.Tensor:
        calls.append(x)
        if len(calls) > 1:
            raise KeyError("only once")
        return x + 1

    call(tape, once, torch.ones(2))
    with pytest.raises(ReplayRefused, match=r"executing fn again failed \(KeyError: 'only once'\)"):
        Reexecution(ReplayPlan([tape.current]), torch.autograd.backward).run()


def test_a_run_ends_after_the_entry_it_was_asked_for():
    tape = a_tape()
    half, first = call(tape, torch.mul, torch.ones(2), 0.5)
    call(tape, torch.log, half)
    run = Reexecution(ReplayPlan([tape.current]), torch.autograd.backward)
    run.run(until=first)
    assert list(run.values) == [(0, 0)]


def test_unscaling_divides_gradients_by_the_scale_and_the_scale_is_set_to_one_for_a_while():
    weight = nn.Parameter(torch.ones(2))
    scaler, optimizer = torch.amp.GradScaler("cpu", init_scale=8.0), torch.optim.SGD([weight], lr=0.1)
    scaler.scale(weight.sum()).backward()
    unscale(optimizer, scaler)
    assert weight.grad.tolist() == [1.0, 1.0]
    with pytest.raises(ZeroDivisionError), scale_one(scaler):
        assert scaler.get_scale() == 1.0
        raise ZeroDivisionError
    assert scaler.get_scale() == 8.0
