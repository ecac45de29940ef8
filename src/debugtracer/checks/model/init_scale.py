"""Do the hidden layers start with outputs of a usable size?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.layer_gain import Layer, layers_of
from debugtracer.checks.model.activation_growth import ActivationGrowth
from debugtracer.checks.model.saturated_activation import FIRST, saturation
from debugtracer.checks.snapshots import filled_at, taken
from debugtracer.trace.facts.equal_units import EqualUnits
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class InitScale(Check, frozen=True):
    """Hidden layers start with outputs that are far too large or far too small, because of their weights.

    What it catches
        Weights drawn with a standard deviation of 1 (or 1e-3) in a model of few layers, where nothing grows layer after
        layer.
    Why it matters
        Large outputs give a huge first loss and gradients that only a tiny learning rate survives; tiny ones hide the
        input.
    How it decides
        Standard deviation of the outputs of linear and convolution layers at the first step, the last of them (the
        head) left out. Above `largest` in a layer whose own weights multiply white inputs by more than `gain` (large
        inputs alone are not told here); or below `smallest` in all hidden layers, with weights that multiply by less
        than `loss` and no normalisation to mend it. A note; a warning above `extreme` when the model has no
        normalisation. Outputs of exactly 0 (zero-initialised branches, LoRA B), frozen layers, weights that do not look
        drawn (trained before) and runs of which activation-growth, equal-units or saturated-activation speak are left
        alone.
    What to do
        Initialise with torch.nn.init.kaiming_normal_, or leave the initialisation of torch as it is.
    Example
        step 0, rank 0: the outputs of body.2 have a standard deviation of 1.8e+02 at the start (its weights multiply by
        16), 11 times those of body.0; expected 0.05..20. Initialise with kaiming_normal_.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "bad_init"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "initialise with torch.nn.init.kaiming_normal_(weight), or torch's default",
        "add nn.LayerNorm or nn.BatchNorm between the layers",
    )
    family: ClassVar[str] = "activation"
    proved_by: ClassVar[str] = "model/wide_start"

    smallest: float = 0.05  # standard deviation (ours)
    largest: float = 20.0  # standard deviation (ours)
    gain: float = 4.0  # times; He's initialisation is 1.4, torch's 0.58 (ours)
    loss: float = 0.1  # times; GPT-2's 0.02 at width 64 is 0.16 (ours)
    extreme: float = 100.0  # standard deviation: five times the bound (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once, after the first steps, when the more specific checks have been asked."""
        memory = window.memory(self)
        facts = [fact for fact in taken(window) if fact.ref.step < FIRST]
        if "done" in memory or not facts or facts[0].ref.step != 0 or (len(facts) < FIRST and not window.ended):
            return
        memory["done"] = True
        if self.known(window, facts):
            return
        layers = layers_of(facts[0])[:-1]
        large = [layer for layer in layers if layer.std > self.largest and layer.gain > self.gain and layer.fresh]
        if large:
            yield self.describe(window, facts[0], max(large, key=lambda layer: layer.std), layers)
        elif (
            len(layers) >= 2
            and not normalised(facts[0])
            and all(0 < x.std < self.smallest and x.gain < self.loss and x.fresh for x in layers)
        ):
            yield self.describe(window, facts[0], min(layers, key=lambda layer: layer.std), layers)

    def known(self, window: Window, facts: list[Health]) -> bool:
        """True when equal-units, saturated-activation or activation-growth reports it already."""
        equal = any(fact.grad_equal or (fact.grad_zero and fact.looks >= FIRST) for fact in window.seen(EqualUnits))
        names = facts[-1].of("activation")
        flat = any(min(saturation(fact, name) for fact in facts) > 0.5 for name in names)
        alone = Window(ref=facts[0].ref, facts={Health: facts[:1]}, came={Health: 1})
        return equal or flat or any(True for _ in ActivationGrowth().at_start(alone, facts[0]))

    def describe(self, window: Window, fact: Health, worst: Layer, layers: list[Layer]) -> Finding:
        """The layer, its size beside its neighbours, and what its weights do."""
        others = [layer for layer in layers if layer.std > 0 and layer is not worst]
        far = max(others, key=lambda layer: abs(math.log(layer.std / worst.std)), default=None)
        beside = f", {worst.std / far.std:.2g} times those of {far.name}" if far is not None else ""
        return self.finding(
            window,
            "warning" if worst.std > self.extreme and not normalised(fact) else "note",
            f"the outputs of {worst.name} have a standard deviation of {worst.std:.2g} at the start (its weights "
            f"multiply by {worst.gain:.2g}){beside}; "
            f"expected {self.smallest:g}..{self.largest:g}. Initialise with kaiming_normal_.",
            ref=fact.ref,
            place=Place(
                module=worst.name, param=f"{worst.name}.weight", frame=filled_at(window, f"{worst.name}.weight")
            ),
            std=worst.std,
            gain=worst.gain,
        )


def normalised(fact: Health) -> bool:
    """True if the model has a normalisation layer."""
    return any("Norm" in row.function for row in fact.tensors if row.role == "activation")
