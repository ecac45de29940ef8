"""An observed run without hooks around it, for tests that call an observer themselves."""

from __future__ import annotations

import contextlib

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.governor import Governor
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.mode_stack import ModeStack


def a_run(*, inspect_steps: int = 100) -> ObservedRun:
    """A run in which nothing has happened yet."""
    state = RunState()
    return ObservedRun(
        state,
        BatchLog(),
        ModeStack(),
        contextlib.nullcontext,
        Governor(1.0, state),
        inspect_steps=inspect_steps,
        function_tests=True,
    )
