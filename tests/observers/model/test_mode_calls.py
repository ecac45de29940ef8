"""Calls of train() and eval(), as they came."""

from __future__ import annotations

import gc

from torch import nn

from debugtracer.observers.model.mode_calls import KEPT, ModeCalls


def test_the_last_call_that_reached_a_part():
    calls, model = ModeCalls(), nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    assert calls.last(model[1]) is None
    calls.note(model, True, ())
    calls.note(model[1], False, ())
    calls.note(nn.Linear(2, 2), True, ())
    (module, call) = calls.last(model[1])
    assert (module is model[1], call.mode, call.number) == (True, False, 2)
    assert calls.last(model[1], mode=True)[0] is model
    assert calls.last(model[0])[1].number == 1


def test_nothing_is_kept_alive_and_old_calls_go():
    calls, model = ModeCalls(), nn.Linear(2, 2)
    for _ in range(KEPT + 1):
        calls.note(model, True, ())
    assert (len(calls.calls), calls.count) == (KEPT, KEPT + 1)
    del model
    gc.collect()
    assert all(call.module() is None for call in calls.calls)
    calls.clear()
    assert not calls.calls


def test_who_listens_hears_the_mode_of_each_call():
    calls, modes, model = ModeCalls(), [], nn.Linear(2, 2)
    calls.on_call(modes.append)
    calls.note(model, True, ())
    calls.note(model, False, ())
    assert modes == [True, False]
