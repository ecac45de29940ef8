"""Does Adam's second moment still know the gradient?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import LOSS, Window


@dataclass(frozen=True)
class Alone:
    """For how long the second moment of one parameter has fallen by itself."""

    since: StepRef
    step: int
    log_v: float
    lag: float


class SecondMomentDecoupled(Check, frozen=True):
    """Adam's second moment only decays: the gradients have become too small to be heard in it.

    What it catches
        A long calm (a plateau, batches without noise, a loss that was scaled down) under a large beta2: v falls at rate
        beta2 whatever the gradient does.
    Why it matters
        v is then a number of the past. Steps are too small now, and the next larger gradient meets a v far too small:
        its update is up to 1/sqrt(1 - beta2) times the learning rate, the mechanism of the spikes of Bai 2025.
    How it decides
        On inspected steps, for each parameter: the median of g^2/v is below `lag`, and the mean of log v falls at the
        rate log(beta2) (within `slack`) between two looks, for more than 1/(1 - beta2) steps, in parameters that hold
        more than `share` of all elements. A converged loss (below a tenth of the first) and a learning rate that has
        been let down are left alone. A note.
    What to do
        Lower beta2 to 0.95, build a fresh optimizer where the size of the gradient changes on purpose, keep a
        checkpoint.
    Example
        step 1500, rank 0: since step 400 exp_avg_sq of 6 of 6 parameters (100% of the elements, AdamW) only decays at
        rate beta2 = 0.999, the median of g^2/v is 0.0004; expected about 1. The next larger gradient meets a v far too
        small: lower beta2 to 0.95.
    """

    needs: ClassVar[tuple[str | type[Health], ...]] = (Health, LOSS)
    kind: ClassVar[str] = "adam_instability"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "lower beta2 to 0.95",
        "build a fresh optimizer where the size of the gradient changes on purpose",
        "clip the gradient: torch.nn.utils.clip_grad_norm_(parameters, 1.0)",
    )
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "optimizer/steel_grades"

    lag: float = 1e-2  # median of g^2/v (Bai 2025)
    slack: float = 0.2  # share by which the fall may differ from log(beta2) (ours)
    share: float = 0.5  # of all elements with a second moment (ours: the whole model, not one rare branch)
    # of the first loss, and of the largest rate: below, a run has small gradients by right (ours)
    learning: float = 0.1

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once, at the snapshot at which most of the model has decayed for long enough."""
        memory = window.memory(self)
        loss = window.now(LOSS)
        if loss is not None:
            memory.setdefault("first loss", abs(loss))
            memory["loss"] = abs(loss)
        for fact in window.new(Health):
            rows = [p for p in fact.params if p.log_v is not None and p.beta2]
            rate = max((as_float(p.lr) for p in rows), default=0.0)
            memory["rate"] = max(memory.get("rate", 0.0), rate)
            runs = [(p, run) for p in rows if (run := self.follow(memory, fact, p)) is not None]
            alone = [(p, run) for p, run in runs if fact.ref.step - run.since.step > round(1 / (1 - (p.beta2 or 0.0)))]
            total, held = sum(p.numel for p in rows), sum(p.numel for p, _ in alone)
            calm = (
                memory.get("loss", 0.0) < self.learning * memory.get("first loss", 0.0)
                or rate < self.learning * memory["rate"]
            )
            if alone and held > self.share * total and not calm and not memory.get("told"):
                memory["told"] = True
                yield self.describe(window, fact, alone, len(rows), held / total)

    def follow(self, memory: dict[Any, Any], fact: Health, row: ParamDynamics) -> Alone | None:
        """Follow a parameter through one more snapshot; None when its second moment still follows the gradient."""
        before: Alone | None = memory.get(row.name)
        lag, now = as_float(row.lag if row.lag is not None else "NaN"), as_float(row.log_v or 0.0)
        if not lag < self.lag:
            memory.pop(row.name, None)
            return None
        steps = fact.ref.step - before.step if before is not None else 0
        fall = (now - before.log_v) / (steps * math.log(row.beta2 or 0.5)) if before is not None and steps else 0.0
        begun = before.since if before is not None and abs(fall - 1.0) <= self.slack else fact.ref
        memory[row.name] = run = Alone(begun, fact.ref.step, now, lag)
        return run

    def describe(
        self, window: Window, fact: Health, alone: list[tuple[ParamDynamics, Alone]], count: int, share: float
    ) -> Finding:
        """Build the finding about the largest of them."""
        row, run = max(alone, key=lambda one: one[0].numel)
        return self.finding(
            window,
            "note",
            f"since step {run.since.step} exp_avg_sq of {len(alone)} of {count} parameters ({share:.0%} of the "
            f"elements, {row.optimizer}) only decays at rate beta2 = {row.beta2:g}, the median of g^2/v is "
            f"{run.lag:.2g}; expected about 1. The next larger gradient meets a v far too small: lower beta2 to "
            "0.95.",
            ref=fact.ref,
            place=Place(param=row.name, module=row.name.rpartition(".")[0]),
            lag=run.lag,
            steps=fact.ref.step - run.since.step,
        )
