"""Facts about root calls at rest: torch gets its call back afterwards, each outermost call is
told once, and nothing of ours is met inside a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules import module as everywhere

from debugtracer.hooks.resting_calls import INNER, is_small
from debugtracer.recorder.governor import FIRST_STEPS
from debugtracer.session import Session
from tests.watching import under_watch

CALL = nn.Module.__call__


class Net(nn.Module):
    """Of a class that nothing else has."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.breaks = nn.Linear(4, 1), False

    def forward(self, x: torch.Tensor, depth: int = 0) -> torch.Tensor:
        if self.breaks:
            raise ValueError("broken")
        hooked = bool(everywhere._global_forward_hooks or everywhere._global_forward_pre_hooks or self._forward_hooks)
        self.saw_hooks = hooked
        return self(x, depth - 1) if depth else self.body(x)


class OwnCall(Net):
    """Has a call of its own."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Loop:
    def __init__(self, kind: type[Net]) -> None:
        self.model = kind()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def go(self, steps: int) -> None:
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.model(torch.ones(2, 4)).square().mean().backward()
            self.optimizer.step()

    def to_rest(self, session: Session) -> None:
        self.go(FIRST_STEPS)
        session.state.own_s += 100.0
        self.go(3)
        assert session.events.rests()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with under_watch(tmp_path, cost=0.0, inspect_steps=0) as watched:
        yield watched


def test_at_rest_no_hook_is_met_and_the_class_is_given_back_when_all_works_again(session: Session) -> None:
    loop = Loop(Net)
    loop.to_rest(session)
    assert nn.Module.__call__ is not CALL
    loop.go(1)
    assert not loop.model.saw_hooks
    session.events.wake()
    assert nn.Module.__call__ is CALL
    loop.go(1)
    assert loop.model.saw_hooks


def test_it_is_given_back_at_the_end(tmp_path: Path) -> None:
    with under_watch(tmp_path, cost=0.0, inspect_steps=0) as session:
        Loop(Net).to_rest(session)
    assert nn.Module.__call__ is CALL
    assert not everywhere._global_forward_hooks


def test_an_outermost_call_is_kept_once(session: Session) -> None:
    loop = Loop(Net)
    loop.to_rest(session)
    x = torch.ones(2, 4)
    loop.model(x, depth=3)
    ((module, args, kwargs, _),) = session.tape.deferred
    assert module is loop.model and args[0] is x and kwargs == {"depth": 3}
    assert session.state.open_root.module is None


def test_a_call_that_fails_raises_the_same_and_the_next_is_seen(session: Session) -> None:
    loop = Loop(Net)
    loop.to_rest(session)
    loop.model.breaks = True
    with pytest.raises(ValueError, match="broken") as raised:
        loop.model(torch.ones(2, 4))
    assert session.state.open_root.module is None
    assert not any("debugtracer" in entry.path.as_posix() for entry in raised.traceback)
    loop.model.breaks = False
    loop.model(torch.ones(2, 4))
    assert len(session.tape.deferred) == 1


def test_where_a_class_has_a_call_of_its_own_its_modules_are_told_once(session: Session) -> None:
    loop = Loop(OwnCall)
    loop.to_rest(session)
    loop.model(torch.ones(2, 4))
    assert len(session.tape.deferred) == 1


def test_a_model_of_many_modules_keeps_its_hooks(session: Session) -> None:
    loop = Loop(Net)
    loop.model.body = nn.Sequential(*(nn.Linear(4, 4) for _ in range(INNER)), nn.Linear(4, 1))
    loop.optimizer = torch.optim.SGD(loop.model.parameters(), lr=0.01)
    loop.to_rest(session)
    assert nn.Module.__call__ is CALL
    assert is_small(nn.Linear(4, 4)) and not is_small(loop.model)


def test_the_calls_of_a_tracer_of_graphs_are_not_hidden(session: Session) -> None:
    loop = Loop(Net)
    loop.to_rest(session)
    with torch.no_grad():
        graph = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
    assert [node.op for node in graph.graph.nodes].count("call_module") == 2


def test_nothing_is_patched_once_the_program_compiles(session: Session) -> None:
    loop = Loop(Net)
    loop.to_rest(session)
    torch.compile(lambda x: x)
    assert nn.Module.__call__ is CALL
    session.state.own_s += 100.0
    loop.go(3)
    assert session.events.rests()
    assert nn.Module.__call__ is CALL


def test_a_model_that_was_compiled_before_the_watch_is_called_and_nothing_is_patched(tmp_path: Path) -> None:
    loop = Loop(Net)
    compiled, twice = torch.compile(loop.model, backend="eager"), nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    with under_watch(tmp_path) as session:
        loop.to_rest(session)
        assert nn.Module.__call__ is CALL
        assert compiled(torch.ones(3, 4)).shape == torch.compile(twice, backend="eager")(torch.ones(3, 4))[:, :1].shape
