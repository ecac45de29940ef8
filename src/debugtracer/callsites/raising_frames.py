"""The frames of the program that an exception came through."""

from __future__ import annotations

import traceback
from types import FrameType

from debugtracer.callsites.frames import USER, place_of


def raising_frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """The frames of the program in a traceback, and the line that each was at; outermost first."""
    return [(f, line) for f, line in traceback.walk_tb(error.__traceback__) if place_of(f.f_code) == USER]
