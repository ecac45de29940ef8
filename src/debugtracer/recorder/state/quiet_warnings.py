"""Warnings of the user's code while we run it once more: it has warned already."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quiet_warnings() -> Iterator[list[str]]:
    """Hide this thread's warnings inside, yielding their texts; unlike catch_warnings it leaves filters as they are."""
    machinery: Any = warnings
    shown, told = machinery._showwarnmsg, list[str]()
    here: int | None = threading.get_ident()

    def show(message: Any) -> None:
        if threading.get_ident() == here:
            told.append(str(message.message))
        else:
            shown(message)

    machinery._showwarnmsg = show
    try:
        yield told
    finally:
        here = None  # where another thread has put its own in front, this one stays and hides nothing
        if machinery._showwarnmsg is show:
            machinery._showwarnmsg = shown
