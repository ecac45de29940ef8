"""Notes who seeds which generator; the seeding itself is the user's and runs untouched."""

from __future__ import annotations

import functools
import importlib
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from time import time as wall_time
from typing import Any

import torch
from torch import Tensor

from debugtracer.devices.present import accelerator
from debugtracer.errors import guarded
from debugtracer.probes.frames import RawFrames, frames_of, raw_frames
from debugtracer.probes.generator_state import shared_paths
from debugtracer.probes.probe import Patches
from debugtracer.probes.taker import Taker
from debugtracer.probes.unseeded_draws import UnseededDraws
from debugtracer.recorder.batches import LoaderInfo
from debugtracer.trace.facts.seeds import SeedRow, Seeds

CLOCK_S = 86400.0  # a seed this near to the time of day in seconds (or its thousandth, millionth parts) was taken from the clock (ours)
MOST = 8  # loaders whose datasets are looked through (ours)
DRAWN = "was drawn from without a seed: a rerun differs"
UNSEEDED = {"torch": "cannot be repeated: no seed was set"}
PLACES = (("torch", "torch", "manual_seed"), ("torch", "torch.random", "manual_seed"), ("cuda", "torch.cuda", "manual_seed_all"), ("python", "random", "seed"))


@dataclass
class Seeding:
    """What is known of one generator."""

    value: int | None
    at: RawFrames
    calls: int
    after_loader: bool


class SeedsTaker(Taker):
    """Values and lines only."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = Patches()
        self.known: dict[str, Seeding] = {}
        self.loaders: list[weakref.ref[LoaderInfo]] = []
        self.shared: tuple[str, ...] = ()
        self.told: tuple[object, ...] | None = None
        self.draws = UnseededDraws()
        self.drawn: frozenset[str] = frozenset()

    def install(self) -> None:
        """Listen to the seeding functions; numpy's only when the program has imported it."""
        places = [*PLACES, *([("numpy", "numpy.random", "seed")] if "numpy" in sys.modules else [])]
        for source, module, name in places:
            self.patches.wrap(importlib.import_module(module), name, functools.partial(self.wrap, source))
        self.look()

    def remove(self) -> None:
        """The functions as they were."""
        self.patches.undo()

    def forget(self) -> None:
        """A forked child keeps what its parent seeded, and tells it again."""
        self.told = None

    def wrap(self, source: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Of one seeding function."""

        @functools.wraps(original)
        def seed(*args: Any, **kwargs: Any) -> Any:
            self.seeded(source, args[0] if args else next(iter(kwargs.values()), None))
            return original(*args, **kwargs)

        return seed

    @guarded("probes.seeds: seed")
    def seeded(self, source: str, value: Any) -> None:
        """A generator was seeded."""
        old = self.known.get(source)
        number = value if isinstance(value, int) else None
        after = old.after_loader if old is not None else bool(self.loaders)
        self.known[source] = Seeding(number, raw_frames(3), (old.calls if old is not None else 0) + 1, after)

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """A pass begins."""
        loader: Any = info.loader()
        if loader is None or len(self.loaders) >= MOST or any(known() is info for known in self.loaders):
            return
        self.loaders.append(weakref.ref(info))
        self.shared = self.shared or shared_paths(loader.dataset)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """The first step: the table."""
        if self.told is None:
            self.look()
            self.tell()

    def ended(self) -> None:
        """The table once more, when it changed."""
        if self.told is None:
            return
        self.look()
        if self.told != self.state():
            self.tell()

    @guarded("probes.seeds: look")
    def look(self) -> None:
        """Who was drawn from since the last look."""
        self.drawn = self.draws.look(set(self.known))

    def state(self) -> tuple[object, ...]:
        """What tells whether anything was seeded or drawn from since."""
        return *(seeding.calls for seeding in self.known.values()), self.drawn

    def tell(self) -> None:
        """One row per generator that this run may draw from."""
        self.told = self.state()
        used = accelerator()
        sources = ["torch", "python", *(["numpy"] if "numpy" in sys.modules else []), *([used.kind] if used is not None else [])]
        self.desk.tell(Seeds(ref=self.desk.ref("load"), rows=tuple(self.row(source) for source in sources), shared=self.shared))

    def row(self, source: str) -> SeedRow:
        """With its risk."""
        known = self.known.get(source) or (self.known.get("torch") if source not in ("python", "numpy") else None)
        if known is None and source == "torch" and torch.initial_seed() < 2**32:
            return SeedRow(source=source, seeded=True, value=torch.initial_seed())  # before we listened, or by another door
        if known is None:
            return SeedRow(source=source, seeded=False, risk=DRAWN if source in self.drawn else UNSEEDED.get(source, ""))
        frames = frames_of(known.at)
        return SeedRow(
            source=source, seeded=True, value=known.value, frame=frames[0] if frames else None, calls=known.calls,
            after_loader=known.after_loader, risk=risk_of(known),
        )  # fmt: skip


def risk_of(known: Seeding) -> str:
    """What may go wrong with it."""
    if known.value is None:
        return "seeded without a value: it cannot be repeated"
    if any(abs(known.value / unit - wall_time()) < CLOCK_S for unit in (1, 1e3, 1e6, 1e9)):
        return "taken from the clock: write it down to repeat the run"
    return "set after the data was first drawn" if known.after_loader else ""
