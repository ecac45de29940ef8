"""What a step costs in calls while all rests that may: one fused norm, a bounded number of our own functions, no
observer."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.observers.dispatcher import ObserverDispatcher
from debugtracer.observers.observer import Observer
from debugtracer.recorder.gate import resting_backwards, resting_steps
from debugtracer.recorder.governor import FIRST_STEPS
from debugtracer.session import Session
from tests.counts.test_aten_calls import AtenCalls
from tests.watching import under_watch

FEW, MANY = 2, 38  # layers
# calls of functions of ours in a step at rest that is not published, beside one for each module inside the root, which
# is there in the place of torch's; 18 with torch 2.13
MOST_PYTHON = 18
MOST_SEARCHING = 37  # the same for LBFGS with two calls of its loss; 36 with torch 2.13
MOST_SCALING = 44  # and with a GradScaler, which looks itself whether gradients are finite; 43 with torch 2.13
MOST_OBSERVER = 62  # calls of observers in a plain step at work; 57 with torch 2.13, more by what is installed
# the same with a loader and a closure, root calls and batches at rest, published in between; 18.3 with torch 2.13
MOST_FRAMEWORK = 19
MOST_AT_WORK = 690  # calls of functions of the recorder in such a step; 660 with torch 2.13
OURS = str(Path(resting_steps.__file__).parents[2])
MOST_LEFT_OUT = 8  # a step of it whose gradients are left out
MOST_BY_HAND_LEFT_OUT = 9
MOST_PASSED, MOST_BY_HAND_PASSED = 6, 3  # a step that is passed over
RECORDER = str(Path(resting_steps.__file__).parents[1])


MOST_BY_HAND = 27  # the same in a loop that writes its weights itself; 26 with torch 2.13
MOST_BY_HAND_DEEP = 23  # and where its root calls rest too, published in between; 22.4 with torch 2.13


class Loop:
    def __init__(self, layers: int) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(*(nn.Linear(8, 8) for _ in range(layers)))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.model(torch.ones(4, 8)).pow(2).mean().backward()
        self.optimizer.step()


def at_rest(session: Session, layers: int, kind: type[Loop] = Loop) -> Loop:
    loop = kind(layers)
    for _ in range(FIRST_STEPS):
        loop.step()
    session.state.own_s += 100.0
    for _ in range(3):
        loop.step()
    assert session.events.target is session.events.resting
    return loop


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with under_watch(tmp_path, cost=0.0, inspect_steps=0) as watched:
        yield watched


def aten_calls(loop: Loop) -> Counter[str]:
    with AtenCalls() as counted:
        loop.step()
    return counted.counts


@pytest.mark.parametrize("layers", [FEW, MANY])
def test_at_rest_a_step_has_one_fused_norm_more_than_bare(
    session: Session, monkeypatch: pytest.MonkeyPatch, layers: int
) -> None:
    loop = at_rest(session, layers)
    monkeypatch.setattr(resting_steps, "functions", lambda: 0)
    monkeypatch.setattr(resting_steps, "dispatches", lambda: 0)
    watched = aten_calls(loop)
    with session.hooks.disabled():
        watched.subtract(aten_calls(loop))
    assert dict(+watched) == {"aten::_foreach_norm": 1}


class PythonCalls:
    """Calls of functions that lie in our package."""

    folder = OURS

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(self.folder):
            self.counts[frame.f_code.co_qualname if sys.version_info >= (3, 11) else frame.f_code.co_name] += 1


@pytest.mark.parametrize("layers", [FEW, MANY])
def test_at_rest_a_step_runs_few_functions_of_ours(
    session: Session, monkeypatch: pytest.MonkeyPatch, layers: int
) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)
    loop, counted = at_rest(session, layers), PythonCalls()
    sys.setprofile(counted)
    try:
        loop.step()
    finally:
        sys.setprofile(None)
    assert counted.counts.total() - layers <= MOST_PYTHON, (counted.counts.total(), counted.counts.most_common(30))
    assert not any("Observer" in name for name in counted.counts)


class Searching(Loop):
    """Its optimizer calls the loss twice a step."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers)
        self.optimizer = torch.optim.LBFGS(  # type: ignore[assignment]
            self.model.parameters(), lr=1e-3, max_iter=2, tolerance_grad=0, tolerance_change=0
        )

    def step(self) -> None:
        def closure() -> torch.Tensor:
            self.optimizer.zero_grad()
            loss = self.model(torch.ones(4, 8)).pow(2).mean()
            loss.backward()
            return loss

        self.optimizer.step(closure)


