"""Do attention scores stay in the range where softmax can choose?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.weights_swept import SWEPT, WeightsSwept
from debugtracer.checks.snapshots import taken
from debugtracer.spikes.lines import lines
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.facts.health import Health, TensorHealth
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class AttentionScores(Check, frozen=True):
    """The scores that go into a softmax grow until it chooses one key and nothing else.

    What it catches
        Growth of q.k without query-key normalisation, a missing 1/sqrt(d), a learning rate that is too high.
    Why it matters
        The softmax is flat there, its gradient gone: attention freezes, and near 1e4 runs diverge (Wortsman 2023a).
    How it decides
        Largest score of a softmax called in the model: above `alarm`, at least doubled since an earlier snapshot, and
        the mean entropy of its rows below `entropy` of log(length), in two snapshots in a row: a warning. Above `note`
        it is a note with the trend. Where the first 32 updates have multiplied the norm of all weights by 3, the
        learning rate is named as the cause. A fill value for masks is negative and does not count. Fused attention has
        no softmax to look at: not measurable there.
    What to do
        Normalise queries and keys (qk-norm), divide by sqrt(d), lower the learning rate.
    Example
        step 200, rank 0: the scores of blocks.3.attn:softmax reach 312, from 41 at step 100, and its rows have 3% of
        the largest entropy; expected below 100.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "logit_saturation"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "divide the scores by math.sqrt(head_dim)",
        "normalise queries and keys before their product (qk-norm)",
        "lower the learning rate, or lengthen the warm-up",
    )
    family: ClassVar[str] = "activation"
    proved_by: ClassVar[str] = "model/unscaled_attention"

    alarm: float = 100.0  # largest score (the threshold of QK-clip, Kimi K2 2025)
    note: float = 50.0  # largest score for a note (ours)
    entropy: float = 0.1  # share of log(length), mean over rows (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each softmax of a new snapshot."""
        for fact in window.new(Health):
            before = [f for f in taken(window) if f.ref.step < fact.ref.step]
            for name, row in fact.of("activation").items():
                if row.function == "softmax" and row.logit_max is not None and as_float(row.logit_max) > self.note:
                    yield from self.describe(
                        window, fact, row, [f.of("activation")[name] for f in before if name in f.of("activation")]
                    )

    def describe(
        self, window: Window, fact: Health, row: TensorHealth, earlier: list[TensorHealth]
    ) -> Iterator[Finding]:
        """Yield a warning when the score is high, has grown and leaves softmax no choice; else a note."""
        score = as_float(row.logit_max or 0.0)
        least = min((as_float(r.logit_max) for r in earlier if r.logit_max is not None), default=score)
        stuck = [
            r
            for r in (*earlier[-1:], row)
            if (r.entropy or 0.0) < self.entropy and as_float(r.logit_max or 0.0) > self.note
        ]
        loud = score > self.alarm and score > 2 * least and len(stuck) == 2
        times = monitor(window).swept
        rate = loud and times >= SWEPT
        place = Place(module=row.name.split(":")[0] if ":" in row.name else None, frame=row.frame, op="aten::_softmax")
        if rate:
            place = Place(frame=lines(window).frame, symptom_frame=row.frame, module=place.module)
        yield self.finding(
            window,
            "warning" if loud else "note",
            f"the scores of {row.name} reach {score:.3g}, from {least:.3g} before, and its rows have "
            f"{row.entropy or 0.0:.0%} of the largest entropy; expected below {self.alarm:.0f}. "
            + (
                f"The first updates multiplied the norm of all weights by {times:.3g}: lower the learning rate."
                if rate
                else "Divide by sqrt(d), normalise queries and keys, or lower the learning rate."
            ),
            ref=fact.ref,
            place=place,
            kind="lr_too_high" if rate else None,
            remedies=WeightsSwept.remedies if rate else (),
            score=score,
            entropy=row.entropy or 0.0,
        )
