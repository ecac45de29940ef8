"""Which calls of a model the tensors of one step come from, also without a graph: through functions, writes into
buffers, and numbers that left torch and came back."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from debugtracer.callsites.frames import RawFrames
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.functions import FunctionMeaning, meaning

LAYOUT = frozenset(
    {
        "__getitem__", "__setitem__", "__get__", "reshape", "view", "view_as", "flatten", "unflatten", "stack", "cat",
        "concat", "hstack", "vstack", "squeeze", "unsqueeze", "transpose", "permute", "swapaxes", "t", "expand",
        "expand_as", "broadcast_tensors", "contiguous", "index_select", "narrow", "split", "chunk", "unbind", "roll",
        "flip", "to", "cpu", "cuda", "float", "double", "type", "detach", "detach_", "clone", "copy_", "fill_",
        "tensor", "as_tensor", "from_numpy", "zeros_like", "empty_like", "ones_like", "requires_grad_",
    }
)  # fmt: skip
"""Functions that move values and do not change them."""
MOST_TENSORS, MOST_VALUES = 8192, 4096  # of one step (ours)
FIRST_CALLS, LAST_CALLS = 128, 64  # calls of one step that are kept (ours)
ROW_VALUES = 256  # of a tensor whose values are remembered (ours)
LARGEST = 2**14  # values of an input that is kept (ours)
FEWEST = 2  # values that tell where numbers came from (ours: a float32 that was computed is rarely met by chance)


class Origin(NamedTuple):
    """What a tensor was made of."""

    calls: frozenset[int] = frozenset()
    """Numbers of the model's calls."""
    functions: frozenset[str] = frozenset()
    """What was computed from their outputs since, without moves."""
    drawn: frozenset[int] = frozenset()
    """Numbers of the last calls before draws of which it was made."""

    def joined(self, other: Origin) -> Origin:
        """What both were made of together."""
        return Origin(self.calls | other.calls, self.functions | other.functions, self.drawn | other.drawn)


@dataclass
class ModelCall:
    """One outermost call."""

    module: WeakRef[nn.Module]
    version: int
    """Counts the writes into its weights and buffers."""
    given: Tensor | None
    """A copy of its input, where that is small."""
    raw: RawFrames
    noise: str = ""
    """What makes its output another one each time."""


class ModelOrigins:
    """Of one step; keeps no tensor of the program alive."""

    def __init__(self) -> None:
        self.known: ById[Tensor, Origin] = ById()
        self.calls: dict[int, ModelCall] = {}
        self.number = -1
        """Of the last call."""
        self.values: dict[float, tuple[Origin, int]] = {}
        """A value that was computed -> what of, and its place."""

    def clear(self) -> None:
        """Forget all of the step."""
        if self.calls:
            self.known.data.clear()
            self.calls.clear()
            self.number = -1
            self.values.clear()

    def returned(self, call: ModelCall, output: Any) -> None:
        """Note what a model gave."""
        self.number += 1
        self.calls[self.number] = call
        if self.number >= FIRST_CALLS + LAST_CALLS:
            self.calls.pop(self.number - LAST_CALLS, None)
        for tensor in tensors(output):
            before = self.known.get(tensor, Origin())
            self.note(tensor, Origin(calls=frozenset({self.number}), drawn=before.drawn))

    def passed(self, function: Any, name: str, given: tuple[Any, ...], output: Any) -> None:
        """Note what a function made of tensors that are known."""
        what = meaning(function)
        if what is FunctionMeaning.DRAW:
            origin = Origin(drawn=frozenset({self.number}))
        else:
            found = self.of(given)
            if found is None:
                return
            origin = found
            if name not in LAYOUT and origin.calls:
                origin = origin._replace(functions=origin.functions | {name})
        if what is FunctionMeaning.INPLACE and given and isinstance(given[0], Tensor):
            base = given[0]._base
            for written in (given[0],) if base is None else (given[0], base):
                self.note(written, origin.joined(self.known.get(written, Origin())))
        for tensor in tensors(output):
            self.note(tensor, origin)

    def note(self, tensor: Tensor, origin: Origin) -> None:
        """Note one tensor, and its values where they are few."""
        if len(self.known) < MOST_TENSORS:
            self.known[tensor] = origin
        if origin.calls and is_small(tensor) and len(self.values) < MOST_VALUES:
            with torch.no_grad():
                for place, value in enumerate(tensor.detach().flatten().tolist()):
                    if value not in self.values or self.values[value][0].calls == origin.calls:
                        self.values[value] = origin, place  # the last of one call: a pick is nearer than what it picks

    def of(self, value: Any) -> Origin | None:
        """What is known of a tensor, or of all tensors in a value."""
        return joined([origin for tensor in tensors(value) if (origin := self.known.get(tensor)) is not None])

    def of_values(self, tensor: Tensor) -> Origin | None:
        """Where numbers came from that were brought back from lists or arrays."""
        if not is_plain(tensor) or not tensor.is_floating_point() or tensor.numel() > LARGEST:
            return None
        met = [self.values[v][0] for v in tensor.detach().flatten().tolist() if v in self.values and not is_round(v)]
        return joined(met) if len(met) >= FEWEST else None


def joined(origins: list[Origin]) -> Origin | None:
    """What several tensors were made of together."""
    return functools.reduce(Origin.joined, origins) if origins else None


def is_small(tensor: Tensor) -> bool:
    """Whether the values of a tensor are few and in host memory."""
    return is_plain(tensor) and tensor.is_floating_point() and 0 < tensor.numel() <= ROW_VALUES


def is_plain(tensor: Tensor) -> bool:
    """Whether the values of a tensor lie in host memory, in the order of its sizes."""
    return type(tensor) in (Tensor, nn.Parameter) and tensor.device.type == "cpu" and is_dense(tensor)


def is_round(value: float) -> bool:
    """True for a number that is written by hand, and not computed."""
    return value * 1024 == round(value * 1024) if abs(value) < 1e9 else True


def tensors(value: Any, depth: int = 2) -> Iterator[Tensor]:
    """The tensors in a value, also those of a distribution."""
    if isinstance(value, Tensor):
        yield value
    elif depth and isinstance(value, (list, tuple)):
        for inner in value:
            yield from tensors(inner, depth - 1)
    elif depth and isinstance(value, dict):
        yield from tensors(tuple(value.values()), depth)
    elif depth and isinstance(value, Distribution):
        yield from tensors(tuple(vars(value).values()), depth)
