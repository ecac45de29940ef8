"""Which Python lines are the user's: raw (code, line) pairs on the hot path, turned into Frames when somebody reads
them."""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from types import CodeType, FrameType
from typing import TypeAlias

from torch import nn

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frame_locals import local
from debugtracer.callsites.notebook_cells import file_of
from debugtracer.trace.birth import Frame
from debugtracer.trace.last_words import FORWARDS

RawFrames: TypeAlias = tuple[tuple[CodeType, int], ...]

USER, LIBRARY, TORCH, OURS, ENGINE, CHECKPOINT, OPTIMIZER = range(7)
OUR_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
TORCH_HOME = os.path.dirname(os.path.dirname(os.path.abspath(nn.__file__))) + os.sep
MOST = 24  # frames kept of one stack
MOST_CODES = 4096  # code objects remembered before all are forgotten (ours: a program that makes code as it goes)

_places: dict[tuple[str, str], int] = {}  # by file and name: two code objects of copied files compare equal
_frames: dict[tuple[str, int, str], Frame] = {}
_codes: dict[int, tuple[CodeType, int, dict[int, tuple[CodeType, int]]]] = {}
"""By id: code, its place, and by instruction the pair with its line, which Python counts from the function's top."""


def place_of(code: CodeType) -> int:
    """Classify code: USER, LIBRARY, TORCH, OURS, or a torch place the tracer treats differently; cached."""
    key = (code.co_filename, code.co_name)
    place = _places.get(key)
    if place is None:
        place = _places[key] = _classify(code)
    return place


def _classify(code: CodeType) -> int:
    if code.co_name == FORWARDS:
        return OURS
    file = code.co_filename if code.co_filename.startswith("<") else os.path.abspath(code.co_filename)
    if file.startswith(OUR_HOME):
        return OURS
    if file.startswith(TORCH_HOME):
        if code.co_name == "_engine_run_backward":
            return ENGINE
        inner = file[len(TORCH_HOME) :]
        return (
            CHECKPOINT
            if inner == os.path.join("utils", "checkpoint.py")
            else OPTIMIZER
            if inner.startswith("optim" + os.sep)
            else TORCH
        )
    return USER if is_user_file(file) else LIBRARY


def raw_frames(skip: int = 1) -> RawFrames:
    """The user's lines of the live stack, innermost first, a few microseconds; without any, the innermost line of a
    library that is not torch."""
    frame: FrameType | None = sys._getframe(skip)
    found: list[tuple[CodeType, int]] = []
    library: FrameType | None = None
    known_of = _codes.get
    while frame is not None:
        code = frame.f_code
        known = known_of(id(code))
        if known is None or known[0] is not code:
            known = _remember(code)
        place = known[1]
        if place == USER:
            pair = known[2].get(frame.f_lasti)
            if pair is None:
                pair = known[2][frame.f_lasti] = code, frame.f_lineno
            found.append(pair)
            if len(found) == MOST:
                break
        elif place == LIBRARY and library is None and not code.co_filename.startswith("<"):
            library = frame
        frame = frame.f_back
    return tuple(found) if found or library is None else ((library.f_code, library.f_lineno),)


def calling_place() -> tuple[CodeType, int] | None:
    """The innermost code of the live stack that is neither torch's nor ours, with the instruction it is at."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        known = _codes.get(id(code))
        if known is None or known[0] is not code:
            known = _remember(code)
        if known[1] in (USER, LIBRARY):
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def _remember(code: CodeType) -> tuple[CodeType, int, dict[int, tuple[CodeType, int]]]:
    if len(_codes) >= MOST_CODES:
        _codes.clear()
    known = _codes[id(code)] = code, place_of(code), {}
    return known


def as_frame(code: CodeType, line: int) -> Frame:
    """Convert one raw pair to a Frame, with its source text where it can be read; cached."""
    name = getattr(code, "co_qualname", code.co_name)  # 3.10 has no qualified name
    known = _frames.get((code.co_filename, line, name))
    if known is None:
        known = _frames[code.co_filename, line, name] = Frame(
            file_of(code.co_filename), line, name, linecache.getline(code.co_filename, line).strip()
        )
    return known


def read_again() -> None:
    """Drop cached frames when a cell begins: numbers of cells and the text of modules may be others now."""
    _frames.clear()
    linecache.checkcache()


def frames_of(raw: RawFrames) -> tuple[Frame, ...]:
    """Convert raw pairs to Frames, in the same order."""
    return tuple(as_frame(code, line) for code, line in raw or ())


def innermost_frame(skip: int = 0) -> Frame | None:
    """The innermost line of the live stack that is neither torch's nor ours, of a library too; `skip` callers are left
    out."""
    frame: FrameType | None = sys._getframe(skip + 1)
    while frame is not None:
        code = frame.f_code
        place = place_of(code)
        if place == USER or (place == LIBRARY and not code.co_filename.startswith("<")):
            return as_frame(code, frame.f_lineno)
        frame = frame.f_back
    return None


def user_frames(skip: int = 0) -> tuple[Frame, ...]:
    """The user's lines of the live stack as Frames, innermost first; `skip` callers are left out."""
    return frames_of(raw_frames(skip + 2))


def traceback_frames(error: BaseException) -> tuple[Frame, ...]:
    """The user's lines of a traceback, innermost first; without any, the innermost line of a library that is not
    torch."""
    return frames_of(raw_traceback(error))


def raw_traceback(error: BaseException) -> RawFrames:
    """The same as raw pairs."""
    pairs = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)][::-1]
    own = [pair for pair in pairs if place_of(pair[0]) == USER][:MOST]
    return tuple(own or [pair for pair in pairs if place_of(pair[0]) == LIBRARY][:1])


def owner_module(module: nn.Module) -> nn.Module | None:
    """The outermost module on the live stack, as the `self` of a method, that holds this one (a Lightning module
    calling its own part)."""
    frame: FrameType | None = sys._getframe(1)
    owner: nn.Module | None = None
    while frame is not None:
        code = frame.f_code
        if code.co_argcount and place_of(code) in (USER, LIBRARY):
            first = local(frame, code.co_varnames[0])
            if isinstance(first, nn.Module) and first is not module and any(part is module for part in first.modules()):
                owner = first
        frame = frame.f_back
    return owner
