"""Has Adam's second moment fallen behind the gradient?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.precursors import FOLLOWED, Precursors
from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SecondMomentLag(Check, frozen=True):
    """The gradient is larger than Adam's second moment knows: the precursor RMS_t.

    What it catches
        A jump in gradient size against a stale exp_avg_sq (large beta2): the update is too large by that factor.
    Why it matters
        Loss spikes follow 1 to 8 steps later (Wortsman 2023b).
    How it decides
        RMS_t = sqrt(mean(g^2 / max(v, eps^2))) of one parameter over its touched elements, on inspected steps: above
        `alarm` a note, where the loss jumped (see loss-spike) in one of the 8 steps from there on: where the spike
        began; in healthy runs most such ratios pass without one. Sampled every 100 steps, so most jumps fall between
        two looks. Small parameters and the first steps are left out. Told `often` times in a run, then only where it is
        `more` times what was told before: gradients that always differ so much are the program's way.
    What to do
        Lower beta2 to 0.95, clip the update (divide the rate by max(1, RMS_t)), or clip the gradient.
    Example
        step 300, rank 0: RMS_t of embed.weight is 4.1 (Adam), largest of 24 parameters; expected below 3. The loss
        jumped at step 303: lower beta2, or clip the gradient.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "adam_instability"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "lower beta2 to 0.95",
        "clip the gradient: torch.nn.utils.clip_grad_norm_(parameters, 1.0)",
    )
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "optimizer/sudden_gradient"

    alarm: float = 3.0  # RMS_t: no false alarm in 5,600 healthy steps, all of ten faults found
    first: int = 50  # steps: before, the second moment is a mean of few gradients (ours)
    smallest: int = 64  # elements of the parameter (ours)

    often: int = 2  # in a run (ours)
    more: float = 1.5  # times the largest that was told (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The parameter with the largest RMS_t of each snapshot after which the loss jumped."""
        held: Precursors = window.memory(self).setdefault("held", Precursors())
        self.look(window, held)
        told = window.memory(self)
        for finding in held.followed(window):
            value = as_float(finding.evidence["rms"])
            if told.get("times", 0) < self.often or value > self.more * told["largest"]:
                told["times"], told["largest"] = told.get("times", 0) + 1, max(value, told.get("largest", 0.0))
                yield finding

    def look(self, window: Window, held: Precursors) -> None:
        """Note what the new snapshots show."""
        for fact in window.new(Health):
            rows = [p for p in fact.params if p.rms is not None and p.numel >= self.smallest]
            worst = max(rows, key=lambda p: as_float(p.rms or 0.0), default=None)
            value = as_float(worst.rms or 0.0) if worst is not None else 0.0
            if worst is not None and fact.ref.step >= self.first and value > self.alarm:
                held.hold(self.describe(window, fact, worst, len(rows)))

    def describe(self, window: Window, fact: Health, worst: ParamDynamics, count: int) -> Finding:
        """Build the note about the parameter with the largest RMS_t."""
        value = as_float(worst.rms or 0.0)
        return self.finding(
            window,
            "note",
            f"RMS_t of {worst.name} is {value:.2g} ({worst.optimizer}), largest of {count} parameters; expected below "
            f"{self.alarm:.2g}. {FOLLOWED}: lower beta2, or clip the gradient.",
            ref=fact.ref,
            place=Place(param=worst.name, module=worst.name.rpartition(".")[0]),
            rms=value,
        )
