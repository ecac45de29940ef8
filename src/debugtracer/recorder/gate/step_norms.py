"""What the gate has read of each tensor when it judged the step in flight: numbers that cost nothing more to keep."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from torch import Tensor


class StepNorms:
    """One per process; the gate writes it, whoever wants the numbers of this step reads them before the next one."""

    def __init__(self) -> None:
        self.gradients: deque[tuple[float, ...]] = deque(maxlen=1)
        """L2 norms of the gradients that are there, in the optimizer's order; empty where the gate did not read each:
        the norm came from the loop's clipping, on a device, in half precision."""
        self.weights: deque[tuple[float, ...]] = deque(maxlen=1)
        """The same of all parameters after the update; empty at rest."""

    def of_gradients(self, parameters: Sequence[Tensor]) -> dict[int, float] | None:
        """Return the norms of the gradients by the id of their parameter, for all parameters of the optimizer that
        steps; None where the gate did not read each."""
        graded = [p for p in parameters if p.grad is not None]
        return by_id(graded, self.gradients)

    def of_weights(self, parameters: Sequence[Tensor]) -> dict[int, float] | None:
        """Return the norms of the weights after the update, by their id; None where the gate did not read each."""
        return by_id(parameters, self.weights)


def by_id(tensors: Sequence[Tensor], read: deque[tuple[float, ...]]) -> dict[int, float] | None:
    """The norms that were read last by the id of their tensor; None of other tensors."""
    if not read or len(read[-1]) != len(tensors):
        return None
    return dict(zip(map(id, tensors), read[-1], strict=True))
