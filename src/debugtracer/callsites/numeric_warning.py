"""A warning of numpy or scipy that a number was not representable, with the user's lines it came from."""

from __future__ import annotations

from dataclasses import dataclass

from debugtracer.trace.birth import Frame

WORDS = ("divide by zero", "invalid value", "overflow encountered", "Mean of empty slice", "Degrees of freedom <= 0")
"""How their texts begin where Inf or NaN comes out."""


@dataclass(frozen=True)
class NumericWarning:
    """`frames` are the user's lines, innermost first."""

    text: str
    frames: tuple[Frame, ...]
