"""Locals of a running frame, read without a trace."""

from __future__ import annotations

import gc
import sys
import weakref
from types import SimpleNamespace

import torch

from debugtracer.callsites.frame_locals import local, locals_of, uses_locals


def look() -> dict:
    return locals_of(sys._getframe(1))


def test_names_and_values_are_there():
    first, second = 1, torch.ones(2)
    seen = look()
    assert first
    assert (seen["first"], seen["second"] is second) == (1, True)
    assert local(sys._getframe(), "first") == 1
    assert local(sys._getframe(), "missing") is None


def test_a_look_keeps_no_tensor_alive():
    def loop():
        held = torch.ones(3)
        seen = weakref.ref(held)
        look()
        del held
        gc.collect()
        return seen()

    assert loop() is None


def test_the_frame_goes_on_with_its_values():
    def loop():
        count = 0
        for _ in range(3):
            count += look()["count"] + 1
        return count

    assert loop() == 7


def test_what_the_user_got_of_locals_stays_as_it_was():
    def loop():
        rate, steps = 0.1, 10
        settings = locals()
        late = torch.ones(1)
        return look(), dict(settings), late

    _, settings, _ = loop()
    assert settings == {"rate": 0.1, "steps": 10}


def test_names_of_a_module_are_never_emptied():
    space = {"__name__": "somewhere", "look": look}
    exec(compile("rate = 3\nseen = look()\nafter = rate", "somewhere.py", "exec"), space)
    assert (space["seen"]["rate"], space["after"]) == (3, 3)


def test_a_debugger_that_runs_in_the_frame_loses_nothing():
    seen = []

    def trace(frame, event, _):
        if frame.f_code.co_name == "loop":
            seen.append(locals_of(frame).get("x"))
        return trace

    def loop():
        x = 5
        return x + 1

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        answer = loop()
    finally:
        sys.settrace(before)
    assert answer == 6
    assert 5 in seen


def test_vars_of_an_object_asks_for_no_locals():
    def settings(args):
        rate = args.lr
        return vars(args), list(map(vars, [args])), look(), rate

    def mine():
        rate = 0.1
        return vars(), look(), rate

    assert not uses_locals(settings.__code__)
    assert uses_locals(mine.__code__)
    _, _, seen, _ = settings(SimpleNamespace(lr=0.1))
    assert seen["rate"] == 0.1
    given, seen, _ = mine()
    assert (given, seen) == ({"rate": 0.1}, {})
