"""The line of the data pipeline after which nothing is left of a record: a list without entries, a row of padding only.
No torch."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame


class EmptiedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One sample fetched again beside others, of which the same line leaves something."""

    index: int
    """Dataset index of the sample."""
    frame: Frame
    expression: str = ""
    """The part of the line that gave nothing: `[self.ids[w] for w in words if w in self.ids]`."""
    left: str = ""
    """What it gave, in words: `an empty list`."""
    beside: int = 0
    """Samples that were fetched beside it."""
