"""Do activations keep their size through the depth of the model?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import filled_at, rms
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

LINEAR = ("Linear", "Conv1d", "Conv2d", "Conv3d", "Bilinear", "ConvTranspose2d")


class ActivationGrowth(Check, frozen=True):
    """Activations grow (or shrink) by orders of magnitude from layer to layer at the start.

    What it catches
        Weights initialised with a standard deviation of 1, no normalisation: each layer multiplies the size of what it
        gets.
    Why it matters
        Gradients explode or vanish with it; in half precision the last layers overflow.
    How it decides
        Root mean square of the outputs of the linear and convolution layers in the first step: from one layer to the
        next it changes by `per_layer` on (geometric) average over at least `layers` layers and ends above `largest` or
        below its inverse. Smaller changes are not told. Outputs that shrink are told at the first look after `settled`
        steps, or at the end: training may mend them, as in GANs whose weights begin with a standard deviation of 0.02,
        and then it is a note.
    What to do
        Initialise with torch.nn.init.kaiming_normal_ (standard deviation sqrt(2/fan_in)) or add normalisation.
    Example
        step 0, rank 0: the outputs of 6 linear layers grow 11 times a layer at the start, to 2.1e+06 at layers.5;
        expected to keep their size.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "bad_init"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "initialise with torch.nn.init.kaiming_normal_(weight), or torch's default",
        "add nn.LayerNorm or nn.BatchNorm between the layers",
    )
    family: ClassVar[str] = "activation"
    suspects: ClassVar[tuple[str, ...]] = ("exploding-gradients",)
    proved_by: ClassVar[str] = "model/unit_normal_init"

    per_layer: float = 3.0  # growth per layer, geometric mean (ours)
    layers: int = 4  # layers in a row (ours)
    largest: float = 1e3  # rms at the end, inverse at the other end (ours: a normalised network stays within 0.01..100)
    settled: int = 32  # steps in which training may mend what shrinks (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding: what grows at the first snapshot, what shrinks later."""
        memory = window.memory(self)
        for fact in window.new(Health):
            held = memory.get("held")
            if held is not None and fact.ref.step >= self.settled:
                del memory["held"]
                yield self.later(held, fact)
            for finding in self.at_start(window, fact):
                if as_float(finding.evidence["per_layer"]) > 1:
                    yield finding
                else:
                    memory["held"] = finding
        if window.ended and "held" in memory:
            yield memory.pop("held")

    def at_start(self, window: Window, fact: Health) -> Iterator[Finding]:
        """What the snapshot of the first step says by itself."""
        sizes = outputs(fact)
        if fact.ref.step == 0 and fact.params and len(sizes) >= self.layers:
            yield from self.grown(window, fact, sizes)

    def later(self, found: Finding, fact: Health) -> Finding:
        """What shrank at the start, with its size after some steps."""
        now = dict(outputs(fact)).get(found.place.module or "", 0.0)
        if now < 1 / self.largest:
            return found
        return msgspec.structs.replace(
            found,
            severity="note",
            message=f"{found.message} Nothing if it learns: they have a size of {now:.2g} at step {fact.ref.step}.",
        )

    def grown(self, window: Window, fact: Health, sizes: list[tuple[str, float]]) -> Iterator[Finding]:
        """The change from the first to the last linear layer but the head, which may have a scale of its own."""
        inner = sizes[:-1]
        step = (inner[-1][1] / inner[0][1]) ** (1 / (len(inner) - 1))
        self.measure(window, max(step, 1 / step), inner[-1][1] if step > 1 else 1 / inner[-1][1])
        extreme = inner[-1][1] > self.largest if step > 1 else inner[-1][1] < 1 / self.largest
        if not extreme or abs(math.log(step)) < math.log(self.per_layer):
            return
        word = f"grow {step:.3g}" if step > 1 else f"shrink {1 / step:.3g}"
        yield self.finding(
            window,
            "warning",
            f"the outputs of {len(inner)} linear layers {word} times a layer at the start, to {inner[-1][1]:.2g} at "
            f"{inner[-1][0]}; expected to keep "
            "their size. Look at the initialisation.",
            ref=fact.ref,
            place=Place(module=inner[-1][0], frame=filled_at(window, f"{inner[-1][0]}.weight")),
            per_layer=step,
            last_rms=inner[-1][1],
        )

    def measure(self, window: Window, growth: float, size: float) -> None:
        """Note how close it came: both must be large, the lesser of them decides."""
        if growth / self.per_layer < size / self.largest:
            self.measured(window, "growth of the outputs from layer to layer", growth, self.per_layer)
        else:
            self.measured(window, "size of the last layer's outputs at the start, RMS", size, self.largest)


def outputs(fact: Health) -> list[tuple[str, float]]:
    """The root mean square of the outputs of the linear and convolution layers, in order; without those that are 0."""
    rows = [row for row in fact.tensors if row.role == "activation" and row.function in LINEAR]
    return [(row.name, rms(row)) for row in rows if rms(row) > 0]
