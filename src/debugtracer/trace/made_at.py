"""The lines that made a value, as a clause of a message."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.file_line import file_line

MOST = 4  # lines of a chain that are written out (ours)


def made_at(frames: tuple[Frame, ...]) -> str:
    """Format the line that made a value and those that handed it on: `, made at data.py:9 -> data.py:14`."""
    lines = dict.fromkeys(file_line(frame) for frame in frames)
    return f", made at {' -> '.join(list(lines)[:MOST])}" if lines else ""
