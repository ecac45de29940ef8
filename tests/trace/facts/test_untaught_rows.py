"""Samples without a target, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.untaught_rows import UntaughtRows
from tests.checks.facts_at import line, ref


def fact(number: int, empty: int = 2) -> UntaughtRows:
    return UntaughtRows(
        ref=ref(), path="batch['labels']", loss="cross_entropy", ignored=-100, rows=9, empty=empty, asked=2,
        samples=(3, 8), frame=line(number),
    )  # fmt: skip


def test_it_survives_json() -> None:
    assert from_plain(fact(3).word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact(3))))) == fact(3)


def test_another_line_is_news_and_another_count_is_not() -> None:
    assert fact(3).key() == fact(3, empty=4).key() != fact(4).key()
