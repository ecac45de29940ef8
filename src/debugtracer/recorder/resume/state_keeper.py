"""Saves the state of a run now and then, so that one which is killed goes on from there; how often follows from what it
costs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

from torch import Tensor

from debugtracer.errors import DebugTracerError, swallow
from debugtracer.recorder.listeners import PassListener
from debugtracer.recorder.resume.loader_passes import LoaderPasses
from debugtracer.recorder.run_state import RunState, parameters, several_ranks
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef

SHARE = 1 / 6  # of the promised share of training time that saving may take (ours)
BYTES_S = 2e8  # bytes written a second, a low guess for the first time (ours)
RANK_STEPS = 1000  # steps between two states where several ranks save: all of them at the same step (ours)
TRIES = 3  # times that a state may fail to be written before it is given up (ours)


class StateKeeper(PassListener):
    """One per process, in modes val and prod. It saves where a batch is fetched and the last one was trained on: there
    nothing of a step is in flight. A fetch costs a comparison."""

    waiting = True

    def __init__(
        self, state: RunState, passes: LoaderPasses, write: Callable[[], float | None], every_s: float, cost: float
    ) -> None:
        """Take what has the present state written, gives the CPU seconds that the last one took beside training (None:
        they are not known) and raises DebugTracerError, and the promised share of training time."""
        self.state, self.passes, self.write = state, passes, write
        self.every_s, self.share = every_s, cost * SHARE if cost < 1 else float("inf")
        self.reset()

    def reset(self) -> None:
        """Begin anew: nothing is saved yet."""
        self.due_s = perf_counter() + self.every_s
        self.step = self.saved_step = self.failed = 0
        self.estimated = self.told = False
        self.last: Callable[[], Any] = none
        """The iterator that was fetched from last."""
        self.fetched: ById[Any, int] = ById()
        """The step at which each was fetched from last."""

    def before_fetch(self, iterator: Any) -> bool:
        state = self.state
        by_steps = state.roots.sharded and several_ranks()  # all ranks write it together: no clock may decide
        if (perf_counter() < self.due_s and not by_steps) or self.failed >= TRIES:
            return False
        if state.step == self.step and iterator is self.last():
            return False  # a step in parts, or a pass that does not train
        trained = self.fetched.get(iterator, state.step) < state.step
        self.fetched[iterator] = self.step = state.step
        self.last = WeakRef(iterator)
        if trained:
            try:
                self.consider()
            except Exception as error:
                self.failed = TRIES
                swallow("recorder.state_keeper", error)
        return False

    def consider(self) -> None:
        """Write the state, unless something is wrong with this step or it would cost too much."""
        state = self.state
        if several_ranks() and (state.step < RANK_STEPS or state.step // RANK_STEPS == self.saved_step // RANK_STEPS):
            return
        if state.quiet_until_healthy or not self.passes.inside():
            return
        if not self.estimated and not several_ranks():
            self.estimated = True
            if self.postpone(held_bytes(state) / BYTES_S):
                return
        self.saved_step, begin, beside_s = state.step, perf_counter(), None
        try:
            with contextlib.nullcontext() if state.roots.sharded else state.owned():  # whole tensors, not parts of them
                beside_s = self.write()
            if beside_s is not None:
                self.failed = 0
        except DebugTracerError as error:
            self.fail(error)
        self.postpone(perf_counter() - begin + (beside_s or 0.0))

    def postpone(self, cost_s: float) -> bool:
        """Set when the next one is due by what one costs; False where that is now."""
        wait_s = max(self.every_s, cost_s / self.share)
        self.due_s = perf_counter() + wait_s
        self.fetched = ById()  # what came before then says nothing of the fetch that is due
        return wait_s > self.every_s

    def fail(self, error: DebugTracerError) -> None:
        """Say once that saving fails; it is tried again when the next one is due, and given up after some tries."""
        self.failed += 1
        if not self.told:
            self.told = True
            print(
                f"debug-tracer: step {self.state.step} - the last good state was not saved: {error} - the one before "
                "it stays, training goes on.",
                file=sys.stderr,
                flush=True,
            )


def none() -> None:
    """Return nothing, as a reference to what is gone."""


def held_bytes(state: RunState) -> int:
    """The bytes of all parameters, with two moments."""
    held = {id(p): p for optimizer in state.optimizers for p in parameters(optimizer)}
    return sum(3 * p.nbytes for p in held.values() if isinstance(p, Tensor))
