"""pyarrow, which writes the columns: imported by the thread that trains, never by one of ours beside it.

Libraries ask `sys.modules["pyarrow"]` for its classes (scikit-learn for each array that it is given), and a module that
another thread is still importing has none: the program would die of it."""

from __future__ import annotations

import contextlib
import sys

NAME = "pyarrow"


def is_whole() -> bool:
    """Whether it has been imported to its end."""
    module = sys.modules.get(NAME)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


def load() -> None:
    """Import it in this thread: a tenth of a second, once. Where it is not installed, writing says so."""
    with contextlib.suppress(ImportError):
        import pyarrow  # noqa: F401
