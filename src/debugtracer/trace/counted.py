"""A count and its word, for every text that people read."""

from __future__ import annotations


def counted(count: int, word: str) -> str:
    """Format a count: `1 row`, `5 rows`."""
    return f"{count} {word}{'' if count == 1 else 's'}"
