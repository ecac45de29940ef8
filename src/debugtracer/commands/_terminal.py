"""What stdout is: a terminal with colours and a width, or a pipe."""

from __future__ import annotations

import os
import shutil
import sys


def colored() -> bool:
    """True for a terminal without NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def columns(otherwise: int = 80) -> int:
    """The width of the terminal, `otherwise` when there is none."""
    return shutil.get_terminal_size((otherwise, 24)).columns if sys.stdout.isatty() else otherwise
