"""What numbers keys: a dict from words or ids to whole numbers, a list of words, a table of two columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from debugtracer.callsites.filled_dicts import PLAIN, numbers_of

FEWEST, LONGEST = 8, 1 << 18  # keys (ours)
GAPS = 8  # numbers that may be left out, as of padding and of unknown words (ours)


def key_numbers(value: Any) -> Mapping[Any, int] | None:
    """Return key -> number where an object is nothing but that, each key with a number of its own; else None. Reads
    it, and changes nothing."""
    if type(value) in PLAIN:
        numbers = numbers_of(value) if len(value) <= LONGEST else None
        return value if numbers is not None and is_numbering(list(value), numbers) else None
    if type(value) in (list, tuple):
        words = FEWEST <= len(value) <= LONGEST and all(type(word) is str for word in value)
        return {word: at for at, word in enumerate(value)} if words and len(set(value)) == len(value) else None
    if type(value).__module__.partition(".")[0] == "pandas" and len(getattr(value, "columns", ())) == 2:
        return of_columns(*(value[name].tolist() for name in value.columns))
    return None


def of_columns(one: list[Any], other: list[Any]) -> Mapping[Any, int] | None:
    """The same of two columns: the second numbers the first, or the first the second."""
    for keys, numbers in ((one, other), (other, one)):
        if len(set(keys)) == len(keys) == len(set(numbers)) and is_numbering(keys, numbers):
            return dict(zip(keys, numbers, strict=True))
    return None


def is_numbering(keys: Sequence[Any], numbers: Sequence[Any]) -> bool:
    """Whether words or ids are counted from 0 or a little above, with hardly a gap."""
    if not FEWEST <= len(keys) <= LONGEST or not all(type(number) is int for number in numbers):
        return False
    plain = all(type(key) is str for key in keys) or all(type(key) is int for key in keys)
    return plain and 0 <= min(numbers) <= GAPS and max(numbers) < len(numbers) + GAPS
