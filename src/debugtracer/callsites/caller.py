"""Calls on in the name of the line that called us: a warning of torch's C++ is filed under the innermost Python frame,
which would be ours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from torch.overrides import handle_torch_function

from debugtracer.trace.last_words import FORWARDS

Forward = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
DETOUR = handle_torch_function.__code__
MOST = 4096  # lines remembered before all are forgotten (ours: a program that makes code as it goes)

_template: CodeType = (lambda function, args, kwargs: function(*args, **kwargs)).__code__.replace(co_name=FORWARDS)
_made: dict[tuple[str, int], CodeType] = {}
"""By file and line. Code alone: a function kept here would keep the globals of the program alive, and what they hold,
beyond its end."""


def plainly(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same in a frame of ours."""
    return function(*args, **kwargs)


def from_caller() -> Forward:
    """Return a forwarder that calls in a frame with the file, line and globals of our caller's caller. Under 1 us.

    `place_of` knows these frames by their name: they are in no traceback of an exception and no line of ours.
    """
    # a debugger, coverage or profiler counts the frames of the program's files
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return plainly
    frame = sys._getframe(2)
    if frame.f_code is DETOUR and frame.f_back is not None and frame.f_back.f_back is not None:
        # torch calls a function twice where a mode listens: the line is that of the first call
        frame = frame.f_back.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    code = _made.get((file, line))
    if code is None:
        if len(_made) >= MOST:
            _made.clear()
        code = _made[file, line] = _template.replace(co_filename=file, co_firstlineno=line)
    return FunctionType(code, frame.f_globals)
