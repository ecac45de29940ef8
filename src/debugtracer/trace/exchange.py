"""The last exchanges of a rank (all_to_all): what it sent to each rank and what it expected of each. A small file that
outlives a process which is aborted; needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

LAST_EXCHANGES = "last-exchanges.txt"
KEPT = 4  # exchanges of a rank: another may have gone on by a few (ours)
MOST_RANKS = 64  # of a group whose sizes are written down (ours)


class Exchange(NamedTuple):
    """One call."""

    number: int
    """Which of the exchanges of its group, from 0."""
    call: str
    sent: tuple[int, ...]
    """Elements for each rank of the group, in their order."""
    received: tuple[int, ...]
    """Elements that are expected of each."""
    ranks: tuple[int, ...]
    """The group."""
    file: str = ""
    line: int = 0


class Unequal(NamedTuple):
    """Two ranks that do not agree about what the one sends to the other."""

    sender: int
    receiver: int
    sent: int
    expected: int
    at: Exchange
    """The exchange of the sender."""


def as_text(exchanges: Sequence[Exchange]) -> str:
    """The lines of the file."""
    return "".join(
        f"{e.number} {e.call} {numbers(e.sent)} {numbers(e.received)} {numbers(e.ranks)} {e.line} {e.file}\n"
        for e in exchanges
    )


def numbers(values: Sequence[int]) -> str:
    """The values of one side, joined to a word."""
    return ",".join(map(str, values)) or "-"


def exchanges_of(text: str) -> tuple[Exchange, ...]:
    """What the file says, read tolerantly."""
    found = []
    for line in text.split("\0", 1)[0].splitlines():
        words = line.split(" ", 6)
        try:
            sent, received, ranks = (tuple(int(n) for n in w.split(",") if n != "-") for w in words[2:5])
            found.append(Exchange(int(words[0]), words[1], sent, received, ranks, words[6], int(words[5])))
        except (ValueError, IndexError):
            continue
    return tuple(found)


def unequal(ranks: Mapping[int, Sequence[Exchange]]) -> Unequal | None:
    """The first pair of ranks whose exchange of one number and group has other sizes on both sides."""
    known = {rank: {(e.number, e.ranks, e.call): e for e in exchanges} for rank, exchanges in ranks.items()}
    for call in sorted({key for held in known.values() for key in held}):
        group = call[1]
        for sender in group:
            for receiver in group:
                one, other = known.get(sender, {}).get(call), known.get(receiver, {}).get(call)
                if one is None or other is None or not len(one.sent) == len(other.received) == len(group):
                    continue
                sent, expected = one.sent[group.index(receiver)], other.received[group.index(sender)]
                if sent != expected:
                    return Unequal(sender, receiver, sent, expected, one)
    return None
