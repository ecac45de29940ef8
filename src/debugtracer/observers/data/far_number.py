"""The number far from all others in what a step was given, where the program makes its batches itself and keeps no
array that they are rows of: in the tensors that its running functions hold."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.data_lines import ENDINGS, is_folder, named_files, read_lines, strings
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.value_origin import made_first, origin
from debugtracer.callsites.program_stack import program_stack
from debugtracer.observers.data.far_element import MOST_VALUES, FarElement, far_element
from debugtracer.trace.birth import Frame

FRAMES = 3  # of the user's functions, from the backward on (ours)
DEEP = 8  # frames of the user's (ours)
NAMES = 200  # of one function (ours)
ENTRIES = 64  # of a folder, and files that are read (ours)
MOST_BYTES = 1 << 24  # of a file that is read (ours: 0.1 s)
DIGITS = 4  # with which a number begins that is compared; no number of fewer is looked for (ours)
LONGEST = 160  # characters of a line that are shown


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


def written_at(number: float) -> Frame | None:
    """The only line of the data files under the names and in the folders that the program names on which the number
    stands, read in single precision; None where there are several."""
    digits = "".join(c for c in f"{abs(number):.9g}".partition("e")[0] if c.isdigit()).lstrip("0")
    if len(digits.rstrip("0")) < DIGITS:
        return None
    found: list[Frame] = []
    for file in dict.fromkeys([*named_files(None), *listed_files()]):
        lines = read_lines(file) if file.stat().st_size <= MOST_BYTES else []
        for at, line in enumerate(lines):
            # a cheap sieve before the words are parsed
            if digits[:DIGITS] in line.replace(".", "") and any(same(word, number) for word in words(line)):
                found.append(Frame(str(file), at + 1, "", line.strip()[:LONGEST]))
                if len(found) > 1:
                    return None
    return found[0] if found else None


def words(line: str) -> list[str]:
    """The fields of a line."""
    for mark in ",;|\t\"':[]{}()":
        line = line.replace(mark, " ")
    return line.split()


def same(word: str, number: float) -> bool:
    """Whether a word is that number, once both are single precision."""
    try:
        return bool(torch.tensor(float(word)) == torch.tensor(number, dtype=torch.float32))
    except (ValueError, OverflowError):
        return False


def listed_files() -> Iterator[Path]:
    """Yield the text files of the folders that the program names, but for those its own code stands in."""
    here = Path.cwd().resolve()
    folders = dict.fromkeys(
        Path(word).resolve() for word in strings(None, None) if 0 < len(word) < 1024 and is_folder(word)
    )
    for folder in folders:
        if folder == here or folder in here.parents:
            continue
        with os.scandir(folder) as entries:
            for entry in itertools.islice(entries, ENTRIES):
                if os.path.splitext(entry.name)[1].lower() in ENDINGS and entry.is_file():
                    yield Path(entry.path)
