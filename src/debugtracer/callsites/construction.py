"""Where the user's code built an object: the line outside libraries and outside the object's own constructors."""

from __future__ import annotations

import functools
import linecache
import os
import sys
import sysconfig
from types import FrameType
from typing import Any

from debugtracer.callsites.frame_locals import local
from debugtracer.callsites.notebook_cells import CELLS, file_of
from debugtracer.trace.birth import Frame

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMPILED = (".pyx", ".pxd", ".pxi")
_LIBRARIES = tuple({_OURS, *(sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))})


@functools.lru_cache(16_384)  # all modules of a process are asked, now and again
def is_user_file(file: str) -> bool:
    """True for code that is neither a library, nor ours, nor made up."""
    if file.startswith("<"):
        return file.startswith((*CELLS, "<stdin"))
    if file.endswith(COMPILED) and not os.path.isfile(file):  # numpy names its .pyx files from a folder of its builders
        return False
    return not file.startswith(_LIBRARIES) and f"{os.sep}site-packages{os.sep}" not in file


def built_at(caller: FrameType | None, built: Any) -> Frame | None:
    """The innermost user line above `caller` that is not in a constructor of `built` itself; None if all is library
    code."""
    frame = _outside(caller, built)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else _as_frame(frame)


def calls_a_library(caller: FrameType | None, built: Any) -> bool:
    """True when the call that built it stands in library code (a framework making its own loader)."""
    frame = _outside(caller, built)
    return frame is not None and not is_user_file(frame.f_code.co_filename)


def _outside(frame: FrameType | None, built: Any) -> FrameType | None:
    """Skip `__init__` frames of subclasses, which pass the object on."""
    while frame is not None and _constructs(frame, built):
        frame = frame.f_back
    return frame


def _constructs(frame: FrameType, built: Any) -> bool:
    code = frame.f_code
    if os.path.dirname(code.co_filename).startswith(_OURS):
        return True
    first = code.co_varnames[0] if code.co_argcount else None
    return first is not None and local(frame, first) is built


def _as_frame(frame: FrameType) -> Frame:
    code = frame.f_code
    text = linecache.getline(code.co_filename, frame.f_lineno, frame.f_globals).strip()
    return Frame(
        file_of(code.co_filename),
        frame.f_lineno,
        getattr(code, "co_qualname", code.co_name) if sys.version_info >= (3, 11) else code.co_name,
        text,
    )
