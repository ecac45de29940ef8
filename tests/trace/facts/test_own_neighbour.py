"""Nearest rows that begin with the row itself, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.own_neighbour import OwnNeighbour
from tests.checks.facts_at import line, ref


def fact(number: int, own: int = 96) -> OwnNeighbour:
    return OwnNeighbour(ref=ref(), function="topk", rows=96, neighbours=5, own=own, frame=line(number))


def test_it_survives_json() -> None:
    assert from_plain(fact(3).word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact(3))))) == fact(3)


def test_another_line_is_news_and_another_count_is_not() -> None:
    assert fact(3).key() == fact(3, own=95).key() != fact(4).key()
