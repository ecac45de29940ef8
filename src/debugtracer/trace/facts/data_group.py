"""Ranks that train one model on data of their own, without a DistributedDataParallel."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact

BY_HAND = "all_reduce"


class DataGroup(Fact, frozen=True, kw_only=True):
    """Ranks whose gradients are averaged, told once."""

    ABOUT = "several ranks"

    how: str
    """`fully_shard`, `FullyShardedDataParallel`, or `all_reduce` of gradients by the program itself."""
    group: tuple[int, ...]
    """The ranks, this one included."""
    at: Frame | None = None
    """The line of the program that reduces them."""

    def key(self) -> object:
        """Identify the group and its kind."""
        return self.how, self.group
