"""The model with the weights that its layers begin with by themselves, and an optimizer without a memory."""

from __future__ import annotations

from typing import ClassVar

from torch.optim import Optimizer

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.reinit_layer import SEED, reset, resettable
from debugtracer.interventions.rerun import Rerun


class FreshWeights(Intervention):
    """`reset_parameters()` of every layer. Where that gets further in some dozen steps than the weights of the run, the
    weights were what stopped it."""

    scope: ClassVar[Scope] = "structure"
    by_training: ClassVar[bool] = True

    def refuses(self, rerun: Rerun) -> str:
        """Refuse for a model without a layer that can begin anew."""
        return "" if any(map(resettable, rerun.roots)) else "no layer has reset_parameters"

    def apply(self, rerun: Rerun) -> str:
        """Reset the layers for the time of the run, and the state of each optimizer at its first update."""
        begun: set[int] = set()

        def forget(optimizer: Optimizer) -> None:
            if id(optimizer) not in begun:
                begun.add(id(optimizer))
                optimizer.state.clear()

        rerun.throughout += [reset(root, (rerun.seed or 0) + SEED) for root in rerun.roots]
        rerun.on_update.append(forget)
        count = sum(len(resettable(root)) for root in rerun.roots)
        return f"the {count} layers as they begin by themselves (reset_parameters)"
