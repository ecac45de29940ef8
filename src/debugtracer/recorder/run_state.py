"""Where the training stands, as one value that the rooms share instead of each other: counters, roots, optimizers, the
time that is ours."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.recorder.gate.scaled_losses import ScaledLosses
from debugtracer.recorder.gate.step_health import StepHealth
from debugtracer.recorder.gate.step_norms import StepNorms
from debugtracer.recorder.measuring import measuring
from debugtracer.recorder.phases import Phases
from debugtracer.recorder.state.averages import Averages
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.roots import Roots, RootState
from debugtracer.recorder.unseen_cost import UnseenCost
from debugtracer.trace.verdict import Verdict

OWN_UPDATES = 2  # changes of the weights between backward calls that show a loop with an idle optimizer (ours)


class RunState:
    """One per process. The recorder and the gate write it, everybody else reads."""

    def __init__(self) -> None:
        self.step = self.iteration = 0
        """Number of the optimizer step in flight, and of the next outermost backward."""
        self.stepped_by, self.stepped_at = 0, -1
        """`id` of the optimizer that has updated last, which may be gone, and the backward calls before that update."""
        self.fetched_at = -1
        """The iteration in which a loader handed out a batch last."""
        self.fetches = 0
        """Batches that loaders handed out while all rested."""
        self.has_optimizer = False
        """An optimizer was built or has stepped: its step ends a step, otherwise each backward does."""
        self.stepped = False
        """An optimizer has stepped."""
        self.weights_unread = False
        """Weights that the loop may write itself were not compared: sharded ones, and on a device in mode prod."""
        self.own_updates = 0
        """Updates that the loop wrote into its weights itself, seen between two of its backward calls."""
        self.start_s = self.end_s = 0.0
        """CPU seconds that our imports and hooks took before the program went on, and seconds of the end after it."""
        self.forward_since = False
        """A root forward ran since the last backward: what fails now belongs to the next iteration."""
        self.quiet_until_healthy = False
        """An incident was opened: no further one until a healthy step was seen."""
        self.compiles = False
        """The program compiles something: no global hooks and no function mode inside modules."""
        self.anomalies = 0
        """Incidents, and findings graver than a note: what makes close looks more frequent for a while."""
        self.health, self.norms = StepHealth(), StepNorms()
        self.verdict: Verdict | None = None
        """Of the incident that was opened last."""
        self.last_loss: Tensor | float | None = None
        """The loss of the last backward, without its graph; a number where all rests."""
        self.own_s = self.wait_s = self.step_s = 0.0
        """Seconds read by clocks inside our code in the whole run, waited for batches since the last step, and of the
        last step."""
        self.incident_s = 0.0
        """Seconds beside `own_s` that went into incidents, jumps of the loss and trials."""
        self.unseen = UnseenCost()
        self.phases = Phases(self)
        self.rested: dict[str, int] = {}
        """Part of what we do -> steps in which it rested, to stay under the promised cost."""
        self.judge_s = 0.0
        """CPU seconds that the threads of the judge and of the writer have used, as of the last step."""
        self.host_syncs = self.skipped = 0
        """Times that we waited for a device, and updates that a GradScaler did not make."""
        self.roots = Roots()
        self.root_states: dict[int, list[RootState]] = {}
        """Segment number -> state of each root before its first call in it."""
        self.open_root = OpenRoot()
        self.scaled = ScaledLosses()
        self.optimizers: ById[Optimizer, Any] = ById()
        """Optimizers of the training thread -> raw user frames of their constructor."""
        self.schedulers: ById[Any, bool] = ById()
        self.averages = Averages(self.roots.alive)
        self.scalers: ById[Any, bool] = ById()
        """What the program steps beside its optimizers: a checkpoint of ours holds their state too."""
        self.foreign: ById[Optimizer, bool] = ById()
        """Optimizers that another thread steps or has built: their gradients must not be looked at."""
        self.compiled: ById[Any, Any] = ById()
        """What was compiled -> raw user frames of the call that did it."""

    @property
    def backward_ends_step(self) -> bool:
        """Whether the loop updates its weights itself: no optimizer was ever built, or none has stepped and the weights
        change between backward calls."""
        return not self.has_optimizer or (not self.stepped and self.own_updates >= OWN_UPDATES)

    @property
    def iteration_in_flight(self) -> int:
        """The iteration that a crash belongs to (docs/rationale/contracts.md#iteration)."""
        return self.iteration if self.forward_since else max(self.iteration - 1, 0)

    @property
    def steady_s(self) -> float:
        """The seconds that watching has taken beside incidents: what clocks have read, with what they miss."""
        return self.own_s + self.unseen.seconds(self.own_s) + self.judge_s

    def started(self, seconds: float) -> None:
        """Count the start as ours."""
        self.start_s = seconds

    def ended(self, seconds: float) -> None:
        """Count the end as ours, beside the judge and what was investigated then."""
        self.end_s += max(seconds, 0.0)

    def fetched(self) -> None:
        """Note that a loader has handed out a batch: a call that never returned is over."""
        self.fetched_at = self.iteration
        self.fetches += 1
        if self.open_root.module is not None:
            self.open_root.reset()

    @contextlib.contextmanager
    def investigated(self) -> Iterator[None]:
        """Count the seconds inside as those of incidents; clocks that run meanwhile count none of them. Python's
        generator stays the program's: a library that is first imported to show a verdict draws from it (rich does)."""
        begin, own_s, drawn = perf_counter(), self.own_s, random.getstate()
        try:
            yield
        finally:
            random.setstate(drawn)
            self.own_s = own_s
            self.incident_s += perf_counter() - begin

    def owned(self) -> OwnedTime:
        """Return a context: time spent inside counts as ours, and no mode of the program's sees what torch is asked
        there."""
        return OwnedTime(self)

    def judged(self, seconds: float) -> None:
        """Set the CPU seconds that judging and writing have taken so far."""
        self.judge_s = seconds

    def take_wait_s(self) -> float:
        """Return the seconds waited for batches since the last call, and reset them."""
        waited, self.wait_s = self.wait_s, 0.0
        return waited

    def settle(self) -> None:
        """Drop what is in flight: an exception went through a step, or a new run begins."""
        self.root_states.clear()
        self.phases.drop()
        self.last_loss, self.forward_since = None, False

    def reset(self) -> None:
        """Count from 0, in a forked child and in a run after another one; what was built is still known."""
        self.settle()
        self.rested.clear()
        self.step = self.iteration = 0
        self.stepped_by, self.fetched_at, self.stepped_at = 0, -1, -1
        self.stepped, self.own_updates, self.weights_unread = False, 0, False
        self.own_s = self.incident_s = self.judge_s = self.start_s = self.end_s = 0.0
        self.unseen.reset()
        self.phases.reset()
        self.quiet_until_healthy = False
        self.anomalies = 0
        self.health, self.verdict = StepHealth(), None


class OwnedTime:
    """A context whose seconds, less those of incidents, are added to `own_s`, with the measuring context inside.
    Written out, for it is entered several times a step."""

    __slots__ = ("begin", "incident_s", "measuring", "state")

    def __init__(self, state: RunState) -> None:
        self.state = state

    def __enter__(self) -> None:
        self.incident_s = self.state.incident_s
        self.begin = perf_counter()
        self.measuring = measuring(self.state.roots.sharded)
        self.measuring.__enter__()

    def __exit__(self, *error: Any) -> None:
        try:
            self.measuring.__exit__(*error)
        finally:
            state = self.state
            state.own_s += perf_counter() - self.begin - (state.incident_s - self.incident_s)


FETCH = nn.Identity()
"""Stands where a root call would while a batch is fetched: a transform that is a module is no root."""


class OpenRoot:
    """The outermost module call in flight, and how often the same module was entered again inside it."""

    __slots__ = ("listeners", "module", "nested")

    def __init__(self) -> None:
        self.module: nn.Module | None = None
        self.nested = 0
        self.listeners: list[Callable[[], None]] = []

    def on_reset(self, listener: Callable[[], None]) -> None:
        """Call the listener whenever a call is forgotten."""
        self.listeners.append(listener)

    def begin_fetch(self) -> bool:
        """Take the calls of modules that follow for those of a dataset, until end_fetch(). False, and nothing changes,
        inside a root or the fetch of another loader."""
        if self.module is not None:
            return False
        self.module, self.nested = FETCH, 0
        return True

    def end_fetch(self) -> None:
        """Take calls for the program's again."""
        if self.module is FETCH:
            self.module = None

    def reset(self) -> bool:
        """Forget a call that never returned (KeyboardInterrupt inside a forward); True if there was one. A fetch ends
        by itself."""
        if self.module is FETCH:
            return False
        lost, self.module, self.nested = self.module is not None, None, 0
        for listener in self.listeners:
            listener()
        return lost


def parameters(optimizer: Optimizer) -> list[torch.Tensor]:
    """Return all parameters in optimizer order."""
    return [p for group in optimizer.param_groups for p in group["params"]]


def several_ranks() -> bool:
    """True when this process is one of several that compute together."""
    return (
        torch.distributed.is_available()
        and torch.distributed.is_initialized()
        and torch.distributed.get_world_size() > 1
    )
