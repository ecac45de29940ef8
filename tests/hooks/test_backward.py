"""Facts about backward calls: the outermost ones are told once each, before and after, with the loss and the
options."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from debugtracer.errors import StoppedByTracer
from debugtracer.hooks.backward import BackwardHook
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.mode_stack import ModeStack


class Told(LoopEvents):
    """What a session would hear."""

    def __init__(self) -> None:
        self.began: list[tuple[list[Tensor], Any, dict[str, Any]]] = []
        self.ended: list[Any] = []
        self.failed: list[bool] = []
        self.others = 0
        self.backwards = BackwardHook(self, TrainingThread(), ModeStack(), RunState())

    def backward_ended(self, popped: Any, failed: bool) -> None:
        self.ended.append(popped)
        self.failed.append(failed)

    def backward_begins(self, given: list[Tensor], grad_tensors: Any, options: dict[str, Any]) -> Any:
        self.began.append((given, grad_tensors, options))
        return f"mark {len(self.began)}"

    def other_thread(self) -> None:
        self.others += 1


@pytest.fixture
def told() -> Iterator[Told]:
    found = Told()
    found.backwards.install()
    yield found
    found.backwards.remove()


def a_loss() -> Tensor:
    return torch.ones(3, requires_grad=True).mul(2).sum()


def test_a_backward_is_told_with_its_loss_before_and_after(told: Told) -> None:
    w = torch.ones(3, requires_grad=True)
    loss = w.mul(2).sum()
    loss.backward()
    assert told.began[0][0][0] is loss
    assert told.ended == ["mark 1"]
    assert w.grad.tolist() == [2, 2, 2]


def test_options_are_told_by_name(told: Told) -> None:
    loss = a_loss()
    loss.backward(retain_graph=True)
    assert told.began[0][2]["retain_graph"] is True
    torch.autograd.backward([loss], [torch.tensor(2.0)], True)
    assert told.began[1][1] is not None
    assert told.began[1][2]["retain_graph"] is True


def test_several_losses_are_one_backward(told: Told) -> None:
    a, b = a_loss(), a_loss()
    torch.autograd.backward([a, b])
    assert [id(t) for t in told.began[0][0]] == [id(a), id(b)]
    assert len(told.began) == 1


def test_a_backward_inside_a_backward_is_not_told(told: Told) -> None:
    w = torch.ones(3, requires_grad=True)
    checkpoint(lambda x: x.exp().mul(2), w, use_reentrant=True).sum().backward()
    assert len(told.began) == 1
    assert torch.allclose(w.grad, torch.full((3,), 2 * torch.e))


def test_a_backward_that_fails_is_told_to_have_ended(told: Told) -> None:
    loss = a_loss()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
    assert told.ended == ["mark 1", "mark 2"]
    assert told.failed == [False, True]
    a_loss().backward()
    assert len(told.began) == 3


def test_the_stop_comes_before_any_gradient() -> None:
    class Stops(LoopEvents):
        def backward_begins(self, given: list[Tensor], grad_tensors: Any, options: dict[str, Any]) -> bool | None:
            raise StoppedByTracer

    backwards = BackwardHook(Stops(), TrainingThread(), ModeStack(), RunState())
    w = torch.ones(3, requires_grad=True)
    backwards.install()
    try:
        with pytest.raises(StoppedByTracer):
            w.sum().backward()
    finally:
        backwards.remove()
    assert w.grad is None


def test_gradients_asked_for_by_grad_are_no_backward(told: Told) -> None:
    w = torch.ones(3, requires_grad=True)
    torch.autograd.grad(w.sum(), w)
    assert told.began == []


def test_a_second_thread_is_told_once_and_its_backwards_run(told: Told) -> None:
    a_loss().backward()
    w = torch.ones(3, requires_grad=True)

    def train() -> None:
        for _ in range(2):
            w.sum().backward()

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert w.grad.tolist() == [2, 2, 2]
    assert (len(told.began), told.others) == (1, 1)


def test_off_and_removed_nothing_is_told() -> None:
    before = torch.autograd.backward, Tensor.backward
    told = Told()
    told.backwards.install()
    assert torch.autograd.backward.__name__ == "backward"
    told.backwards.off = True
    a_loss().backward()
    told.backwards.remove()
    a_loss().backward()
    assert told.began == []
    assert (torch.autograd.backward, Tensor.backward) == before
