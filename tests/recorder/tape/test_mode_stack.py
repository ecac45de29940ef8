"""Facts about the place of our function mode: on the stack once, off it while it would cost, and never left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _len_torch_function_stack, _pop_mode

from debugtracer.recorder.tape.mode_stack import ModeStack


class Mode(TorchFunctionMode):
    """Notes what it hears while its stack is not off."""

    def __init__(self, stack: ModeStack) -> None:
        super().__init__()
        self.stack = stack
        self.heard: list[str] = []
        stack.attach(self)

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not self.stack.off:
            self.heard.append(function.__name__)
        return function(*args, **(kwargs or {}))


class Other(TorchFunctionMode):
    """A mode of the program."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


@pytest.fixture
def mode() -> Iterator[Mode]:
    found = Mode(ModeStack())
    yield found
    found.stack.pop()
    assert _len_torch_function_stack() == 0


def test_without_a_mode_every_call_is_harmless() -> None:
    stack = ModeStack()
    stack.push()
    stack.move()
    popped = stack.suspend()
    stack.resume(popped)
    stack.resume(True)
    with stack.paused():
        assert not stack.listening()
    stack.pop()
    assert (stack.off, stack.pushed, _len_torch_function_stack()) == (0, False, 0)


def test_pushed_twice_it_lies_there_once(mode: Mode) -> None:
    mode.stack.push()
    mode.stack.push()
    assert _len_torch_function_stack() == 1
    assert mode.stack.listening()
    mode.stack.pop()
    mode.stack.pop()
    assert _len_torch_function_stack() == 0
    assert not mode.stack.listening()


def test_paused_it_leaves_the_stack_and_comes_back_after_an_exception_too(mode: Mode) -> None:
    mode.stack.push()
    with pytest.raises(ValueError, match="mine"), mode.stack.paused():
        assert _len_torch_function_stack() == 0
        torch.ones(1)
        raise ValueError("mine")
    torch.zeros(1)
    assert mode.heard == ["zeros"]


def test_paused_under_a_mode_of_the_program_both_stay_and_ours_is_off(mode: Mode) -> None:
    mode.stack.push()
    with Other() as other:
        assert not mode.stack.listening()
        with mode.stack.paused(), mode.stack.paused():
            assert (_get_current_function_mode(), mode.stack.off) == (other, 2)
            torch.ones(1)
    assert mode.stack.off == 0
    torch.zeros(1)
    assert mode.heard == ["zeros"]


def test_popped_under_a_mode_of_the_program_it_is_off_for_good(mode: Mode) -> None:
    mode.stack.push()
    with Other():
        mode.stack.pop()
    torch.ones(1)
    assert (mode.heard, mode.stack.pushed) == ([], False)
    _pop_mode()


def test_it_moves_to_the_thread_that_trains(mode: Mode) -> None:
    mode.stack.push()
    lengths = []

    def train() -> None:
        mode.stack.move()
        lengths.append(_len_torch_function_stack())
        torch.ones(1)
        mode.stack.pop()
        lengths.append(_len_torch_function_stack())

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert (lengths, mode.heard) == ([1, 0], ["ones"])
    _pop_mode()  # the stack of this thread could not be reached from there


def test_a_suspension_that_an_exception_left_open_is_undone_by_reset(mode: Mode) -> None:
    mode.stack.push()
    with Other():
        mode.stack.suspend()
    torch.ones(1)
    assert mode.heard == []
    mode.stack.reset()
    torch.zeros(1)
    assert mode.heard == ["zeros"]


def test_while_it_rests_nobody_pushes_it(mode: Mode) -> None:
    mode.stack.rest(True)
    mode.stack.push()
    assert (_len_torch_function_stack(), mode.stack.pushed) == (0, False)
    mode.stack.rest(False)
    assert (_len_torch_function_stack(), mode.stack.pushed) == (1, True)


def test_a_mode_of_the_program_that_lies_on_top_is_not_taken_off_by_a_rest(mode: Mode) -> None:
    mode.stack.push()
    with Other() as other:
        mode.stack.rest(True)
        assert _get_current_function_mode() is other
    mode.stack.rest(False)
    assert (_len_torch_function_stack(), mode.stack.pushed) == (1, True)


def test_suspended_under_a_mode_of_the_program_it_stays_where_it_is_until_each_is_resumed(mode: Mode) -> None:
    stack = mode.stack
    stack.push()
    with Other():
        first = stack.suspend()
    second = stack.suspend()
    assert (first, second, stack.off, stack.pushed) == (False, False, 2, True)
    assert not stack.listening()
    stack.resume(second)
    assert not stack.listening()
    stack.resume(first)
    assert stack.listening()


def test_work_that_is_due_begins_when_the_last_suspension_ends_and_once(mode: Mode) -> None:
    stack = mode.stack
    stack.rest(True)
    outer, inner = stack.suspend(), stack.suspend()
    stack.rest(False)
    assert (stack.due, stack.pushed, stack.off) == (True, False, 2)
    stack.resume(inner)
    assert (stack.due, stack.pushed, stack.off) == (True, False, 1)
    stack.resume(outer)
    assert (stack.due, stack.pushed, stack.off, _len_torch_function_stack()) == (False, True, 0, 1)


def test_a_rest_that_changes_nothing_leaves_what_is_due(mode: Mode) -> None:
    stack = mode.stack
    stack.rest(True)
    outer = stack.suspend()
    stack.rest(False)
    stack.rest(False)
    assert (stack.due, stack.resting) == (True, False)
    stack.rest(True)
    assert (stack.due, stack.resting) == (False, True)
    stack.resume(outer)
    assert not stack.pushed


def test_what_rests_is_taken_off_and_says_so(mode: Mode) -> None:
    stack = mode.stack
    stack.push()
    stack.rest(True)
    assert (_len_torch_function_stack(), stack.pushed, stack.listening()) == (0, False, False)
    stack.reset()
    assert (stack.resting, stack.due, stack.off) == (False, False, 0)
    stack.push()
    assert stack.listening()


def test_a_mode_that_is_not_pushed_is_popped_without_a_trace(mode: Mode) -> None:
    with Other() as other:
        mode.stack.pop()
        assert _get_current_function_mode() is other
    assert mode.stack.off == 0
