"""The line that carries a graph from turn to turn."""

from __future__ import annotations

import sys

import torch

from debugtracer.callsites.origins.carried_state import carried_at


def run(detach: bool):
    weight, state, total = torch.ones(2, requires_grad=True), None, 0.0
    for turn in range(2):
        fresh = weight * turn
        state = weight * 2 if state is None else state * weight
        total = total + 1.0
        state = state.detach() if detach else (state + fresh)
        if turn == 1:
            frame = sys._getframe()
            return carried_at(frame, frame.f_lineno - 1), run.__code__.co_firstlineno
    return None


def test_the_last_write_of_what_the_loop_has_read_before():
    found, top = run(detach=False)
    assert found is not None
    assert found.line - top == 6


def test_a_detached_state_and_plain_numbers_carry_nothing():
    assert run(detach=True)[0] is None
