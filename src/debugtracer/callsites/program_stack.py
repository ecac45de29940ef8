"""The frames of the program that are running, without those of libraries and ours."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType

from debugtracer.callsites.frames import USER, place_of


def program_stack(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the program's own functions from this one (`sys._getframe()`) outwards."""
    while frame is not None:
        if place_of(frame.f_code) == USER:
            yield frame
        frame = frame.f_back
