"""How near the inputs of log, exp, sqrt, a division ... come to the end of their domain or range, on inspected
steps."""

from __future__ import annotations

from typing import Literal

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number

EdgeKind = Literal["zero", "root", "unit", "overflow"]


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one function on one line in one step, their nearest input."""

    op: str
    """Name of the function: log, sqrt, div ..."""
    kind: EdgeKind
    """At the edge `zero` the value is infinite (log, a division), at `root` only the derivative (sqrt); `unit`: |x| = 1
    (acos); `overflow`: exp."""
    dtype: str
    distance: Number
    """Of the nearest input to the edge, in units of the input; 0: an input lies on it."""
    grain: Number
    """The least distance that this input can have before it is 0."""
    limit: Number | None = None
    """exp: the largest input that is finite."""
    frame: Frame | None = None
    module: str | None = None


class DomainEdges(Fact, frozen=True, kw_only=True):
    """All such lines of one step whose input hangs on a graph and is kept away from the edge by nothing that we saw."""

    KEEP = 24

    edges: tuple[Edge, ...]
