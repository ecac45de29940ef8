"""All hooks of a session: in order, last first, and silent inside a with block."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer import errors
from debugtracer.hooks.hook_set import HookSet
from debugtracer.recorder.tape.mode_stack import ModeStack
from tests.watching import under_watch


def test_inside_nothing_is_counted_and_afterwards_everything_is(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with session.hooks.disabled():
            assert session.observed_run.off
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        assert (session.state.iteration, session.state.step) == (0, 0)
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        assert (session.state.iteration, session.state.step) == (1, 1)
        assert not session.observed_run.off


class Noting:
    """A hook that notes what is asked of it, in a list that several share."""

    def __init__(self, name, calls):
        self.name, self.calls = name, calls

    def install(self):
        self.calls.append(f"{self.name} on")

    def remove(self):
        self.calls.append(f"{self.name} off")

    def pause(self):
        self.calls.append(f"{self.name} silent")

    def resume(self):
        self.calls.append(f"{self.name} awake")


class Broken(Noting):
    def install(self):
        raise ValueError("broken")


def test_hooks_are_installed_in_order_and_removed_last_first():
    calls = []
    hooks = HookSet(ModeStack())
    hooks.add(Noting("a", calls), Noting("b", calls))
    hooks.add(Noting("c", calls))
    hooks.install()
    hooks.remove()
    assert calls == ["a on", "b on", "c on", "c off", "b off", "a off"]


def test_a_hook_that_fails_is_counted_and_the_others_go_on(monkeypatch, capsys):
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    monkeypatch.setattr(errors, "failures", {})
    calls = []
    hooks = HookSet(ModeStack())
    hooks.add(Broken("a", calls), Noting("b", calls))
    hooks.install()
    assert calls == ["b on"]
    assert list(errors.failures) == ["install Broken"]


def test_all_are_silent_inside_with_what_is_no_hook_also_after_an_exception():
    calls = []
    hooks = HookSet(ModeStack())
    hooks.pause_too(Noting("observers", calls))
    hooks.add(Noting("a", calls))
    with pytest.raises(ValueError, match="mine"), hooks.disabled():
        assert calls == ["observers silent", "a silent"]
        calls.clear()
        raise ValueError("mine")
    assert calls == ["observers awake", "a awake"]


def test_the_function_mode_is_off_the_stack_inside_and_back_afterwards(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        assert session.stack.listening()
        with session.hooks.disabled(), session.hooks.disabled():
            assert not session.stack.listening()
            torch.ones(2).exp()
        assert session.stack.listening()
        assert not session.tape.current.entries
