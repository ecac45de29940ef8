"""Facts about what hooks report to: of itself it changes nothing, so a loop under all hooks is the loop without
them."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from debugtracer.hooks.backward import BackwardHook
from debugtracer.hooks.clip import ClipHook
from debugtracer.hooks.custom_function import CustomFunctionHook
from debugtracer.hooks.events.loop_events import LoopEvents, RestableEvents
from debugtracer.hooks.events.step_events import StepEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.loading.loader import LoaderHook
from debugtracer.hooks.module import ModuleHook
from debugtracer.hooks.optimizer import OptimizerHook
from debugtracer.hooks.scaler import ScalerHook
from debugtracer.hooks.scheduler import SchedulerHook
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.mode_stack import ModeStack

EVENTS = [
    name
    for kind in (RestableEvents, LoopEvents)
    for name, value in vars(kind).items()
    if callable(value) and not name.startswith("_")
]


class Silent(LoopEvents):
    """Overrides nothing."""


def every_hook(events: LoopEvents) -> list[Any]:
    thread, stack, state = TrainingThread(), ModeStack(), RunState()
    return [
        LoaderHook(events, BatchLog(), stack, state, thread, None, None),
        BackwardHook(events, thread, stack, state),
        OptimizerHook(events, thread, state),
        ScalerHook(events, thread),
        ModuleHook(events, thread, state.open_root),
        ClipHook(events, thread),
        SchedulerHook(events, stack),
        CustomFunctionHook(events, stack),
    ]


def trained() -> list[torch.Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.3), nn.Linear(4, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    for x in DataLoader(torch.randn(8, 3), batch_size=4, shuffle=True):
        optimizer.zero_grad()
        scaler.scale(model(x).square().mean()).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
    return [p.detach().clone() for p in model.parameters()]


def test_a_loop_under_every_hook_has_the_bits_of_the_bare_loop() -> None:
    bare, hooks = trained(), every_hook(Silent())
    for hook in hooks:
        hook.install()
    try:
        assert all(torch.equal(a, b) for a, b in zip(bare, trained(), strict=True))
    finally:
        for hook in reversed(hooks):
            hook.remove()


def test_methods_that_are_given_the_original_call_run_it_and_give_its_output() -> None:
    events, owner = Silent(), object()
    assert events.clip(lambda *args, **kwargs: (args, kwargs), (1, 2), {"norm_type": 1}) == ((1, 2), {"norm_type": 1})
    assert events.custom_function(lambda *args, **kwargs: (args, kwargs), (1,), {"times": 2}) == ((1,), {"times": 2})
    assert events.zero_grad(owner, lambda *args, **kwargs: (args, kwargs), (True,), {}) == ((owner, True), {})
    assert events.step(owner, lambda *args, **kwargs: (args, kwargs), (), {"closure": 3}) == ((owner,), {"closure": 3})
    assert events.scaler_call("step", owner, lambda *args, **kwargs: (args, kwargs), (4,), {}) == ((owner, 4), {})


def test_no_batch_is_handed_out_again_and_no_backward_is_marked() -> None:
    assert Silent().again(object()) is None
    assert Silent().backward_begins([], None, {}) is None


def test_the_session_answers_each_of_them_itself() -> None:
    for name in set(EVENTS) - {"rests", "takes_loss"}:  # it never rests
        assert name in vars(StepEvents), name
        assert list(inspect.signature(getattr(StepEvents, name)).parameters) == list(
            inspect.signature(getattr(LoopEvents, name)).parameters
        )
