"""Do different inputs still give different outputs?"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import is_matrix
from debugtracer.spikes.lines import lines
from debugtracer.spikes.summed_loss import MEAN, sum_place, sum_told, summed
from debugtracer.trace.facts.answer_spread import AnswerSpread
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.window import LOSS, Window

FIRST = 3  # updates whose size tells of the rate: those looked at from the start


class AnswersAlike(Check, frozen=True):
    """After some updates a model answers the same whatever it is given.

    What it catches
        A learning rate that throws a network (a Transformer with the norm after the sum, a deep ReLU network) where no
        input reaches the output any more, in its first updates.
    Why it matters
        All that is learnt from then on is how often each answer comes. The loss stands at a plausible value, and no
        gradient leads back.
    How it decides
        A copy in evaluation mode is given the first samples again after 64 and 128 updates: their outputs lie less than
        `share` of what they did at the start apart, and the loss is not below half of the first. A warning where the
        first updates changed the middle matrix by `thrown` of its norm or more each (healthy is below 1e-2) and it has
        not shrunk to half since, which is decay; else a note. Where a loss of torch adds up its rows
        (`reduction="sum"`) and SGD steps, which goes as far as the gradient is long, that is said.
    What to do
        Lower the learning rate by ten, or warm it up.
    Example
        step 64, rank 0: the outputs of PlanModel for 4 samples are 5e-07 times as far apart as at the start, and the
        loss, 1.26, is not half of 1.68; the first updates changed the weights by 0.23 of their norm each (Adam, rate
        0.02); expected outputs that depend on the input. Lower the rate.
    """

    needs: ClassVar[tuple[str | type, ...]] = (AnswerSpread, Health, LOSS, LossCall, Rate, Wiring)
    kind: ClassVar[str] = "lr_too_high"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "divide the learning rate by 10 and look at the outputs for two inputs after some updates",
        "warm the rate up over the first hundreds of updates",
    )
    proved_by: ClassVar[str] = "optimizer/berth_messages"

    share: float = 1e-3  # of the distance at the start (ours: 1e-6 in ruined networks, above 0.1 in others)
    thrown: float = 0.02  # update by weight, the middle matrix (ours: twice the upper end of what is healthy)
    fallen: float = 0.5  # of the first losses, and of the first size of the weights (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once a root."""
        memory = window.memory(self)
        if "begun" not in memory and (losses := window.finite(LOSS)):
            memory["begun"] = median(losses[:3])
        for look in window.new(Health):
            memory["sizes"] = (*memory.get("sizes", ())[:1], middle_size(look))
            if look.ref.step < FIRST:
                memory["thrown"] = max(memory.get("thrown", 0.0), middle_change(look))
        for fact in window.new(AnswerSpread):
            low, losses = as_float(fact.now) < self.share * as_float(fact.first), window.finite(LOSS)
            begun, now = (memory["begun"], median(losses[-16:])) if losses else (0.0, 0.0)
            if low and begun > 0 and now >= self.fallen * begun and fact.root not in memory:
                memory[fact.root] = True
                sizes = memory.get("sizes", (0.0,))
                decayed = sizes[-1] < self.fallen * sizes[0]
                yield self.describe(window, fact, (begun, now), 0.0 if decayed else memory.get("thrown", 0.0))

    def describe(self, window: Window, fact: AnswerSpread, losses: tuple[float, float], thrown: float) -> Finding:
        """Build the finding with the size of the first updates."""
        rate, wiring = window.last(Rate), window.last(Wiring)
        kind = wiring.optimizers[0].kind if wiring is not None and len(wiring.optimizers) == 1 else ""
        by = f" ({kind}, rate {as_float(rate.high):.3g})" if rate is not None and kind else ""
        high = thrown >= self.thrown
        updates = f"; the first updates changed the weights by {thrown:.2g} of their norm each{by}" if high else ""
        call = summed(window) if high else None
        rows = call.input_shape[0] if call is not None else 0
        if call is not None:
            updates += sum_told(call)
        advice = "Lower the rate." if high else "Follow the input through forward."
        return self.finding(
            window,
            "warning" if high else "note",
            f"the outputs of {fact.root} for {fact.samples} samples are "
            f"{as_float(fact.now) / as_float(fact.first):.1g} times as far apart as at the start, and the loss, "
            f"{losses[1]:.3g}, is not half of {losses[0]:.3g}{updates}; expected outputs that depend on the input. "
            f"{advice if call is None else MEAN}",
            ref=fact.ref if not high else msgspec.structs.replace(fact.ref, iteration=0, step=0),
            place=lines(window, lr_jump=1.0) if call is None else sum_place(call),
            remedies=() if call is None else (f"reduction='mean', or a rate divided by {rows}", *self.remedies),
            share=as_float(fact.now) / as_float(fact.first),
            thrown=thrown,
        )


def middle_size(fact: Health) -> float:
    """The median norm of all matrices."""
    sizes = [as_float(row.l2) for row in fact.of("weight").values() if is_matrix(row)]
    return median(sizes) if sizes else 0.0


def middle_change(fact: Health) -> float:
    """The median over all matrices of what an update changed, as a share of their norm."""
    matrices = {name for name, row in fact.of("weight").items() if is_matrix(row)}
    shares = [
        as_float(p.update_l2) / as_float(p.weight_l2)
        for p in fact.params
        if p.name in matrices and p.update_l2 is not None and as_float(p.weight_l2) > 0
    ]
    return median(shares) if shares else 0.0
