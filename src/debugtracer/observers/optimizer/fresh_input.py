"""Whether the model was given another input than for the backward before: what tells microbatches from several losses
of one batch, where no loader hands them out."""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor


class FreshInput:
    """The first input of the model since the last backward, by weak reference."""

    def __init__(self) -> None:
        self.last: weakref.ref[Tensor] | None = None
        self.is_fresh = False

    def came(self, args: tuple[Any, ...]) -> None:
        """Compare the input of the first forward after a backward; one computed with a graph is not fresh."""
        given = args[0] if args and isinstance(args[0], Tensor) else None
        self.is_fresh = given is not None and given.grad_fn is None and (self.last is None or self.last() is not given)
        self.last = weakref.ref(given) if given is not None else None
