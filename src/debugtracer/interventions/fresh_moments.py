"""The optimizer without its memory: moments and step counts as on the first step."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class FreshMoments(Intervention):
    """Heals a step whose optimizer state is stale or broken. As a repair it needs a new warm-up of about 1 / (1 -
    beta2) steps."""

    scope: ClassVar[Scope] = "update"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without an optimizer that keeps state."""
        if not rerun.optimizers:
            return "the update is not replayed"
        return "" if any(o.state for o in rerun.optimizers) else "the optimizer keeps no state"

    def apply(self, rerun: Rerun) -> str:
        """Zero every state tensor in place."""

        def reset(optimizer: Optimizer) -> None:
            for state in optimizer.state.values():
                for key, value in state.items():
                    if isinstance(value, Tensor):
                        with torch.no_grad():
                            value.zero_()
                    elif isinstance(value, int) and key == "step":
                        state[key] = 0

        rerun.on_update.append(reset)
        return "moments and step counts of the optimizer set to zero"
