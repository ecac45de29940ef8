"""Does the clipping limit fit the gradients?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.clipping import ClipLimit
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import CLIP_RATIO, Window


class ClipShare(Check, frozen=True):
    """Nearly every update is clipped, far below its norm.

    What it catches
        A max_norm that is a small fraction of the usual gradient norm.
    Why it matters
        Every update then has the same length: the learning rate alone decides, and a rare huge gradient is treated like
        any other. Many large models are trained so on purpose, therefore this is a note.
    How it decides
        More than 95 % of the last 500 updates were clipped and the median norm was above 10 times the limit. With
        `lowest` and `highest` (`--preset seed`) also a limit outside of them, whatever the norms; `attention` and
        `recurrent` narrow them for models of that kind.
    What to do
        Set the limit near the 90th percentile of the norm, or lower the learning rate knowingly.
    Example
        step 500, rank 0: 500 of the last 500 updates were clipped, the median norm is 42 times the limit; expected a
        limit near the 90th percentile of the norm. Raise max_norm if that is not meant.
    """

    needs: ClassVar[tuple[str | type[ClipLimit], ...]] = (CLIP_RATIO, ClipLimit)
    remedies: ClassVar[tuple[str, ...]] = ("set max_norm near the 90th percentile of the gradient norm",)
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "optimizer/noise_removal"

    share: float = 0.95  # of the updates (ours)
    updates: int = 500  # looked at (ours: language models clip a lot early on)
    times: float = 10.0  # median norm / limit (ours)
    lowest: float = 0.0  # max_norm, 0 is off (0.5 with `--preset seed`)
    highest: float = 0.0  # max_norm, 0 is off (10 with `--preset seed`)
    # max_norm of a model with attention, at most; 0 is `highest` (1 with `--preset seed`: Transformers have 0.5 to 1)
    attention: float = 0.0
    # max_norm of a model with recurrent layers, at least; 0 is `lowest` (5 with `--preset seed`: they have 5 to 10)
    recurrent: float = 0.0

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per run, and one for each limit that is out of range."""
        for fact in window.new(ClipLimit):
            lowest, highest, kind = self.range_of(fact)
            if 0 < fact.limit < lowest or fact.limit > highest > 0:
                yield self.finding(
                    window,
                    "note",
                    f"gradients are clipped at {fact.limit:g}{spot(fact.frame)}; expected {lowest:g} to "
                    f"{highest:g}{kind}. Look at the share of updates that are clipped before it is changed.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                    limit=fact.limit,
                )
        ratios = list(window.series.get(CLIP_RATIO, ()))[-self.updates :]
        memory = window.memory(self)
        if len(ratios) < self.updates or memory.get("told"):
            return
        clipped, median = sum(r > 1 for r in ratios), sorted(ratios)[len(ratios) // 2]
        self.measured(window, "share of updates that were clipped", clipped / len(ratios), self.share)
        if clipped > self.share * len(ratios) and median > self.times:
            memory["told"] = True
            yield self.finding(
                window,
                "note",
                f"{clipped} of the last {len(ratios)} updates were clipped, the median norm is {median:.3g} times the "
                "limit; expected a limit near the 90th "
                "percentile of the norm. Raise max_norm if that is not meant.",
                clipped=clipped,
                median=median,
            )

    def range_of(self, fact: ClipLimit) -> tuple[float, float, str]:
        """Return the least and the largest limit for the kind of model that is trained, and its words."""
        if fact.model == "attention" and self.attention:
            return self.lowest, self.attention, " for a model with attention"
        if fact.model == "recurrent" and self.recurrent:
            return self.recurrent, self.highest, " for a recurrent model"
        return self.lowest, self.highest, ""
