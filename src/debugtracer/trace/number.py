"""Numbers that survive JSON: non-finite floats travel as strings ("NaN", "Infinity", "-Infinity")."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

WORDS = ("NaN", "Infinity", "-Infinity")
Number = float | Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(WORDS)})$")]
"""A float, or the word for one that JSON cannot hold; any other word is damage, seen when it is read."""


def number(value: float) -> Number:
    """The JSON form of a float."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def symbolic(value: object) -> int:
    """The JSON form of a size that is only known as a symbol (jagged nested tensors, dynamic shapes): -1. Raises
    TypeError for anything else."""
    if type(value).__name__ != "SymInt":
        raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")
    return -1


def as_float(value: Number) -> float:
    """The float behind its JSON form."""
    return float(value)
