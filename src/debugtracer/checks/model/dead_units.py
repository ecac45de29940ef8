"""Are units of a ReLU ever active?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import filled_at, taken
from debugtracer.trace.facts.health import Health, TensorHealth
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

BORN = "It was so before any update: look at the bias and the scale of the inputs."
ADVICE = "Lower the learning rate or look at the bias and the scale of the inputs."


class DeadUnits(Check, frozen=True):
    """Most units of a ReLU layer are zero for every row of the batch.

    What it catches
        ReLUs pushed below zero by a large step, a bad bias, or inputs that are not centred.
    Why it matters
        A unit that is never active has no gradient and never comes back: the layer is smaller than it looks.
    How it decides
        Share of units that are zero on the whole batch: above `dead` in the last `snapshots` snapshots a warning, above
        `half` a note. Batches with fewer than `rows` values per unit are left out: there a unit may rest by chance. A
        unit is a channel of an image, else the last dimension.
    What to do
        Lower the learning rate, initialise with He and zero bias, centre the inputs, or use LeakyReLU or GELU.
    Example
        step 2, rank 0: 100% of the 64 units of net.1:relu are zero for all rows in 3 snapshots; expected below 90%.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "dead_relu"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "lower the learning rate, or warm it up",
        "initialise the layer before it with torch.nn.init.kaiming_normal_ and a zero bias; centre the inputs",
        "use nn.LeakyReLU or nn.GELU instead",
    )
    family: ClassVar[str] = "activation"
    proved_by: ClassVar[str] = "model/negative_bias_relu"

    # share of units of a layer (smdebug says 50 %; 90 % leaves room for layers that are sparse by design)
    dead: float = 0.9
    # the same for a note (ours: healthy small networks of ours had up to 0.56; smdebug's DeadRelu says 0.5, in `seed`)
    half: float = 0.75
    snapshots: int = 3  # snapshots in a row (ours)
    bias: float = -1.0  # every value of a bias at the start; torch's own begin within 1/sqrt(fan in) (ours)
    rows: int = 16  # values per unit in the batch; by chance 2^-16 of the units rest (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The worst layer of the last snapshots."""
        facts = taken(window)[-self.snapshots :]
        if not window.new(Health) or len(facts) < self.snapshots:
            return
        shares = {name: min(self.share(fact, name) for fact in facts) for name in facts[-1].of("activation")}
        worst = max(shares, key=lambda name: shares[name], default=None)
        if worst is not None:
            self.measured(window, "share of dead units in a layer", shares[worst], self.half)
        if worst is None or shares[worst] <= self.half:
            return
        loud, told = shares[worst] > self.dead, window.memory(self)
        if told.get(worst, "") >= (known := "warning" if loud else "note"):
            return  # a warning is the later word of the two
        told[worst] = known
        row = facts[-1].of("activation")[worst]
        sunk, born = self.sunk(facts[0]), facts[0].ref.step == 0
        advice = BORN if born else ADVICE
        if sunk is not None:
            advice = f"{sunk.name} starts at {as_float(sunk.mean):.3g}: start it at 0."
        yield self.finding(
            window,
            known,  # type: ignore[arg-type]
            f"{shares[worst]:.0%} of the {units(row)} units of {worst} are zero for all rows in {len(facts)} "
            f"snapshots; expected below {self.dead if loud else self.half:.0%}. {advice}",
            remedies=self.remedies[1:] if born else (),
            ref=facts[0].ref,
            place=Place(
                module=narrowed(worst.split(":")[0], sunk) if ":" in worst else None,
                frame=(filled_at(window, sunk.name) if sunk else None) or row.frame,
                symptom_frame=row.frame,
                op="aten::relu",
            ),
            dead_share=shares[worst],
        )

    def sunk(self, fact: Health) -> TensorHealth | None:
        """The first bias that was far below zero from the start."""
        biases = [
            row
            for name, row in fact.of("weight").items()
            if len(row.shape) == 1 and name.endswith("bias") and as_float(row.high) <= self.bias
        ]
        return biases[0] if biases and fact.ref.step == 0 else None

    def share(self, fact: Health, name: str) -> float:
        """The share of dead units of one activation in one snapshot; 0 where it cannot be determined."""
        row = fact.of("activation").get(name)
        if row is None or row.dead_units is None or math.prod(row.shape) < self.rows * units(row):
            return 0.0
        return row.dead_units


def narrowed(module: str, sunk: TensorHealth | None) -> str:
    """The ReLU's module; where relu is a function called inside a larger module, the layer in it whose bias is to
    blame."""
    return sunk.name.rpartition(".")[0] if sunk and sunk.name.startswith(f"{module}.") else module


def units(row: TensorHealth) -> int:
    """The number of channels of an image, else the size of the last dimension."""
    return row.shape[1] if len(row.shape) >= 4 else row.shape[-1]
