"""How far the loop is in each of its DataLoaders: passes begun, batches drawn in the one in flight, and the
generators it began with."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from debugtracer.recorder.dataset_name import dataset_name
from debugtracer.recorder.listeners import PassListener
from debugtracer.recorder.state.rng import RngState

ACCELERATE = "accelerate.data_loader"
FRAMES = 8  # from the hook to the caller of iter(), our own and the guard's between them


class LoaderPass:
    """The passes over loaders that look alike: a loop may build its loader anew for each."""

    def __init__(self) -> None:
        self.passes = 0
        self.iterator: weakref.ref[Any] | None = None
        self.length: int | None = None
        """The batches of a pass, where that is known."""
        self.began: RngState | None = None
        self.shard: weakref.ref[Any] | None = None
        """The loader of accelerate that fetches for the loop, one batch ahead of it; Trainer has one too."""
        self.own: list[torch.Tensor] = []
        """The states of the loader's own generators as the pass began."""

    def drawn(self) -> int | None:
        """The batches drawn in the pass in flight; None where none is in flight."""
        iterator = self.iterator() if self.iterator is not None else None
        return None if iterator is None else int(getattr(iterator, "_num_yielded", 0))

    def exhausted(self) -> bool:
        """Whether the pass in flight has drawn its last batch."""
        drawn = self.drawn()
        return drawn is not None and self.length is not None and drawn >= self.length

    def ahead(self) -> int:
        """The batches drawn that the loop was not handed yet."""
        shard = self.shard() if self.shard is not None else None
        return int(shard is not None and not getattr(shard, "end_of_dataloader", True))

    def batches(self) -> int | None:
        """The batches that a pass which goes on leaves out: never all of them, for a loop expects one in each."""
        drawn = self.drawn()
        if drawn is not None and self.ahead():
            return max(drawn - 1, 0)
        return max(drawn - 1, 0) if drawn is not None and self.exhausted() else drawn


class LoaderPasses(PassListener):
    """One per process, in the modes that keep a last good state. It works once a pass, and hands on what it hears."""

    waiting = False

    def __init__(self) -> None:
        self.known: dict[str, LoaderPass] = {}
        self.listeners: list[PassListener] = []

    def add_listener(self, listener: PassListener) -> None:
        """Hand everything on to this listener too."""
        self.listeners.append(listener)
        self.still_waiting()

    def still_waiting(self) -> None:
        """Ask the listeners whether they want to hear of each fetch."""
        self.waiting = any(listener.waiting for listener in self.listeners)

    def begins(self, loader: Any) -> None:
        """Keep what the order of a pass that begins is drawn from."""
        one = self.known.setdefault(key_of(loader), LoaderPass())
        one.passes += 1
        one.iterator, one.length, one.shard = None, length_of(loader), shard_of(sys._getframe(1))
        one.own = [generator.get_state() for generator in own_generators(loader)]
        one.began = RngState()
        for listener in self.listeners:
            listener.begins(loader)

    def begins_again(self, loader: Any) -> None:
        """Keep the generators of now for the pass that has just begun: they were put back since."""
        one = self.known[key_of(loader)]
        one.own = [generator.get_state() for generator in own_generators(loader)]
        one.began = RngState()

    def begun(self, loader: Any, iterator: Any) -> None:
        with contextlib.suppress(TypeError):
            self.known[key_of(loader)].iterator = weakref.ref(iterator)
        for listener in self.listeners:
            listener.begun(loader, iterator)

    def before_fetch(self, iterator: Any) -> bool:
        ends = over = False
        for listener in self.listeners:
            if listener.waiting:
                ends = listener.before_fetch(iterator) or ends
                over = over or not listener.waiting
        if over:
            self.still_waiting()
        return ends

    def inside(self) -> bool:
        """Whether some pass is in flight, and none of them has drawn its last batch."""
        flight = [one for one in self.known.values() if one.drawn() is not None]
        return bool(flight) and not any(one.exhausted() for one in flight)

    def places(self) -> list[dict[str, Any]]:
        """Where each loader stands, as plain values; `batches` is None where no pass is in flight."""
        return [
            {
                "loader": key,
                "passes": one.passes,
                "batches": one.batches(),
                "generators": one.began.plain() if one.began is not None else {},
                "own": one.own,
            }
            for key, one in self.known.items()
        ]

    def reset(self) -> None:
        """Forget everything: a forked child, a run after another one."""
        self.known.clear()


def key_of(loader: Any) -> str:
    """What tells loaders of one program apart: dataset, its length, batch size."""
    size = getattr(loader, "batch_size", None) or getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
    return f"{dataset_name(loader.dataset)}, {size} a batch"


def length_of(loader: Any) -> int | None:
    """The batches of a pass; None where they are not known."""
    try:
        return len(loader)
    except Exception:
        return None  # a stream without a length


def shard_of(frame: FrameType | None) -> weakref.ref[Any] | None:
    """The loader of accelerate that begins this pass, as the frames say: it fetches from a plain one that it holds."""
    for _ in range(FRAMES):
        if frame is None:
            return None
        if frame.f_globals.get("__name__") == ACCELERATE and frame.f_code.co_name == "__iter__":
            with contextlib.suppress(KeyError, TypeError):
                return weakref.ref(frame.f_locals["self"])
        frame = frame.f_back
    return None


def own_generators(loader: Any) -> Iterator[torch.Generator]:
    """The generators that the loader and its sampler were given, each once."""
    found = (getattr(owner, "generator", None) for owner in (loader, getattr(loader, "sampler", None)))
    yield from {id(g): g for g in found if isinstance(g, torch.Generator)}.values()


def places_told(saved: list[dict[str, Any]]) -> str:
    """Where the passes were that a state was saved in, in words; empty where there were none."""
    place = "pass {passes}, batch {batches} of the loader over {loader}"
    return ", ".join(place.format(**p) for p in saved if p["batches"] is not None)
