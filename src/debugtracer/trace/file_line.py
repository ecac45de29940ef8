"""A line of a program in a message."""

from __future__ import annotations

from pathlib import PurePath

from debugtracer.trace.birth import Frame


def file_line(frame: Frame) -> str:
    """Format a line as `train.py:53`."""
    return f"{PurePath(frame.file).name}:{frame.line}"


def spot(frame: Frame | None) -> str:
    """Format a line as ` (train.py:53)`, or nothing where it is not known."""
    return f" ({file_line(frame)})" if frame is not None else ""
