"""Follows rows that are taken by index through an inspected step: which numbers have they, and of which tensor?"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.observers.model.shadow_model import main_output
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.moved_leaves import storage_of

KEEPS = frozenset(
    {
        "to", "float", "double", "half", "long", "int", "cuda", "cpu", "contiguous", "clone", "detach", "unsqueeze",
        "squeeze", "view", "reshape", "flatten", "view_as", "type_as", "log_softmax", "softmax", "sigmoid",
    }
)  # fmt: skip
FEWEST = 4  # rows that are compared (ours)
MOST_ROWS = 2**16  # of one index (ours)
MOST = 64  # tensors followed in a step (ours)


class Taken:
    """Rows of a tensor that were taken by index."""

    def __init__(self, tensor: Tensor, store: Tensor, rows: Tensor, raw: RawFrames) -> None:
        self.tensor, self.store = weakref.ref(tensor), WeakRef(store)
        self.length, self.place = int(store.shape[0]), storage_of(store)
        self.rows, self.raw = rows, raw

    def of(self, tensor: Tensor) -> Taken:
        """The same rows, held by another tensor."""
        other = Taken.__new__(Taken)
        other.__dict__.update(self.__dict__, tensor=weakref.ref(tensor))
        return other


class FollowedRows:
    """Of one step; keeps no tensor of the program alive, and reads indices on the CPU only."""

    def __init__(self) -> None:
        self.taken: dict[int, Taken] = {}
        """id of a tensor -> its rows."""

    def __len__(self) -> int:
        return len(self.taken)

    def clear(self) -> None:
        """Let go of the step."""
        self.taken.clear()

    def called(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what a function takes by index, or hands on."""
        if name in ("__getitem__", "index_select"):
            self.take(name, args, kwargs, output)
        elif name in KEEPS and self.taken and args:
            self.hand_on(args[0], output)

    def take(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note rows that are fewer than the tensor has; what was taken before is not taken a second time."""
        store = args[0] if args else None
        if not isinstance(store, Tensor) or not isinstance(output, Tensor) or not store.dim():
            return
        if self.known(store) is not None:  # a part of a batch: by its columns it keeps its rows
            if name == "__getitem__" and whole_rows(args[1]):
                self.hand_on(store, output)
            return
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0) if name == "index_select" else 0
        index = kwargs.get("index", args[2] if len(args) > 2 else None) if name == "index_select" else args[1]
        rows = rows_of(index, int(store.shape[0])) if dim == 0 else None
        fits = rows is not None and output.dim() > 0 and output.shape[0] == len(rows)
        few = rows is not None and FEWEST <= len(rows) < store.shape[0] and len(self.taken) < MOST
        if rows is not None and fits and few and storage_of(store) is not None:
            self.taken[id(output)] = Taken(output, store, rows, raw_frames(2))

    def hand_on(self, source: Any, output: Any) -> None:
        """Note that a tensor of the same rows has the rows of the one it was made of."""
        known = self.known(source)
        if known is None or not isinstance(output, Tensor) or output is source or not output.dim():
            return
        if output.shape[0] == len(known.rows) and len(self.taken) < MOST:
            self.taken[id(output)] = known.of(output)

    def known(self, tensor: Any) -> Taken | None:
        """What is known of the rows of a tensor."""
        found = self.taken.get(id(tensor))
        return found if found is not None and found.tensor() is tensor else None

    def left(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note that what a model makes of rows has their numbers, where all that it was given has the same."""
        given = [self.known(v) for v in (*args, *kwargs.values()) if isinstance(v, Tensor)]
        scores = main_output(output)
        if scores is None or not given or any(one is None for one in given):
            return
        first, *others = [one for one in given if one is not None]
        if all(torch.equal(first.rows, one.rows) for one in others) and scores.shape[0] == len(first.rows):
            self.taken[id(scores)] = first.of(scores)


def rows_of(index: Any, length: int) -> Tensor | None:
    """The numbers of the rows that an index takes; None where it is none of rows, or lies on a device."""
    if isinstance(index, tuple):
        if not index or not all(isinstance(i, slice) or i is Ellipsis or i is None for i in index[1:]):
            return None
        index = index[0]
    if isinstance(index, slice):
        begin, end, step = index.indices(length)
        return torch.arange(begin, end, step) if step > 0 and end > begin else None
    if isinstance(index, Tensor):
        plain = index.device.type == "cpu" and index.dim() == 1 and not index.is_floating_point()
    else:
        plain = isinstance(index, list) or (type(index).__module__ == "numpy" and getattr(index, "ndim", 0) == 1)
    if not plain or len(index) > MOST_ROWS:
        return None
    with torch._C.DisableTorchFunction():
        rows = torch.as_tensor(index)
        if rows.dtype == torch.bool:
            return rows.nonzero().flatten() if rows.dim() == 1 and len(rows) == length else None
        whole = rows.dim() == 1 and not rows.is_floating_point() and not rows.is_complex()
        return torch.where(rows < 0, rows + length, rows).long() if whole else None


def whole_rows(index: Any) -> bool:
    """True for an index that leaves the first dimension as it is: `x[:, 0]`, `x[..., None]`."""
    first = index[0] if isinstance(index, tuple) and index else index
    return first is Ellipsis or (isinstance(first, slice) and first == slice(None))
