"""Facts about the function mode: what it hears, what it stands aside for, and that it never breaks the loop's own modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _len_torch_function_stack

from debugtracer.errors import StoppedByTracer, failures
from debugtracer.probes.free_calls import FreeCalls
from debugtracer.recorder.tape import Tape


@pytest.fixture
def peeked() -> list[Tensor]:
    return []


@pytest.fixture
def mode(peeked: list[Tensor]) -> Iterator[FreeCalls]:
    found = FreeCalls(Tape(lambda: ()), peeked.append)
    found.install()
    yield found
    found.remove()
    assert _len_torch_function_stack() == 0


def heard(mode: FreeCalls) -> list[str]:
    return [getattr(e.function, "__name__", "") for e in mode.tape.current.entries]


class Other(TorchFunctionMode):
    """A mode of the user's own."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


def test_a_call_is_taped_and_gives_what_it_gives(mode: FreeCalls) -> None:
    assert torch.equal(torch.ones(2).mul(3), torch.tensor([3.0, 3.0]))
    assert heard(mode)[:2] == ["ones", "mul"]


def test_nothing_is_heard_while_suspended_and_the_stack_is_empty_then(mode: FreeCalls) -> None:
    x = torch.ones(2)
    popped = mode.suspend()
    assert popped
    assert _len_torch_function_stack() == 0
    x.exp()
    mode.resume(popped)
    x.log()
    assert heard(mode) == ["ones", "log"]


def test_suspensions_nest(mode: FreeCalls) -> None:
    x = torch.ones(2)
    outer, inner = mode.suspend(), mode.suspend()
    assert (outer, inner) == (True, False)
    mode.resume(inner)
    x.exp()
    mode.resume(outer)
    x.log()
    assert heard(mode) == ["ones", "log"]


def test_under_another_mode_it_stays_on_the_stack_and_is_deaf(mode: FreeCalls) -> None:
    x = torch.ones(2)
    with Other() as other:
        popped = mode.suspend()
        assert not popped
        x.exp()
        assert _get_current_function_mode() is other
        mode.resume(popped)
        x.log()
    assert heard(mode) == ["ones", "log"]


def test_a_device_context_may_begin_inside_and_end_outside(mode: FreeCalls) -> None:
    x = torch.ones(2)
    with torch.device("cpu"):
        with mode.paused():
            x.exp()
        x.log()
    x.sin()
    assert heard(mode) == ["ones", "log", "sin"]


def test_a_device_context_around_it_all_still_moves_what_is_made() -> None:
    mode = FreeCalls(Tape(lambda: ()), lambda loss: None)
    with torch.device("meta"):
        mode.install()
        assert torch.ones(2).device.type == "meta"
        mode.remove()
    assert _len_torch_function_stack() == 0


def test_removed_under_another_mode_it_is_deaf_for_ever(mode: FreeCalls) -> None:
    x = torch.ones(2)
    other = Other()
    other.__enter__()
    mode.remove()
    x.exp()
    other.__exit__(None, None, None)
    x.log()
    assert heard(mode) == ["ones"]
    torch.overrides._pop_mode()


def test_what_the_call_raises_is_the_user_s(mode: FreeCalls) -> None:
    with pytest.raises(RuntimeError, match="must match the size"):
        torch.ones(2) + torch.ones(3)
    assert heard(mode) == ["ones", "ones"]
    assert mode.tape.current.refused == ""


def test_what_the_call_raises_when_suspended_leaves_the_mode_listening(mode: FreeCalls) -> None:
    with pytest.raises(KeyboardInterrupt), mode.paused():
        raise KeyboardInterrupt
    torch.ones(2)
    assert heard(mode) == ["ones"]


def test_calls_inside_functorch_are_not_taped(mode: FreeCalls) -> None:
    x = torch.ones(2)
    assert torch.func.grad(lambda v: (v * v).sum())(x).tolist() == [2.0, 2.0]
    assert "mul" not in heard(mode)
    assert mode.tape.current.refused == ""


def test_a_composite_call_is_one_entry(mode: FreeCalls) -> None:
    F.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 2]))
    assert heard(mode) == ["zeros", "tensor", "cross_entropy"]


@pytest.mark.parametrize("look", [lambda loss: loss.item(), torch.isnan, torch.isfinite, float, lambda loss: f"{loss:.3f}"])
def test_a_look_at_a_bad_loss_is_told_before_the_user_reacts(mode: FreeCalls, peeked: list[Tensor], look) -> None:
    loss = torch.full((2,), -1.0, requires_grad=True).log().mean()
    look(loss)
    assert peeked
    assert peeked[0] is loss


def test_a_look_at_a_healthy_loss_or_at_a_vector_is_not_told(mode: FreeCalls, peeked: list[Tensor]) -> None:
    w = torch.ones(2, requires_grad=True)
    w.sum().item()
    torch.isnan(w * float("nan"))
    torch.isnan(torch.tensor(float("nan")))
    assert peeked == []


def test_a_look_through_detach_and_float_is_told(mode: FreeCalls, peeked: list[Tensor]) -> None:
    loss = torch.full((2,), -1.0, requires_grad=True).log().mean()
    loss.detach().double().item()
    assert len(peeked) == 1


def test_the_stop_comes_through_a_look(mode: FreeCalls) -> None:
    def stop(loss: Tensor) -> None:
        raise StoppedByTracer

    mode.on_peek = stop
    loss = torch.full((2,), -1.0, requires_grad=True).log().mean()
    with pytest.raises(StoppedByTracer):
        loss.item()


def test_our_own_failure_refuses_the_step_and_the_call_still_runs(mode: FreeCalls, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    monkeypatch.setattr(mode.tape, "frames", lambda: 1 / 0)
    x = torch.ones(2)
    assert x.sum() == 2
    assert mode.tape.current.refused == "recording failed (ZeroDivisionError)"
    assert "training goes on without it" in capsys.readouterr().err
    failures.clear()


def test_installing_twice_pushes_once(mode: FreeCalls) -> None:
    mode.install()
    assert _len_torch_function_stack() == 1
