"""Fetches a few samples once more, once a pass is over, and looks whether a line makes something of a sample that no
line reads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import perf_counter
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import IterableDataset

from debugtracer.callsites.assigned_value import assigned_value
from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.dead_stores import DeadStore, dead_stores, first_read, rewritten
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.observers.loaders.untouched import inner, untouched
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.facts.unread_value import UnreadValue
from debugtracer.trace.number import number
from debugtracer.trace.step import StepRef

SAMPLES = 8  # fetched at most: a transform may do nothing to some (ours)
SECONDS = 0.5  # spent on them at most (ours)
BEHIND = 1 << 30  # an instruction behind all others


def fetch_unread(info: LoaderInfo, loader: int, ref: StepRef) -> UnreadValue | None:
    """The fact, where a function of the module of the user's dataset gives a name an array that is read on no path,
    while the one it was made of, of the same shape, is read afterwards. All is as before."""
    outer: Any = getattr(info.loader(), "dataset", info.data() if info.data is not None else None)
    dataset: Any = inner(outer)
    if outer is None or isinstance(dataset, IterableDataset) or not hasattr(dataset, "__dict__"):
        return None
    codes = {code: due for code in codes_beside(type(dataset)) if (due := [s for s in dead_stores(code) if may_be(s)])}
    if not codes or sys.getprofile() is not None:
        return None
    look, began = FetchLook(codes), perf_counter()
    try:
        with untouched(outer):
            for index in range(min(SAMPLES, len(outer))):
                look.at(outer, index)
                if look.found is not None or perf_counter() - began > SECONDS:
                    break
    except (Exception, SystemExit):
        return None  # the user's code
    return look.fact(ref)


def codes_beside(kind: type) -> Iterator[CodeType]:
    """Yield the code of the functions and methods of the module that defines a class of the user's."""
    module = sys.modules.get(kind.__module__)
    for held in list(vars(module).values()) if module is not None else ():
        functions = vars(held).values() if isinstance(held, type) else (held,)
        for one in functions:
            if isinstance(one, FunctionType) and is_user_file(one.__code__.co_filename):
                yield one.__code__


def may_be(store: DeadStore) -> bool:
    """Whether an assignment writes one name, once."""
    return store.alone and store.until >= BEHIND


class FetchLook:
    """What the functions hold when they return."""

    def __init__(self, codes: dict[CodeType, list[DeadStore]]) -> None:
        self.codes = codes
        self.found: tuple[CodeType, DeadStore, str, float, tuple[int, ...]] | None = None

    def at(self, dataset: Any, index: int) -> None:
        """Fetch one sample; nothing of the interpreter's is left set."""
        sys.setprofile(self.returned)
        try:
            dataset[index]
        finally:
            sys.setprofile(None)

    def returned(self, frame: FrameType, event: str, value: Any) -> None:
        """Compare what nobody reads with what it was made of."""
        due = self.codes.get(frame.f_code) if event == "return" and self.found is None else None
        values = locals_of(frame) if due else {}
        for store in due or ():
            made = assigned_value(frame.f_code.co_filename, store.line, store.name)
            one = as_array(values.get(store.name))
            if one is None or made is None or made.alias or made.look or made.taken or set(np.unique(one)) <= {0, 1}:
                continue
            for name in made.names:
                other = as_array(values.get(name))
                kept = name in store.live and not rewritten(frame.f_code, name, store.offset, BEHIND)
                if kept and other is not None and (one.shape, one.dtype) == (other.shape, other.dtype):
                    share = float((one != other).mean())
                    if share:
                        self.found = frame.f_code, store, name, share, one.shape

    def fact(self, ref: StepRef) -> UnreadValue | None:
        """What was found, as a fact; None where nothing was."""
        if self.found is None:
            return None
        code, store, like, share, shape = self.found
        line = first_read(code, like, store.offset)
        return UnreadValue(
            ref=ref, name=store.name, frame=as_frame(code, store.line), shape=tuple(shape), how="replaced", like=like,
            like_frame=as_frame(code, line) if line is not None else None, changed=number(share), fetched=True,
        )  # fmt: skip


def as_array(value: Any) -> NDArray[Any] | None:
    """The numbers of a tensor, an array or an image; None for anything else, and for one number alone."""
    if isinstance(value, Tensor):
        value = value.detach().cpu().numpy() if value.device.type == "cpu" and not value.is_sparse else None
    if not hasattr(value, "__array_interface__"):
        return None
    found = np.asarray(value)
    return found if found.ndim and found.size > 1 and found.dtype.kind in "iufb" else None
