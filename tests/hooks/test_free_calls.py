"""Facts about the function mode: what it hears, what it stands aside for, and that it never breaks the loop's own
modes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _len_torch_function_stack

from debugtracer.errors import StoppedByTracer, failures
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.free_calls import FreeCallMode
from debugtracer.hooks.inspection import Inspection
from debugtracer.hooks.repeated_calls import MOST
from debugtracer.recorder.call_cost import CallCost
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.step_tape import Tape


class Told(LoopEvents):
    """What a session would hear."""

    def __init__(self) -> None:
        self.losses: list[Tensor] = []
        self.calls: list[str] = []
        self.scores: list[str] = []
        self.stops = False

    def peeked(self, loss: Tensor) -> None:
        if self.stops:
            raise StoppedByTracer
        self.losses.append(loss)

    def called(self, function: Any, args: Any, kwargs: Any, output: Any) -> None:
        self.calls.append(function.__name__)

    def scored(self, function: Any, args: Any, kwargs: Any, output: Any) -> None:
        self.scores.append(function.__name__)


def a_mode(events: LoopEvents) -> FreeCallMode:
    return FreeCallMode(
        events, TrainingThread(), Tape(lambda: ()), ModeStack(), Inspection(lambda: True), CallCost(RunState())
    )


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def peeked(told: Told) -> list[Tensor]:
    return told.losses


@pytest.fixture
def mode(told: Told) -> Iterator[FreeCallMode]:
    found = a_mode(told)
    found.install()
    yield found
    found.remove()
    assert _len_torch_function_stack() == 0


def heard(mode: FreeCallMode) -> list[str]:
    return [getattr(e.function, "__name__", "") for e in mode.tape.current.entries]


class Other(TorchFunctionMode):
    """A mode of the user's own."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


def test_a_call_is_taped_and_gives_what_it_gives(mode: FreeCallMode) -> None:
    assert torch.equal(torch.ones(2).mul(3), torch.tensor([3.0, 3.0]))
    assert heard(mode)[:2] == ["ones", "mul"]


def test_a_square_that_is_ranked_without_a_graph_is_told_in_any_step(mode: FreeCallMode, told: Told) -> None:
    square, other = torch.rand(4, 4), torch.rand(4, 3)
    square.topk(2)
    torch.argsort(square, dim=1)
    torch.argsort(other, dim=1)
    square.clone().requires_grad_().max(1)
    square.sum(1)
    assert told.scores == ["topk", "argsort"]


def test_decisions_of_scores_beside_a_number_are_told_without_a_graph(mode: FreeCallMode, told: Told) -> None:
    scores = torch.rand(4, 3)
    assert torch.equal(scores > 0.5, scores.gt(0.5))
    told.scores.clear()
    with torch.no_grad():
        scores.gt(0.5)
        scores.gt(scores)
        scores.argmax(1)
        scores.sum(1)
    assert told.scores == ["gt", "argmax"]


def test_rounds_without_a_graph_are_told_to_no_observer_once_they_repeat(mode: FreeCallMode, told: Told) -> None:
    mode.inspection.update()
    seen = []
    with torch.no_grad():
        for _ in range(30):
            mode.tape.rounds.begin()
            told.calls.clear()
            torch.ones(2).mul(3)
            seen.append("mul" in told.calls)
    assert seen[0] and not seen[-1]


def test_a_dataset_that_is_built_item_by_item_is_told_in_its_first_items_alone(mode: FreeCallMode, told: Told) -> None:
    mode.inspection.update()
    for _ in range(MOST + 300):
        torch.ones(2).mul(3)
    assert 0 < told.calls.count("mul") <= MOST
    told.calls.clear()
    weight = torch.ones(2, requires_grad=True)
    for _ in range(MOST + 300):
        weight = weight.mul(1)
    assert told.calls.count("mul") == MOST + 300


def test_nothing_is_heard_while_suspended_and_the_stack_is_empty_then(mode: FreeCallMode) -> None:
    x = torch.ones(2)
    popped = mode.stack.suspend()
    assert popped
    assert _len_torch_function_stack() == 0
    x.exp()
    mode.stack.resume(popped)
    x.log()
    assert heard(mode) == ["ones", "log"]


def test_suspensions_nest(mode: FreeCallMode) -> None:
    x = torch.ones(2)
    outer, inner = mode.stack.suspend(), mode.stack.suspend()
    assert (outer, inner) == (True, False)
    mode.stack.resume(inner)
    x.exp()
    mode.stack.resume(outer)
    x.log()
    assert heard(mode) == ["ones", "log"]


def test_under_another_mode_it_stays_on_the_stack_and_is_deaf(mode: FreeCallMode) -> None:
    x = torch.ones(2)
    with Other() as other:
        popped = mode.stack.suspend()
        assert not popped
        x.exp()
        assert _get_current_function_mode() is other
        mode.stack.resume(popped)
        x.log()
    assert heard(mode) == ["ones", "log"]


def test_a_device_context_may_begin_inside_and_end_outside(mode: FreeCallMode) -> None:
    x = torch.ones(2)
    with torch.device("cpu"):
        with mode.stack.paused():
            x.exp()
        x.log()
    x.sin()
    assert heard(mode) == ["ones", "log", "sin"]


def test_a_device_context_around_it_all_still_moves_what_is_made() -> None:
    mode = a_mode(Told())
    with torch.device("meta"):
        mode.install()
        assert torch.ones(2).device.type == "meta"
        mode.remove()
    assert _len_torch_function_stack() == 0


