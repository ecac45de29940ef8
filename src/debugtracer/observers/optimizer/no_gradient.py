"""Finds optimizers that step and never find a gradient."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.no_gradient import NoGradient

TELL = 64  # updates without a gradient that are news; then at the end of the run (ours)


class GradientlessOptimizer:
    """One optimizer that was never seen with a gradient."""

    def __init__(self, number: int, kind: str, frame: Frame | None) -> None:
        self.number, self.kind, self.frame = number, kind, frame
        self.updates = self.looks = self.held = 0


def has_graph(output: Any) -> bool:
    """Whether a backward could begin from what a call gave."""
    return any(type(t) is Tensor and t.requires_grad for t in tensors(output))


class NoGradientObserver(Observer):
    """One lookup an update, once a gradient was seen. Optimizers of the program's own may need none."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.settled: ById[Optimizer, bool] = ById()
        """Optimizers that had a gradient, or of which nothing is said."""
        self.without: dict[int, GradientlessOptimizer] = {}
        self.count = self.forwards = 0
        self.first: Frame | None = None
        """Where the first call was made that a backward could have begun from."""

    def reset(self) -> None:
        self.settled.clear()
        self.without.clear()
        self.count = self.forwards = 0
        self.first = None
        self.run.subscribe(self.left)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count what a backward could have begun from, until one runs."""
        if self.run.iteration:
            self.run.unsubscribe(self.left)
        elif module.training and has_graph(output) and any(True for _ in module.parameters()):
            self.forwards += 1
            self.first = self.first or self.run.here()

    def step_begins(self, optimizer: Optimizer) -> None:
        """Look for a gradient before the updates 1, 2, 4, 8 and so on, until there is one."""
        if optimizer in self.settled:
            return
        known = self.without.get(id(optimizer))
        if known is None:
            known = GradientlessOptimizer(self.count, type(optimizer).__name__, self.run.built_at(optimizer))
            self.without[id(optimizer)] = known
            self.count += 1
        known.updates += 1
        if known.updates & (known.updates - 1):
            return
        known.looks += 1
        wanted = [p for p in parameters(optimizer) if p.requires_grad]
        known.held = len(wanted)
        by_torch = type(optimizer).__module__.startswith("torch.optim")
        if not wanted or not by_torch or any(p.grad is not None for p in wanted):
            self.settled[optimizer] = True
            del self.without[id(optimizer)]
        elif known.updates == TELL:
            self.tell(known)

    def ended(self) -> None:
        """Emit what is left."""
        for known in self.without.values():
            self.tell(known)

    def tell(self, known: GradientlessOptimizer) -> None:
        """Emit one optimizer; where neither a backward nor a call ran that it could follow, nothing was to be
        expected."""
        if self.run.iteration or self.forwards:
            self.run.emit(
                NoGradient(
                    ref=self.run.ref("update", max(self.run.iteration - 1, 0)),
                    optimizer=known.number,
                    kind=known.kind,
                    frame=known.frame,
                    updates=known.updates,
                    looks=known.looks,
                    held=known.held,
                    backwards=self.run.iteration,
                    forwards=0 if self.run.iteration else self.forwards,
                    called=None if self.run.iteration else self.first,
                )
            )