class Scaling(Loop):
    """Its loss goes through a GradScaler."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=8.0)

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.scaler.scale(self.model(torch.ones(4, 8)).pow(2).mean()).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


@pytest.mark.parametrize("layers", [FEW, MANY])
@pytest.mark.parametrize(("kind", "calls", "most"), [(Searching, 2, MOST_SEARCHING), (Scaling, 1, MOST_SCALING)])
def test_steps_with_closures_and_scalers_run_few_functions_of_ours_at_rest(
    session: Session, monkeypatch: pytest.MonkeyPatch, layers: int, kind: type[Loop], calls: int, most: int
) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)
    loop, counted = at_rest(session, layers, kind), PythonCalls()
    sys.setprofile(counted)
    try:
        loop.step()
    finally:
        sys.setprofile(None)
    assert counted.counts.total() - calls * layers <= most, counted.counts.most_common(40)
    heard = [name for name in counted.counts if "Observer" in name and "Dispatcher" not in name]
    assert not [name for name in heard if not name.startswith("ScheduleObserver.")], "it counts updates, always"


class CallsAtWork(PythonCalls):
    """The same of the recorder, with the observers that were called by the dispatcher."""

    folder = RECORDER

    def __init__(self) -> None:
        super().__init__()
        self.observers = 0

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        super().__call__(frame, event, arg)
        by = frame.f_back
        dispatched = by is not None and by.f_code is ObserverDispatcher.dispatch.__code__
        self.observers += event == "call" and dispatched and isinstance(frame.f_locals.get("self"), Observer)


@pytest.mark.parametrize("layers", [FEW, MANY])
def test_at_work_a_step_runs_a_bounded_number_of_functions_of_ours(session: Session, layers: int) -> None:
    loop = Loop(layers)
    heard, called = Counter[int](), Counter[int]()
    for _ in range(10):  # not profiled: what is tried on a copy of the model would wait for the profiler to end
        loop.step()
    for _ in range(FIRST_STEPS - 10):
        counted = CallsAtWork()
        sys.setprofile(counted)
        try:
            loop.step()
        finally:
            sys.setprofile(None)
        heard[counted.observers] += 1
        called[counted.counts.total()] += 1
    (observers, _), (functions, _) = heard.most_common(1)[0], called.most_common(1)[0]
    assert 0 < observers <= MOST_OBSERVER, observers
    assert functions <= MOST_AT_WORK, functions


class LikeAFramework(Loop):
    """Draws batches from a loader, and runs forward and backward in the closure of its step."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers)
        data = torch.utils.data.TensorDataset(torch.ones(4096, 8))
        self.batches = iter(torch.utils.data.DataLoader(data, batch_size=4))

    def step(self) -> None:
        (x,) = next(self.batches)

        def closure() -> torch.Tensor:
            self.optimizer.zero_grad()
            loss = self.model(x).pow(2).mean()
            loss.backward()
            return loss

        self.optimizer.step(closure)  # type: ignore[arg-type]


@pytest.mark.parametrize("layers", [FEW, MANY])
def test_at_rest_a_step_of_a_framework_runs_few_functions_of_ours(
    session: Session, monkeypatch: pytest.MonkeyPatch, layers: int
) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)
    loop, counted = at_rest(session, layers, LikeAFramework), PythonCalls()
    rows = session.events.resting.steps
    while not (session.events.calls.rests and not rows.rows and not rows.to_release):
        loop.step()  # until root calls rest and batches from before are let go
    sys.setprofile(counted)
    try:
        for _ in range(resting_steps.MOST):  # they are published with the last
            loop.step()
    finally:
        sys.setprofile(None)
    each = counted.counts.total() / resting_steps.MOST
    assert each <= MOST_FRAMEWORK, (each, counted.counts.most_common(40))


