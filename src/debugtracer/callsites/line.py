"""Picks one source line out of raw frames."""

from __future__ import annotations

import sys
from types import FrameType

from debugtracer.callsites.frames import USER, RawFrames, frames_of, place_of
from debugtracer.trace.birth import Frame


def first(raw: RawFrames) -> Frame | None:
    """The innermost line of raw frames; None when there is none."""
    frames = frames_of(raw[:1])
    return frames[0] if frames else None


def raised_at(error: BaseException) -> RawFrames:
    """The innermost user line of a traceback, as raw frames."""
    found: RawFrames = ()
    trace = error.__traceback__
    while trace is not None:
        if place_of(trace.tb_frame.f_code) == USER:
            found = ((trace.tb_frame.f_code, trace.tb_lineno),)
        trace = trace.tb_next
    return found


def user_frame(skip: int = 1) -> FrameType | None:
    """The innermost frame of the program on the stack; `skip` callers are left out."""
    frame: FrameType | None = sys._getframe(skip)
    while frame is not None and place_of(frame.f_code) != USER:
        frame = frame.f_back
    return frame
