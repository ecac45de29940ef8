"""The whereabouts of one aten op of a traced step."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Direction, Frame

LOG_EDGES = {"log": 0.0, "log2": 0.0, "log10": 0.0, "log1p": -1.0}
"""Where each logarithm becomes -inf; below it is NaN."""


class OpMeta(msgspec.Struct, frozen=True, kw_only=True):
    """One op as a dispatch mode saw it, and where it came from."""

    index: int
    """Position in the traced step, from 0."""
    op: str
    """The aten op that ran, e.g. `aten::log`."""
    overload: str = "default"
    direction: Direction = "forward"
    forward_op: str | None = None
    """For direction backward: the forward op whose derivative this is, when known."""
    node: str | None = None
    """For direction backward: the autograd node, e.g. `SqrtBackward0`."""
    module: str | None = None
    """Path below the root that ran ("" = the root); None outside any root module (free code, loss modules)."""
    frames: tuple[Frame, ...] = ()
    """User frames, innermost first; for a backward op those of its forward op."""
    library: Frame | None = None
    """The innermost line of a library that is not torch, where it lies further in than the user's."""
    entry: int | None = None
    """Tape entry during which it ran."""
