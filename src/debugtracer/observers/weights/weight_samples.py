"""Samples of the weights that an optimizer holds, to see whether anybody has changed them since."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from debugtracer.observers.numerics.even_sample import strided
from debugtracer.observers.weights.default_init import is_here
from debugtracer.recorder.state.weak import WeakRef

MOST = 32  # weights of which a sample is kept (ours)
SAMPLE = 64  # elements of each (ours)


class WeightSamples:
    """Keeps no weight alive. Waits for a device when it compares."""

    def __init__(self, weights: Sequence[Tensor]) -> None:
        some = [w for w in weights if is_readable(w)]
        self.kept = [(WeakRef(w), sample(w).clone()) for w in some[:: max(1, -(-len(some) // MOST))]]

    def stand(self, gone: bool = False) -> bool:
        """Whether the weights that are still there have the values they had; False where none can be read, `gone`
        where none is there any more."""
        if self.kept and not any(reference() is not None for reference, _ in self.kept):
            return gone
        alive = [(w, old) for reference, old in self.kept if (w := reference()) is not None]
        pairs = [(sample(w), old) for w, old in alive if is_readable(w)]
        same = [new.shape == old.shape and new.device == old.device for new, old in pairs]
        if not pairs or not all(same):
            return False
        # not equal to itself: NaN stands too
        moved = [((new != old) & (new == new) | (new != new) & (old == old)).any() for new, old in pairs]
        return not bool(torch.stack([m.cpu() for m in moved]).any())


def is_readable(weight: Tensor) -> bool:
    """True for plain values in this process; of a sharded or released weight nothing can be said."""
    plain = weight.layout is torch.strided and not weight.is_meta and weight.is_floating_point()
    return plain and weight.numel() > 0 and is_here(weight.data)


def sample(weight: Tensor) -> Tensor:
    """Select elements spread evenly over a weight."""
    return strided(weight.detach().reshape(-1), SAMPLE)
