"""Texts and values that another processor or another number of threads has made: the same words, and numbers that are
the same but for rounding."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=x?(?!\w))")
REL, ABS = 0.01, 1e-6
"""How far two numbers may lie apart: instruction sets and numbers of threads add in another order, and a few steps of
training carry that on."""


def differences(
    want: object, got: object, *, rel: float = REL, absolute: float = ABS, more: bool = False, at: str = ""
) -> list[str]:
    """Where `got` is not `want`, one sentence for each place: text word for word, its numbers and all numbers within
    the tolerance.

    Whole numbers (a line, a step, a count) are exact. With `more`, `got` may have keys that `want` lacks: fields that a
    later version has added."""
    if isinstance(want, str) and isinstance(got, str):
        return [f"{at or 'text'}: {line}" for line in text_differences(want, got, rel, absolute)]
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        missing = [
            f"{at}.{key}: {'missing' if key in want else 'new'}"
            for key in want.keys() ^ got.keys()
            if key in want or not more
        ]
        pairs = [(f"{at}.{key}", value, got[key]) for key, value in want.items() if key in got]
        return sorted(missing) + [
            d for place, a, b in pairs for d in differences(a, b, rel=rel, absolute=absolute, more=more, at=place)
        ]
    if (
        isinstance(want, Sequence)
        and isinstance(got, Sequence)
        and not isinstance(want, str)
        and not isinstance(got, str)
    ):
        if len(want) != len(got):
            return [f"{at}: {len(got)} items, expected {len(want)}"]
        pairs = [(f"{at}[{n}]", a, b) for n, (a, b) in enumerate(zip(want, got, strict=True))]
        return [d for place, a, b in pairs for d in differences(a, b, rel=rel, absolute=absolute, more=more, at=place)]
    if is_number(want) and is_number(got):
        return [] if near(str(want), str(got), rel, absolute) else [f"{at}: {got}, expected {want}"]
    return [] if want == got and type(want) is type(got) else [f"{at}: {got!r}, expected {want!r}"]


def text_differences(want: str, got: str, rel: float, absolute: float) -> list[str]:
    """The first word that differs; else the numbers too far apart; else the first line laid out otherwise though each
    number is as wide as it was."""
    words = zip_longest(NUMBER.sub("#", want).split(), NUMBER.sub("#", got).split(), fillvalue="(end)")
    for n, (a, b) in enumerate(words):
        if a != b:
            return [f"word {n} is {b!r}, expected {a!r}; after {' '.join(got.split()[max(0, n - 8) : n])!r}"]
    numbers = list(zip(NUMBER.findall(want), NUMBER.findall(got), strict=True))
    far = [f"{b}, expected {a}" for a, b in numbers if not near(a, b, rel, absolute)]
    if far or any(len(a) != len(b) for a, b in numbers):
        return far  # a wider number wraps its line elsewhere
    lines = zip(NUMBER.sub("#", want).splitlines(), NUMBER.sub("#", got).splitlines(), strict=False)
    return next(([f"line {n} is laid out as {b!r}, expected {a!r}"] for n, (a, b) in enumerate(lines, 1) if a != b), [])


def near(want: str, got: str, rel: float, absolute: float) -> bool:
    """Whether two written numbers are the same but for rounding; two whole numbers only when they are equal."""
    if want == got:
        return True
    if not any(c in ".en" for c in want + got):  # n: nan, inf
        return False
    return math.isclose(float(want), float(got), rel_tol=rel, abs_tol=absolute)


def is_number(value: object) -> bool:
    """Whether it is a number of JSON."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def assert_same(want: object, got: object, hint: str = "", **tolerance: float) -> None:
    """Fails with the places that differ."""
    found = differences(want, got, **tolerance)  # type: ignore[arg-type]
    assert not found, "\n".join([*found[:20], *([hint] if hint else [])])
