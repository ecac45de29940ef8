"""Whether a program has done nothing but import when it imports torch: what it holds then it holds to its end."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from types import FrameType
from typing import Any

IMPORTS = "<module>"
ENTRY = "_debug_tracer_autoload"  # what torch calls
FEW = 64  # entries of a list or dict of a module, such as names and settings (ours)
CONTAINERS = (list, dict, set, frozenset, tuple)
OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
IMPORTERS = "<frozen ", os.path.dirname(importlib.__file__) + os.sep, contextlib.__file__, OURS
"""Files whose functions import, or stand between ours; so do those of torch."""


def imports_alone() -> bool:
    """True where all frames of the program run the text of modules that hold nothing large. Some microseconds."""
    entry, torch = (getattr(sys.modules.get(name), "__file__", None) or "<none>" for name in (ENTRY, "torch"))
    passed = (*IMPORTERS, entry, os.path.dirname(torch) + os.sep)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(passed) and not (
            code.co_name == IMPORTS and all(map(is_small, list(frame.f_globals.items())))
        ):
            return False
        frame = frame.f_back
    return True


def is_small(item: tuple[str, Any]) -> bool:
    """Whether a global variable is a function, a class, a module, or a few values of Python's own."""
    name, value = item
    if name.startswith("__") or isinstance(value, type) or callable(value):
        return True
    if isinstance(value, CONTAINERS):
        return len(value) <= FEW
    return type(value).__module__.partition(".")[0] in sys.stdlib_module_names
