"""The number far from all others in what a step was given, where the program makes its batches itself and keeps no
array that they are rows of: in the tensors that its running functions hold."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.value_origin import made_first, origin
from debugtracer.callsites.program_stack import program_stack
from debugtracer.observers.data.far_element import MOST_VALUES, FarElement, far_element
from debugtracer.trace.birth import Frame

FRAMES = 3  # of the user's functions, from the backward on (ours)
DEEP = 8  # frames of the user's (ours)
NAMES = 200  # of one function (ours)


class HeldNumber(NamedTuple):
    """The tensor that holds it, as the program calls it, its row and what is known of it."""

    name: str
    row: int
    element: FarElement
    made: tuple[Frame, ...]
    """The lines that made it, the first first."""


def held_number() -> HeldNumber | None:
    """The number furthest from all others in the tensors without a graph that the user's running functions hold."""
    found: list[HeldNumber] = []
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        for name, value, function in given():
            row = int(value.reshape(len(value), -1).abs().amax(dim=1).argmax())
            element = far_element(value, row)
            if element is not None:
                found.append(HeldNumber(name, row, element, made_at(name, function)))
    return max(found, key=lambda one: abs(one.element.value), default=None)


def made_at(name: str, function: str) -> tuple[Frame, ...]:
    """The user's lines from the one that made the value of a name of that function to the last. Reads source."""
    stack = user_frames(DEEP)
    runs = [n for n, frame in enumerate(stack) if frame.function == function]
    return made_first(origin(name, stack[runs[0] :])) if runs else ()


def given() -> Iterator[tuple[str, Tensor, str]]:
    """Yield tensors of rows of numbers, each with its name and that of the function."""
    for frame in itertools.islice(program_stack(sys._getframe(1)), FRAMES):
        for name, value in itertools.islice(list(locals_of(frame).items()), NAMES):
            if not isinstance(value, Tensor) or isinstance(value, nn.Parameter) or value.requires_grad:
                continue
            plain = value.layout is torch.strided and not value.is_nested and value.device.type == "cpu"
            if plain and value.is_floating_point() and value.dim() and 0 < value.numel() <= MOST_VALUES:
                yield name, value, frame.f_code.co_name
