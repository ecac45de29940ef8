"""Warnings of the user's code while we run it once more: it has warned already."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quiet_warnings() -> Iterator[None]:
    """Warnings of this thread are not shown inside. The filters and what was shown once stay as they are, unlike under catch_warnings."""
    machinery: Any = warnings
    shown, here = machinery._showwarnmsg, threading.get_ident()

    def show(message: Any) -> None:
        if threading.get_ident() != here:
            shown(message)

    machinery._showwarnmsg = show
    try:
        yield
    finally:
        if machinery._showwarnmsg is show:
            machinery._showwarnmsg = shown
