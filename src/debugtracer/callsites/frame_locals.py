"""Local variables of a frame on the stack, read without leaving a copy behind that keeps the user's tensors alive."""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

WRITE_THROUGH = sys.version_info >= (3, 13)
"""From Python 3.13 on `f_locals` of a function is a view (PEP 667); before, one dict per frame that is filled again at
each look and stays."""


def local(frame: FrameType, name: str) -> Any:
    """The value of one local variable; None where it has none."""
    return locals_of(frame).get(name)


def locals_of(frame: FrameType) -> dict[str, Any]:
    """Return the locals; nothing before Python 3.13 where the function calls `locals()`, whose dict would change under
    it."""
    shared = inspect.CO_OPTIMIZED & frame.f_code.co_flags and not WRITE_THROUGH
    if shared and uses_locals(frame.f_code):
        return {}
    filled = frame.f_locals
    values = dict(filled)
    if shared and sys.gettrace() is None:  # a debugger writes this dict back into the frame
        filled.clear()
    return values


@functools.lru_cache(4096)
def uses_locals(code: CodeType) -> bool:
    """Whether a function calls the builtin `locals`, `eval` or `exec`, or `vars` of nothing, all of which use the one
    dict; `vars(args)` asks an object."""
    asking = {"locals", "vars", "eval", "exec"}.intersection(code.co_names)
    if not asking:
        return False
    every = list(dis.get_instructions(code))
    return any(
        one.opname == "LOAD_GLOBAL" and one.argval in asking and (one.argval != "vars" or not asks_of(after))
        for one, after in pairwise(every)
    )


def asks_of(after: dis.Instruction) -> bool:
    """Whether the instruction behind the name of a function loads what it is called with, or passes the function on as
    an argument."""
    return after.opname.startswith("LOAD_")
