"""The prefix by which the names of two states differ."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

ASKED = 64  # names that vote for a prefix (ours)
LIKE = 64  # names of the same ending and shape compared with each (ours)

Shapes = Mapping[str, tuple[int, ...]]


class NamePrefix(NamedTuple):
    """What to take away from the names of a state, what to put there, and how many then fit by name and shape."""

    removed: str
    added: str
    healed: int


def parted(given: str, own: str) -> tuple[str, str]:
    """What stands before the parts at the end in which two names agree."""
    mine, theirs = given.split("."), own.split(".")
    while mine and theirs and mine[-1] == theirs[-1]:
        mine.pop()
        theirs.pop()
    return ".".join([*mine, ""]) if mine else "", ".".join([*theirs, ""]) if theirs else ""


def name_prefix(given: Shapes, own: Shapes) -> NamePrefix | None:
    """The one that makes most names fit; None where none does."""
    alike: defaultdict[tuple[str, tuple[int, ...]], list[str]] = defaultdict(list)
    for name, shape in given.items():
        alike[name.rpartition(".")[2], shape].append(name)
    votes: Counter[tuple[str, str]] = Counter()
    names = list(own)[:: max(len(own) // ASKED, 1)]
    for name in names:
        votes.update(parted(other, name) for other in alike[name.rpartition(".")[2], own[name]][:LIKE])
    best = [NamePrefix(*pair, fitting(given, own, *pair)) for pair, _ in votes.most_common(4)]
    best = [one for one in best if one.healed]
    return max(best, key=lambda one: (one.healed, -len(one.added))) if best else None


def fitting(given: Shapes, own: Shapes, removed: str, added: str) -> int:
    """How many names fit with another prefix."""
    return len(fitted(given, own, removed, added))


def fitted(given: Shapes, own: Shapes, removed: str, added: str) -> list[str]:
    """The names of the module that something fits with another prefix."""
    moved = {added + name[len(removed) :]: shape for name, shape in given.items() if name.startswith(removed)}
    return [name for name, shape in moved.items() if own.get(name) == shape]


def is_swapped(prefix: NamePrefix) -> bool:
    """Whether one part has the name of another: neither prefix is the begin of the other, as where a wrapper stands
    inside (`encoder.module.` for `encoder.`)."""
    removed, added = prefix.removed, prefix.added
    return not (removed.startswith(added) or added.startswith(removed))
