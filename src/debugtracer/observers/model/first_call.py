"""The first call of an autograd.Function of the program's: its lines, and which of its arguments were 0."""

from __future__ import annotations

from typing import Any

from debugtracer.callsites.frames import RawFrames


class FirstCall:
    """Keeps no argument alive."""

    def __init__(self, raw: RawFrames, args: tuple[Any, ...]) -> None:
        self.raw = raw
        self.zeros = tuple(place for place, value in enumerate(args) if is_zero(value))
        """Places of the arguments that are a plain 0."""


def is_zero(value: Any) -> bool:
    """Whether it is a plain number that is 0; numpy's double is one."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == 0
