"""Do the updates make the loss fall?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.episode import median
from debugtracer.trace.facts.climb import Climb
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

RISES = ("minimize 1 - similarity, or its negative: a similarity with the target is to rise",)


class LossClimbed(Check, frozen=True):
    """Each update goes up the loss function that it is made of: a sign is wrong.

    What it catches
        `p.data.add_(lr * p.grad)`, `p -= -lr * p.grad`, an optimizer of one's own that adds; `loss = -criterion(...)`;
        `maximize=True` with a loss; a cosine similarity with the target that is the loss itself.
    Why it matters
        The network is trained to be wrong. A lower rate only makes it slower.
    How it decides
        The loss is one loss function with a target (a cross-entropy, a squared error), times a number. In each of the
        first three updates of the run the weights move so that it rises: the cosine of change and gradient is positive
        for a plain loss, negative for one that was made negative, and in the first (where it is 0.2 or more) no tensor
        goes the other way. Later the median of `block` losses is `grown` times as far from 0 as that of the first. A
        mean of cosines with a target that has no graph is to rise: there the losses fall, to `opposite` or less.
        Silent where something that has a gradient stands still or is frozen, where two optimizers were built (an
        opponent, an attack), and where weights were loaded or the first loss is below that of a guess (somebody may be
        meant to forget).
    What to do
        Turn the sign of that line.
    Example
        step 14, rank 0: the first 3 updates go up the smooth L1 loss (cosine with its gradient 1), and it has risen
        from 0.31 to 0.58 in 14 steps; expected down. train.py:16 adds the gradient: subtract it.
    """

    needs: ClassVar[tuple[str | type[Climb], ...]] = (Climb, LOSS)
    kind: ClassVar[str] = "update_reversed"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "turn the sign: p.sub_(lr * p.grad) in a step of your own, loss = criterion(...) without a minus",
        "leave maximize=False in the optimizer of a loss",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "optimizer/boiler_rooms"

    block: int = 4  # losses (ours)
    grown: float = 1.3  # times those of the first block (ours)
    opposite: float = -0.3  # cosine of outputs and targets (ours: well past a right angle, which many are by chance)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding, once the loss has risen."""
        memory = window.memory(self)
        for fact in window.new(Climb):
            memory["fact"] = fact
        loss = window.now(LOSS)
        if loss is None or memory.get("told"):
            return
        losses: list[float] = memory.setdefault("first", [])
        if len(losses) < self.block:
            losses.append(loss)
            return
        recent = window.finite(LOSS)[-self.block :]
        seen: Climb | None = memory.get("fact")
        if seen is None or len(window.finite(LOSS)) < 2 * self.block or not recent:
            return
        if is_similarity(seen):
            before, now = median(losses), median(list(recent))
            bad = now <= min(self.opposite, self.opposite + before)
        else:
            before, now = median([abs(x) for x in losses]), median([abs(x) for x in recent])
            bad = now > self.grown * before
        if bad:
            memory["told"] = True
            yield self.describe(window, seen, {"before": before, "now": now})

    def describe(self, window: Window, fact: Climb, levels: dict[str, Any]) -> Finding:
        """Build the finding at the line that turns the sign."""
        goes, done, expected = "up", "risen", "down"
        if is_similarity(fact):
            goes, done, expected = "down", "fallen", "up"
            what = "makes the similarity with the target the loss: use 1 - similarity"
        elif fact.turned:
            what = "makes the loss negative: take the minus away"
        elif fact.maximize:
            what = f"builds {fact.optimizer} with maximize=True: leave it out"
        elif fact.optimizer:
            what = f"writes the update of {fact.optimizer}: subtract the gradient"
        else:
            what = "adds the gradient: subtract it"
        where = file_line(fact.frame) if fact.frame is not None else "its line"
        before, now = levels["before"], levels["now"]
        return self.finding(
            window,
            "error",
            f"the first {fact.updates} updates go {goes} the {fact.function}{spot(fact.backward)} (cosine with its "
            f"gradient {fact.cosine:.2g}), and it has {done} from {before:.3g} to {now:.3g} in {window.ref.step} "
            f"steps; expected {expected}. {where} {what}.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.backward),
            remedies=RISES if is_similarity(fact) else (),
            cosine=fact.cosine,
            before=before,
            now=now,
        )


def is_similarity(fact: Climb) -> bool:
    """Whether the loss is a similarity with the target, and each update makes it smaller."""
    return fact.turned and fact.function.endswith("similarity")
