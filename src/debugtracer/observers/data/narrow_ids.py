"""Looks for the array that ids come from where the table has more rows than they reach: can its type name all of
them?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames, user_frames
from debugtracer.errors import guarded
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.hooks.skipped_code import unseen
from debugtracer.observers.data.stored_ids import (
    LIMITS,
    SEARCHED,
    SoughtIds,
    Stored,
    asked,
    held,
    holds,
    narrow,
    occurring,
)
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.narrow_ids import NarrowIds

LOOKS = 3  # calls in inspected steps after which the array is looked for (ours)
SURE = 32  # the step from which what was found is told, if no id went further since (ours); or the end
FILES = 16  # opened by the program (ours)
SPACES = 16  # tables and losses (ours)
ENOUGH = 4  # ids of a batch for each number of its type (ours)
HIGHEST = max(LIMITS.values())


class OpenedFile(NamedTuple):
    """A file of small unsigned integers that the program has mapped into memory."""

    name: str
    dtype: str
    offset: int
    length: int
    frame: Frame | None


class IdSpace:
    """A table, or the classes of a loss, and which ids were used; they stay on their device."""

    def __init__(self, size: int, ids: Tensor, weight: Tensor | None) -> None:
        self.size, self.looks, self.ids = size, 0, 0
        self.found: NarrowIds | None = None
        self.used = torch.zeros(HIGHEST + 2, dtype=torch.bool, device=ids.device)
        self.weight: Callable[[], Tensor | None] = WeakRef(weight) if weight is not None else lambda: None

    def add(self, ids: Tensor) -> None:
        """Note the ids of a call. Waits for no device."""
        self.looks, self.ids = self.looks + 1, self.ids + ids.numel()
        self.used[ids.detach().reshape(-1).clamp(0, HIGHEST + 1)] = True


class NarrowIdsObserver(Observer):
    """Hears look-ups and losses in inspected steps; after three of each, one search in what the program holds. What it
    finds is told in a later step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = OutermostCalls()
        self.files: dict[tuple[str, str], OpenedFile] = {}
        self.spaces: dict[object, IdSpace | None] = {}
        """By table or line of the loss; None for one that is decided."""

    def install(self) -> None:
        """Patch the constructor of memory-mapped arrays: they are often gone when their ids are used."""
        self.calls.off = False
        self.run.unsubscribe(self.left)
        opened = guarded("narrow_ids.opened")(self.opened)
        made = self.calls.after(np.memmap.__new__, lambda args, kwargs, result: opened(result))
        self.calls.patches.put(np.memmap, "__new__", staticmethod(unseen(made)))

    def remove(self) -> None:
        self.calls.close()

    def reset(self) -> None:
        self.files.clear()
        self.spaces.clear()
        self.run.unsubscribe(self.left)

    def opened(self, array: Any) -> None:
        """Note a file of small unsigned integers."""
        if len(self.files) >= FILES or array.dtype.name not in LIMITS or not array.dtype.isnative:
            return
        key = (str(array.filename), array.dtype.name)
        if array.filename is not None and key not in self.files:
            frames = user_frames()
            self.files[key] = OpenedFile(*key, array.offset, array.size, frames[0] if frames else None)

    @of_functions({"embedding"}, INDEXED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the ids of a look-up, or the classes of a loss; after some of them look for where they come from."""
        name = getattr(function, "__name__", "")
        if (name != "embedding" and name not in INDEXED) or not torch.is_grad_enabled() or len(args) < 2:
            return
        ids, other = args[:2] if name == "embedding" else (args[1], args[0])
        if not isinstance(other, Tensor) or other.dim() < 2 or not are_ids(ids):
            return
        weight = other if isinstance(other, nn.Parameter) else None
        if name == "embedding" and weight is None:
            return
        size = other.shape[0] if weight is not None else other.shape[1]
        raw = raw_frames(1)
        key = id(weight) if weight is not None else raw[:1]
        if size <= min(LIMITS.values()) + 1 or (key in self.spaces and self.spaces[key] is None):
            return
        if (space := self.spaces.get(key)) is None:
            if len(self.spaces) >= SPACES:
                return
            space = self.spaces[key] = IdSpace(size, ids, weight)
        if space.used.device == ids.device:
            space.add(ids)
        if space.looks == LOOKS:
            space.found = self.look(space, ids.detach(), raw)
            if space.found is None:
                self.spaces[key] = None
            else:
                self.run.subscribe(self.left)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note ids that a model is given after a store of narrow ones was found; then tell."""
        every = (*args, *kwargs.values()) if torch.is_grad_enabled() else ()
        given = [value for value in every if are_ids(value) and value.dim() > 1]
        for space in self.spaces.values():
            for ids in given:
                if space is not None and space.found is not None and space.used.device == ids.device:
                    space.add(ids)
        if self.run.step >= SURE:
            self.ended()

    def ended(self) -> None:
        """Tell what was found."""
        self.run.unsubscribe(self.left)
        for key, space in self.spaces.items():
            if space is not None and space.found is not None:
                self.spaces[key] = None
                self.tell(space.found, space)

    def tell(self, found: NarrowIds, space: IdSpace) -> None:
        """Emit what was found, where no id has gone beyond it since."""
        if not bool(space.used[found.limit + 1 :].any()):
            self.run.emit(found)

    def look(self, space: IdSpace, ids: Tensor, raw: RawFrames) -> NarrowIds | None:
        """The array that the ids of this call were read from, where its type cannot name each row of the table."""
        used = space.used.cpu().numpy()
        largest = int(np.flatnonzero(used)[-1])
        limits = {name: limit for name, limit in LIMITS.items() if largest <= limit and space.size > limit + 1}
        if not limits:
            return None
        batch = self.run.batches.last()
        found = self.stored(batch, asked(ids, batch.indices if batch is not None else None), limits, space)
        if found is None:
            return None
        stored, made = found
        limit = LIMITS[stored.array.dtype.name]
        occurs, count = occurring(stored.array, limit)
        if stored.name.startswith("batch"):
            occurs, count = used[: limit + 1], space.ids
            if count < ENOUGH * (limit + 1):
                return None
        return self.fact(space, stored, occurs, count, made, raw)

    def fact(
        self, space: IdSpace, stored: Stored, occurs: Any, count: int, made: tuple[Frame, ...], raw: RawFrames
    ) -> NarrowIds:
        """What is told of an array."""
        weight, frames = space.weight(), frames_of(raw)
        edge = len(occurs) - len(occurs) // 16
        return NarrowIds(
            ref=self.run.ref("forward"),
            table=self.run.names().get(id(weight), "").removesuffix(".weight") if weight is not None else "",
            size=space.size,
            dtype=stored.array.dtype.name,
            limit=len(occurs) - 1,
            source=stored.name,
            ids=count,
            largest=int(np.flatnonzero(occurs)[-1]),
            top=float(occurs[edge:].mean()),
            below=float(occurs[:edge].mean()),
            frame=frames[0] if frames else None,
            made=made,
        )

    def stored(
        self, batch: Batch | None, ids: SoughtIds, limits: dict[str, int], space: IdSpace
    ) -> tuple[Stored, tuple[Frame, ...]] | None:
        """The array that these ids were read from, and the lines that made it."""
        loader = batch.loader.loader() if batch is not None else None
        dataset: Any = getattr(loader, "dataset", None)
        path = leaf_with(batch, ids, whole=False)
        made = batch.loader.made(path) if batch is not None and path else ()
        for one in held(dataset):
            if one.array.dtype.name in limits and holds(one.array, ids):
                line = one.set_at()
                return one, (line,) if line is not None else made
        for file in self.files.values():
            flat = self.opened_again(file) if file.dtype in limits else None
            if flat is not None and (holds(flat, ids) or is_likely(file, ids, space)):
                return Stored(flat, PurePath(file.name).name), (file.frame,) if file.frame is not None else made
        path = leaf_with(batch, ids, whole=True)
        leaf = next((leaf for name, leaf in batch.tensors() if name == path), None) if batch is not None else None
        flat = narrow(leaf)
        if flat is not None and flat.dtype.name in limits and batch is not None:
            return Stored(flat, path), batch.loader.made(path)
        return None

    def opened_again(self, file: OpenedFile) -> Any:
        """The numbers of a file; None where they can no longer be read."""
        try:
            return self.calls.inside(np.memmap, file.name, file.dtype, "r", file.offset, (file.length,))
        except (OSError, ValueError):
            return None


def are_ids(ids: Any) -> bool:
    """Whether a value is a tensor of ids of several samples. Reads no value."""
    return (
        isinstance(ids, Tensor)
        and type(ids) is Tensor
        and ids.dtype in (torch.int64, torch.int32)
        and ids.layout is torch.strided
        and not ids.is_nested
        and ids.device.type != "meta"
        and ids.dim() > 0
        and ids.numel() > 1
    )


def leaf_with(batch: Batch | None, ids: SoughtIds, *, whole: bool) -> str:
    """The path of the tensor of a batch that begins as the ids do; `whole`: of small unsigned integers."""
    for path, leaf in batch.tensors() if batch is not None else ():
        if leaf.is_floating_point() or leaf.is_complex() or leaf.device.type != "cpu" or type(leaf) is not Tensor:
            continue
        if whole and leaf.dtype not in (torch.uint8, torch.uint16):
            continue
        if leaf.dim() and leaf.layout is torch.strided and len(leaf) and leaf.numel() >= len(ids.run):
            first = leaf.reshape(-1)[: len(ids.run)].to(torch.int64).numpy()
            if np.array_equal(first, ids.run):
                return path
    return ""


def is_likely(file: OpenedFile, ids: SoughtIds, space: IdSpace) -> bool:
    """Whether ids come from a file that is too long to be searched: many were used, up to where its type ends."""
    limit = LIMITS[file.dtype]
    end = space.used[limit - limit // 16 : limit + 1]
    return file.length > SEARCHED and len(ids.run) >= 8 and space.ids >= 16 * 1024 and bool(end.any())
