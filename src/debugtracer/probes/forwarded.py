"""Calls on in the name of the line that called us: a warning of torch's C++ is filed under the innermost Python frame, which would be ours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from debugtracer.probes.frames import FORWARDS

Forward = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
MOST = 4096  # lines remembered before all are forgotten (ours: a program that makes code as it goes)

_template: CodeType = (lambda function, args, kwargs: function(*args, **kwargs)).__code__.replace(co_name=FORWARDS)
_made: dict[tuple[int, int], tuple[CodeType, FunctionType]] = {}


def from_caller() -> Forward:
    """Runs `function(*args, **kwargs)` in a frame with the file, line and globals of whoever called our caller. Half a microsecond.

    `place_of` knows these frames by their name: they are in no traceback and no line of ours.
    """
    frame = sys._getframe(2)
    code, line = frame.f_code, frame.f_lineno
    known = _made.get((id(code), line))
    if known is not None and known[0] is code and known[1].__globals__ is frame.f_globals:
        return known[1]
    if len(_made) >= MOST:
        _made.clear()
    made = FunctionType(_template.replace(co_filename=code.co_filename, co_firstlineno=line), frame.f_globals)
    _made[id(code), line] = code, made
    return made
