"""The lines that made a value, as a clause of a message."""

from __future__ import annotations

from pathlib import PurePath

from debugtracer.trace.birth import Frame

WAY = 3  # lines named between the one that made a value and the one that used it (ours)


def made_at(frames: tuple[Frame, ...]) -> str:
    """Format the line that made a value and those that handed it on: `, made at data.py:9 (by way of train.py:20)`."""
    if not frames:
        return ""
    first, *way = [f"{PurePath(frame.file).name}:{frame.line}" for frame in frames]
    return f", made at {first}" + (f" (by way of {', '.join(way[:WAY])})" if way else "")