def test_removed_under_another_mode_it_is_deaf_for_ever(mode: FreeCallMode) -> None:
    x = torch.ones(2)
    other = Other()
    other.__enter__()
    mode.remove()
    x.exp()
    other.__exit__(None, None, None)
    x.log()
    assert heard(mode) == ["ones"]
    torch.overrides._pop_mode()


def test_what_the_call_raises_is_the_user_s(mode: FreeCallMode) -> None:
    with pytest.raises(RuntimeError, match="must match the size"):
        torch.ones(2) + torch.ones(3)
    assert heard(mode) == ["ones", "ones"]
    assert mode.tape.current.refused == ""


def test_what_the_call_raises_when_suspended_leaves_the_mode_listening(mode: FreeCallMode) -> None:
    with pytest.raises(KeyboardInterrupt), mode.stack.paused():
        raise KeyboardInterrupt
    torch.ones(2)
    assert heard(mode) == ["ones"]


def test_calls_inside_functorch_are_not_taped(mode: FreeCallMode) -> None:
    x = torch.ones(2)
    assert torch.func.grad(lambda v: (v * v).sum())(x).tolist() == [2.0, 2.0]
    assert "mul" not in heard(mode)
    assert mode.tape.current.refused == ""


def test_a_composite_call_is_one_entry(mode: FreeCallMode) -> None:
    F.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 2]))
    assert heard(mode) == ["zeros", "tensor", "cross_entropy"]


@pytest.mark.parametrize(
    "look", [lambda loss: loss.item(), torch.isnan, torch.isfinite, float, lambda loss: f"{loss:.3f}"]
)
def test_a_look_at_a_bad_loss_is_told_before_the_user_reacts(mode: FreeCallMode, peeked: list[Tensor], look) -> None:
    loss = torch.full((2,), -1.0, requires_grad=True).log().mean()
    look(loss)
    assert peeked
    assert peeked[0] is loss


def test_a_look_at_a_healthy_loss_or_at_a_vector_is_not_told(mode: FreeCallMode, peeked: list[Tensor]) -> None:
    w = torch.ones(2, requires_grad=True)
    w.sum().item()
    torch.isnan(w * float("nan"))
    torch.isnan(torch.tensor(float("nan")))
    assert peeked == []


def test_a_look_through_detach_and_float_is_told(mode: FreeCallMode, peeked: list[Tensor]) -> None:
    loss = torch.full((2,), -1.0, requires_grad=True).log().mean()
    loss.detach().double().item()
    assert len(peeked) == 1


def test_the_stop_comes_through_a_look(mode: FreeCallMode, told: Told) -> None:
    told.stops = True
    loss = torch.full((2,), -1.0, requires_grad=True).log().mean()
    with pytest.raises(StoppedByTracer):
        loss.item()


def test_our_own_failure_refuses_the_step_and_the_call_still_runs(
    mode: FreeCallMode, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    monkeypatch.setattr(mode.tape, "frames", lambda: 1 / 0)
    x = torch.ones(2)
    assert x.sum() == 2
    assert mode.tape.current.refused == "recording failed (ZeroDivisionError)"
    assert "training goes on without it" in capsys.readouterr().err
    failures.clear()


def test_installing_twice_pushes_once(mode: FreeCallMode) -> None:
    mode.install()
    assert _len_torch_function_stack() == 1


def test_calls_are_told_while_the_step_is_inspected(mode: FreeCallMode, told: Told) -> None:
    torch.ones(2)
    assert told.calls == []
    mode.inspection.update()
    torch.ones(2).exp()
    assert told.calls == ["ones", "exp"]


def test_a_loss_without_a_graph_is_told_as_an_evaluation(mode: FreeCallMode, told: Told) -> None:
    scores, targets = torch.zeros(2, 3), torch.tensor([0, 2])
    F.cross_entropy(scores, targets)
    assert told.scores == []
    with torch.no_grad():
        F.cross_entropy(scores, targets)
    assert told.scores == ["cross_entropy"]


def test_in_another_thread_than_the_training_one_nothing_is_heard(mode: FreeCallMode) -> None:
    mode.thread.owner = -1
    torch.ones(2)
    assert heard(mode) == []


def test_it_moves_to_the_thread_that_trains(told: Told) -> None:
    found, lengths = a_mode(told), []
    found.install()

    def train() -> None:
        found.thread.here()
        torch.ones(2).exp()
        lengths.append(_len_torch_function_stack())

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    torch.ones(2).log()
    assert heard(found) == ["ones", "exp"]
    assert lengths == [1]
    torch.overrides._pop_mode()  # of this thread, where it was installed


def test_a_copy_on_another_device_is_told_and_one_of_another_dtype_is_not(told: Told) -> None:
    moved: list[tuple[Tensor, Tensor]] = []
    mode = FreeCallMode(
        told,
        TrainingThread(),
        Tape(lambda: ()),
        ModeStack(),
        Inspection(lambda: False),
        CallCost(RunState()),
        lambda tensor, copy: moved.append((tensor, copy)),
    )
    batch = torch.ones(3)
    mode.install()
    try:
        there = batch.to("meta")
        batch.to(torch.float64)
        batch.to("cpu")
        with torch.no_grad():
            unheard = batch.to(device="meta")
    finally:
        mode.remove()
    assert [(a is batch, b) for a, b in moved] == [(True, there), (True, unheard)]
