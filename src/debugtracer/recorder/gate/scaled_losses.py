"""Which scaled loss stands for which loss, under a GradScaler."""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor

from debugtracer.recorder.state.weak import WeakRef


class ScaledLosses:
    """Pairs of losses, none of which is kept alive."""

    def __init__(self) -> None:
        self.pairs: dict[int, tuple[weakref.ref[Tensor], weakref.ref[Tensor]]] = {}

    def add(self, loss: Any, output: Any) -> None:
        """Remember that `output` is `loss` times the scale; what is no tensor is passed over."""
        if isinstance(loss, Tensor) and isinstance(output, Tensor):
            self.pairs = {k: v for k, v in self.pairs.items() if v[0]() is not None}
            self.pairs[id(output)] = (WeakRef(output), WeakRef(loss))

    def unscaled(self, tensor: Tensor) -> Tensor:
        """The loss behind a scaled loss, or the tensor itself."""
        found = self.pairs.get(id(tensor))
        loss = found[1]() if found is not None and found[0]() is tensor else None
        return tensor if loss is None else loss
