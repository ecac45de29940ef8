"""The desk of the takers: hands every moment to those who asked for it, and collects the facts they write down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.plugins import members
from debugtracer.probes.frames import frames_of, user_frames
from debugtracer.probes.taker import Taker
from debugtracer.recorder.batches import BatchLog
from debugtracer.recorder.measuring import measuring
from debugtracer.recorder.recorder import Recorder
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.step import Phase, StepRef

FIRST_STEPS = 3  # steps inspected from the start: the effect invariants of CHECKS 6.3
MOMENTS = [name for name, value in vars(Taker).items() if callable(value) and not name.startswith("_") and name not in ("install", "remove", "forget")]


class Desk:
    """One per process. What a taker raises is counted, and after three failures it is left alone."""

    def __init__(
        self, recorder: Recorder, batches: BatchLog, built: Mapping[Optimizer, Any], inspect_steps: int, paused: Callable[[], AbstractContextManager[Any]]
    ) -> None:
        self.recorder = recorder
        self.batches = batches
        self.built = built
        self.is_foreign: Callable[[Optimizer], bool] = lambda optimizer: False
        """True for an optimizer of another thread, whose gradients must not be looked at."""
        self.inspect_steps = inspect_steps
        self.paused = paused
        self.takers: dict[str, Taker] = {}
        self.listeners: dict[str, list[Callable[..., None]]] = {}
        self.facts: list[Fact] = []
        self.values: dict[str, float] = {}
        """Numbers of this step for series of their own (`val_loss`, `logged/NAME`, `tracked/NAME`)."""
        self.function_tests = True
        """The user allows extra forwards on the first step."""
        self.compiles = False
        """The program compiles something: no global hooks and no function mode inside modules."""
        self.silent: Callable[[], AbstractContextManager[Any]] = nullcontext
        """A context in which no probe listens: calls of our own."""
        self.off = False
        self.failures: dict[int, int] = {}

    def open(self) -> None:
        """Find the takers (the folder is the registry) and attach them."""
        import debugtracer.probes

        self.takers = self.takers or members(debugtracer.probes, Taker)  # a session that listens again knows what it knew
        for taker in self.takers.values():
            taker.desk = self
        self.listeners = {name: [getattr(t, name) for t in self.takers.values() if getattr(type(t), name) is not getattr(Taker, name)] for name in MOMENTS}
        for taker in self.takers.values():
            self.attempt(taker.install, ())

    def close(self) -> None:
        """Detach them, last first."""
        for taker in reversed(list(self.takers.values())):
            self.attempt(taker.remove, ())
        self.listeners.clear()

    def tell(self, fact: Fact) -> None:
        """Write down a fact; it is judged with the next step."""
        self.facts.append(fact)

    def put(self, series: str, value: float) -> None:
        """A number of a series; it is kept and judged with the step in flight, the last one of a step wins."""
        self.values[series] = value

    def take_values(self) -> dict[str, float]:
        """The numbers since the last call."""
        values, self.values = self.values, {}
        return values

    def take(self) -> list[Fact]:
        """The facts since the last call."""
        told, self.facts = self.facts, []
        return told

    def moment(self, name: str, *args: Any) -> None:
        """Tell the takers that ask for it. Never raises into the host."""
        listeners = self.listeners.get(name)
        if not listeners or self.off or torch._C._are_functorch_transforms_active():  # inside vmap and grad tensors have no values
            return
        begin = perf_counter()
        with self.paused(), measuring(self.recorder.roots.sharded):
            for listener in listeners:
                self.attempt(listener, args)
        self.recorder.own_s += perf_counter() - begin

    def incident(self) -> tuple[Fact, ...]:
        """Tell the takers of an incident; the facts of its step."""
        self.moment("incident")
        return tuple(self.facts)

    def attempt(self, listener: Callable[..., None], args: tuple[Any, ...]) -> None:
        """One taker at one moment."""
        owner = id(getattr(listener, "__self__", listener))
        if self.failures.get(owner, 0) >= 3:
            return
        try:
            listener(*args)
        except StoppedByTracer:
            raise
        except Exception as error:
            self.failures[owner] = self.failures.get(owner, 0) + 1
            swallow(f"probes.{type(getattr(listener, '__self__', listener)).__name__}", error)

    def wants(self, name: str) -> bool:
        """Whether any taker listens to a moment."""
        return bool(self.listeners.get(name)) and not self.off

    @property
    def step(self) -> int:
        """Number of the optimizer step in flight."""
        return self.recorder.step

    @property
    def iteration(self) -> int:
        """Number of the next outermost backward (during one: its own, until it has ended)."""
        return self.recorder.iteration

    @property
    def inspecting(self) -> bool:
        """A step looked at closely: the first three, then every `inspect_steps`-th. Costs more, so nothing else is."""
        step = self.recorder.step if self.recorder.has_optimizer else self.recorder.iteration
        return step < FIRST_STEPS or (self.inspect_steps > 0 and step % self.inspect_steps == 0)

    def ref(self, phase: Phase = "loss", iteration: int | None = None) -> StepRef:
        """This place in the run; pass `iteration` where the counter is already one ahead (after a backward)."""
        return StepRef(iteration=self.recorder.iteration if iteration is None else max(iteration, 0), step=self.recorder.step, phase=phase)

    def here(self) -> Frame | None:
        """The user's innermost line now. Reads the source: not on a hot path."""
        frames = user_frames(1)
        return frames[0] if frames else None

    def built_at(self, optimizer: Optimizer) -> Frame | None:
        """Where the user built an optimizer."""
        raw = self.built.get(optimizer)
        frames = frames_of(raw) if raw is not None else ()
        return frames[0] if frames else None

    def names(self) -> dict[int, str]:
        """id of each parameter -> its path below the root that ran (`module.` and `_orig_mod.` removed). Walks all modules: not on a hot path."""
        return self.recorder.roots.named_parameters()

    def modules(self) -> list[nn.Module]:
        """Root modules called so far that have parameters; inside a Lightning module, that module."""
        roots = [
            (root.owner() if root.owner is not None else None) or module for module, root in list(self.recorder.roots.known.items()) if root.has_parameters
        ]
        return list({id(module): module for module in roots}.values())

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.facts.clear()
        self.values.clear()
        for taker in self.takers.values():
            self.attempt(taker.forget, ())
