"""Notes who seeds which generator; the seeding itself is the user's and runs untouched."""

from __future__ import annotations

import functools
import operator
import random
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from time import time as wall_time
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import OURS, RawFrames, frames_of, place_of, raw_frames
from debugtracer.devices.present import accelerator, seeders
from debugtracer.errors import guarded
from debugtracer.hooks.hook import Patches
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.generator_state import shared_paths
from debugtracer.observers.program.unseeded_draws import UnseededDraws
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.facts.seeds import SeedRow, Seeds

# a seed this near to the time of day in seconds (or its thousandth, millionth parts) was taken from the clock (ours)
CLOCK_S = 86400.0
MOST = 8  # loaders whose datasets are looked through (ours)
DRAWN = "was drawn from without a seed: a rerun differs"
UNSEEDED = {"torch": "cannot be repeated: no seed was set"}
# which generator, and who seeds it
HOST = (("torch", torch, "manual_seed"), ("torch", torch.random, "manual_seed"), ("python", random, "seed"))


@dataclass
class Seeding:
    """What is known of one generator."""

    value: int | None
    """The seed, where it is a whole number."""
    at: RawFrames
    calls: int
    after_loader: bool
    unset: bool = False
    """No seed was given: one was drawn from the system."""


class SeedsObserver(Observer):
    """Values and lines only."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.patches = Patches()
        self.known: dict[str, Seeding] = {}
        self.loaders: list[weakref.ref[LoaderInfo]] = []
        self.shared: tuple[str, ...] = ()
        self.emitted: tuple[object, ...] | None = None
        self.draws = UnseededDraws()
        self.drawn: frozenset[str] = frozenset()

    def install(self) -> None:
        """Listen to the seeding functions; numpy's only when the program has imported it."""
        numpy = [("numpy", sys.modules["numpy"].random, "seed")] if "numpy" in sys.modules else []
        for source, owner, name in [*HOST, *seeders(), *numpy]:
            self.patches.wrap(owner, name, functools.partial(self.wrap, source))
        self.find_draws()

    def remove(self) -> None:
        self.patches.undo()

    def reset(self) -> None:
        """Reset so that a forked child, which keeps what its parent seeded, emits it again."""
        self.emitted = None

    def wrap(self, source: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap one seeding function to note its calls."""

        @functools.wraps(original)
        def seed(*args: Any, **kwargs: Any) -> Any:
            if place_of(sys._getframe(1).f_code) != OURS:  # a trial of ours begins at a seed of its own
                self.seeded(source, args[0] if args else next(iter(kwargs.values()), None))
            return original(*args, **kwargs)

        return seed

    @guarded("observers.program.seeds: seed")
    def seeded(self, source: str, value: Any) -> None:
        """Note that a generator was seeded."""
        old = self.known.get(source)
        with self.run.paused():
            number = whole_number(value)
        after = old.after_loader if old is not None else bool(self.loaders)
        self.known[source] = Seeding(
            number, raw_frames(3), (old.calls if old is not None else 0) + 1, after, value is None
        )

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Note a loader whose pass begins, and whether its dataset shares generators."""
        loader: Any = info.loader()
        if loader is None or len(self.loaders) >= MOST or any(known() is info for known in self.loaders):
            return
        self.loaders.append(weakref.ref(info))
        self.shared = self.shared or shared_paths(loader.dataset)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit the table at the first step."""
        self.run.unsubscribe(self.backward_begins)
        if self.emitted is None:
            self.find_draws()
            self.emit()

    def ended(self) -> None:
        """Emit the table once more, when it changed."""
        if self.emitted is None:
            return
        self.find_draws()
        if self.emitted != self.state():
            self.emit()

    @guarded("observers.program.seeds: look")
    def find_draws(self) -> None:
        """Find the generators drawn from since the last comparison."""
        self.drawn = self.draws.find_unseeded(set(self.known))

    def state(self) -> tuple[object, ...]:
        """What changes when anything was seeded or drawn from since."""
        return *(seeding.calls for seeding in self.known.values()), self.drawn

    def emit(self) -> None:
        """Emit one row per generator that this run may draw from."""
        self.emitted = self.state()
        used = accelerator()
        sources = [
            "torch",
            "python",
            *(["numpy"] if "numpy" in sys.modules else []),
            *([used.kind] if used is not None else []),
        ]
        self.run.emit(
            Seeds(ref=self.run.ref("load"), rows=tuple(self.row(source) for source in sources), shared=self.shared)
        )

    def row(self, source: str) -> SeedRow:
        """Build the row of one generator, with its risk."""
        known = self.known.get(source) or (self.known.get("torch") if source not in ("python", "numpy") else None)
        if known is None and source == "torch" and torch.initial_seed() < 2**32:
            # before we listened, or by another function
            return SeedRow(source=source, seeded=True, value=torch.initial_seed())
        if known is None:
            return SeedRow(
                source=source, seeded=False, risk=DRAWN if source in self.drawn else UNSEEDED.get(source, "")
            )
        frames = frames_of(known.at)
        return SeedRow(
            source=source, seeded=True, value=known.value, frame=frames[0] if frames else None, calls=known.calls,
            after_loader=known.after_loader, risk=risk_of(known),
        )  # fmt: skip


def whole_number(value: Any) -> int | None:
    """A seed as a number: also one of numpy's, or a tensor, which may wait for its device once."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def risk_of(known: Seeding) -> str:
    """What may go wrong with it."""
    if known.unset:
        return "seeded without a value: it cannot be repeated"
    if known.value is not None and any(abs(known.value / unit - wall_time()) < CLOCK_S for unit in (1, 1e3, 1e6, 1e9)):
        return "taken from the clock: write it down to repeat the run"
    return "set after the data was first drawn" if known.after_loader else ""