@pytest.mark.parametrize(
    ("layers", "kind", "most"),
    [(FEW, None, MOST_LEFT_OUT), (MANY, None, MOST_LEFT_OUT), (MANY, "by hand", MOST_BY_HAND_LEFT_OUT)],
)
def test_a_step_whose_gradients_are_left_out_runs_fewer(
    session: Session, monkeypatch: pytest.MonkeyPatch, layers: int, kind: str | None, most: int
) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)
    loop, counted = at_rest(session, layers, ByHand if kind else LikeAFramework), PythonCalls()
    rows = session.events.resting.steps
    while not (session.events.calls.rests and not rows.rows and not rows.to_release):
        loop.step()
    rows.leaves_out = rows.to_leave_out = resting_steps.READ_EVERY - 1
    loop.step()
    sys.setprofile(counted)
    try:
        loop.step()
    finally:
        sys.setprofile(None)
    assert rows.rows[-1].grad_l2 is None
    assert counted.counts.total() <= most, counted.counts.most_common(40)


@pytest.mark.parametrize(("kind", "most"), [(None, MOST_PASSED), ("by hand", MOST_BY_HAND_PASSED)])
def test_a_step_that_is_passed_over_runs_the_fewest(
    session: Session, monkeypatch: pytest.MonkeyPatch, kind: str | None, most: int
) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)
    loop, passed = at_rest(session, MANY, ByHand if kind else LikeAFramework), session.events.passed
    while not (session.events.calls.rests and passed.to_come):
        session.governor.resting_s.update(dict.fromkeys(session.governor.resting_s, -0.34))
        loop.step()
    counted, rows = PythonCalls(), len(session.events.resting.steps.rows)
    sys.setprofile(counted)
    try:
        loop.step()
    finally:
        sys.setprofile(None)
    assert len(session.events.resting.steps.rows) == rows
    assert counted.counts.total() <= most, counted.counts.most_common(40)


class ByHand(Loop):
    """Writes its weights itself."""

    def step(self) -> None:
        self.model.zero_grad()
        self.model(torch.ones(4, 8)).pow(2).mean().backward()
        for parameter in self.model.parameters():
            assert parameter.grad is not None
            parameter.data.add_(-0.01 * parameter.grad)


@pytest.mark.parametrize("layers", [FEW, MANY])
def test_at_rest_a_loop_that_writes_its_weights_itself_has_one_fused_norm_and_few_functions_of_ours(
    session: Session, monkeypatch: pytest.MonkeyPatch, layers: int
) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)
    loop = at_rest(session, layers, ByHand)
    counted = PythonCalls()
    sys.setprofile(counted)
    try:
        loop.step()
    finally:
        sys.setprofile(None)
    assert counted.counts.total() - (layers + 1) <= MOST_BY_HAND, counted.counts.most_common(20)
    monkeypatch.setattr(resting_backwards, "foreign", lambda: False)
    watched = aten_calls(loop)
    with session.hooks.disabled():
        watched.subtract(aten_calls(loop))
    added = dict(+watched)
    assert added.pop("aten::detach", 0) <= 1
    assert added == {"aten::_foreach_norm": 1}


def test_where_its_root_calls_rest_a_backward_runs_few_functions_of_ours(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resting_steps, "LONGEST_S", 60.0)
    loop, rows = at_rest(session, MANY, ByHand), session.events.resting.steps
    for _ in range(4 * resting_steps.MOST):
        loop.step()
        if session.events.calls.rests and not rows.rows and not rows.to_release:
            break
    assert session.events.calls.rests
    counted = PythonCalls()
    sys.setprofile(counted)
    try:
        for _ in range(resting_steps.MOST):  # they are published with the last
            loop.step()
    finally:
        sys.setprofile(None)
    each = counted.counts.total() / resting_steps.MOST
    assert each <= MOST_BY_HAND_DEEP, (each, counted.counts.most_common(40))
