"""A call that ends the graph: tensors with a graph go in and none comes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from debugtracer.callsites.conditional_line import conditional_line
from debugtracer.callsites.frames import RawFrames, frames_of
from debugtracer.trace.facts.graph_reach import Cut

CHOICES = frozenset({"argmax", "argmin", "argsort", "bucketize", "searchsorted", "multinomial"})
"""Functions that give places, which have no derivative."""
NUMBERS = frozenset({"item", "tolist", "__float__", "__int__", "numpy", "__array__"})


def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """Yield the arguments, those in lists too."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


def ends(name: str, output: Any) -> bool:
    """True if no graph comes out: a number, a place, or a floating tensor that needs no gradient."""
    if isinstance(output, Tensor):
        return name in CHOICES or (output.is_floating_point() and output.grad_fn is None)
    return name in NUMBERS


def described(cut: tuple[int, str, RawFrames, str | None, frozenset[int]]) -> Cut:
    """A cut as a fact."""
    _, name, raw, module, _ = cut
    return cut_at({"__get__": "data"}.get(name, name), raw, module)


def cut_at(function: str, raw: RawFrames, module: str | None = None) -> Cut:
    """A cut by a function at a line."""
    frames = frames_of(raw)
    return Cut(
        function=function,
        module=module or None,
        frame=next(iter(frames), None),
        conditional=conditional_line(frames),
    )
