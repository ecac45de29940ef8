"""Do half-precision weights change at all when they are updated?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean
from typing import ClassVar, NamedTuple

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import still_learning, taken
from debugtracer.spikes.lines import built_at
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.half_weights import HalfWeights
from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window


class Look(NamedTuple):
    """What one snapshot says of all such weights together."""

    ref: StepRef
    rate: float
    share: float


class HalfStalled(Check, frozen=True):
    """Most updates of half-precision weights are rounded away.

    What it catches
        A model whose weights themselves are bfloat16 or float16 with an ordinary learning rate: an update below half a
        unit in the last place (1/256 of the weight in bfloat16) leaves the weight as it was.
    Why it matters
        Training slows and stops while the loss still looks plausible; a smaller learning rate makes it worse.
    How it decides
        Share of elements with a non-zero gradient whose value the step left unchanged, over all half-precision weights
        that the optimizer holds: above `stalled` in the last `snapshots` snapshots with a learning rate above zero
        and of at least `full` of the largest so far (a warm-up and a decay end in steps that are small on purpose).
        Or, under Adam and AdamW of torch: the change, along the update that the moments mean, is on average less than
        `arrives` of it, and in none `most` or more, in at least `looks` snapshots over `steps` steps (or `distant`
        that are `steps` apart), all with a rate of at least `full` of the largest so far, while the loss is not yet
        low and the last has less than `arrives`, too. Such an update is about as large as the rate however small the
        gradient is, so that a share this low from the start is no convergence. Stochastic rounding keeps the share
        at 1. float32 master copies are not concerned: the optimizer holds those.
    What to do
        Keep float32 weights and use autocast, or an optimizer with master weights or stochastic rounding.
    Example
        step 1, rank 0: 97% of the updates of 12 bfloat16 weights (lr 0.001, AdamW) change nothing, most in head.weight;
        expected below 90%.
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (Health, HalfWeights)
    kind: ClassVar[str] = "half_weights_stalled"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the weights in float32 and run the forward under torch.autocast(dtype=torch.bfloat16)",
        "or use an optimizer with float32 master weights or stochastic rounding",
    )
    proved_by: ClassVar[str] = "numerics/pure_bfloat16"

    stalled: float = 0.9  # share of touched elements (ours)
    snapshots: int = 2  # in a row (ours)
    arrives: float = 0.5  # share of the meant update (ours: less arrives than is lost)
    most: float = 2 / 3  # share in any look (ours: updates of which more arrives are above the rounding)
    looks: int = 4  # in all (ours: the first three are of neighbouring steps)
    distant: int = 3  # in all where each is `steps` after the one before (ours: after a warm-up)
    steps: int = 20  # between the first and the last (ours)
    full: float = 0.9  # of the largest rate so far (ours: a warm-up and a decay are no training at the rate meant)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one warning at the snapshot that completes a proof."""
        facts = taken(window)[-self.snapshots :]
        if not window.new(Health) or not facts:
            return
        shares = [
            self.share([p for p in fact.params if p.stalled is not None and as_float(p.lr) > 0]) for fact in facts
        ]
        if self.at_full_rate(window, facts) and len(facts) == self.snapshots and min(shares) > self.stalled:
            yield self.standing(window, facts, min(shares))
        elif seen := self.lost(window, facts[-1]):
            yield self.short(window, facts[-1], seen)

    def at_full_rate(self, window: Window, facts: list[Health]) -> bool:
        """Whether the rates of these snapshots are about the largest so far, each optimizer by itself."""
        memory = window.memory(self)
        kept: list[bool] = []
        for fact in reversed(facts):
            rows = [p for p in fact.params if p.stalled is not None]
            rate = max((as_float(p.lr) for p in rows), default=0.0)
            key = ("rate", rows[0].name if rows else "")
            memory[key] = max(memory.get(key, 0.0), rate)
            kept.append(rate >= self.full * memory[key])
        return all(kept)

    def standing(self, window: Window, facts: list[Health], share: float) -> Finding:
        """Build the finding of weights that do not move."""
        rows = [p for p in facts[-1].params if p.stalled is not None]
        worst = max(rows, key=lambda p: (p.stalled or 0.0) * p.numel)
        return self.finding(
            window,
            "warning",
            f"{share:.0%} of the updates of {len(rows)} {worst.dtype} weights (lr {as_float(worst.lr):.3g}, "
            f"{worst.optimizer}) change nothing, most in "
            f"{worst.name}; expected below {self.stalled:.0%}. Keep float32 weights and use autocast.",
            ref=facts[0].ref,
            place=self.place(window, worst),
            stalled_share=share,
        )

    def lost(self, window: Window, fact: Health) -> list[Look]:
        """The looks at a full rate, where all of them say that most is lost; none else. Said once."""
        rows = [p for p in fact.params if meant(p) > 0 and as_float(p.lr) > 0]
        if not rows:
            return []
        memory, which = window.memory(self), rows[0].name  # each optimizer has snapshots of its own
        rate = max(as_float(p.lr) for p in rows)
        share = sum(arrived(p) * meant(p) ** 2 for p in rows) / sum(meant(p) ** 2 for p in rows)
        looks: list[Look] = [one for one in memory.get(which, ()) if one.rate >= self.full * rate]
        if rate < self.full * max((one.rate for one in looks), default=0.0):
            return []
        looks.append(Look(fact.ref, rate, share))
        memory[which] = looks
        if not self.enough(looks) or ("told", which) in memory or not still_learning(window):
            return []
        shares = [one.share for one in looks]
        if max(shares) >= self.most or max(fmean(shares), share) >= self.arrives:
            return []
        memory["told", which] = True
        return looks

    def enough(self, looks: list[Look]) -> bool:
        """Whether there were looks enough, over steps enough."""
        steps = [one.ref.step for one in looks]
        far = sum(late - early >= self.steps for early, late in pairwise(steps)) + 1
        return steps[-1] - steps[0] >= self.steps and (len(looks) >= self.looks or far >= self.distant)

    def short(self, window: Window, fact: Health, looks: list[Look]) -> Finding:
        """Build the finding of weights that move less than they were meant to."""
        rows = [p for p in fact.params if meant(p) > 0]
        worst = max(rows, key=lambda p: (1 - arrived(p)) * meant(p) ** 2)
        share = fmean(one.share for one in looks)
        return self.finding(
            window,
            "warning",
            f"of the updates that {worst.optimizer} means for {len(rows)} {worst.dtype} weights (lr "
            f"{as_float(worst.lr):.3g}) {share:.0%} arrives on average in {len(looks)} steps that were looked at "
            f"({looks[-1].share:.0%} in the last), the rest is rounded away, most of it in {worst.name}; expected "
            f"{self.arrives:.0%} or more. Keep float32 weights and use autocast.",
            ref=looks[0].ref,
            place=self.place(window, worst),
            arrived_share=share,
        )

    def place(self, window: Window, row: ParamDynamics) -> Place:
        """The weight, and the line that made it half precision, else the one that gave it to its optimizer."""
        built = built_at(window, row.optimizer)
        cast = next((fact.cast for fact in window.seen(HalfWeights) if fact.optimizer == row.optimizer), None)
        return Place(
            param=row.name,
            module=row.name.rpartition(".")[0],
            frame=cast or built,
            symptom_frame=built if cast is not None else None,
        )

    def share(self, rows: list[ParamDynamics]) -> float:
        """The stalled share of all touched elements of these weights."""
        total = sum(p.numel for p in rows)
        return sum((p.stalled or 0.0) * p.numel for p in rows) / total if total else 0.0


def meant(row: ParamDynamics) -> float:
    """The norm of the update that was meant; 0 where it is not known."""
    return 0.0 if row.meant_l2 is None else as_float(row.meant_l2)


def arrived(row: ParamDynamics) -> float:
    """The share of it that the weights moved."""
    return 0.0 if row.arrived is None else as_float(row.arrived)
