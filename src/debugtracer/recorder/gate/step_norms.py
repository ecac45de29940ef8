"""What the gate has read of each tensor when it judged the step in flight: numbers that cost nothing more to keep."""

from __future__ import annotations

from collections import deque


class StepNorms:
    """One per process; the gate writes it, whoever wants the numbers of this step reads them before the next one."""

    def __init__(self) -> None:
        self.gradients: deque[tuple[float, ...]] = deque(maxlen=1)
        """L2 norms of the gradients that are there, in the optimizer's order; empty where the gate did not read each:
        the norm came from the loop's clipping, on a device, in half precision."""
        self.weights: deque[tuple[float, ...]] = deque(maxlen=1)
        """The same of all parameters after the update; empty at rest."""
