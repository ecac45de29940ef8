"""Does the loss stand at log 2, whatever is trained beside it?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean, median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.constant_answer import APART, ONE_ORDER, SURE, two_orders
from debugtracer.spikes.level import BLOCK
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.facts.constant_answer import ConstantAnswer
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

LOG_TWO = math.log(2)


class LossAtLogTwo(Check, frozen=True):
    """The losses of many steps in a row are log 2, which a choice of two costs where nothing is known.

    What it catches
        Yes and no, real and forged, first and second of a pair that are told apart no better than by a coin: labels
        shuffled apart from their inputs, inputs that do not reach the loss, a rate that is far off.
    Why it matters
        Beside another optimizer with a loss of its own nobody sees the plateau in the curve.
    How it decides
        By the numbers of all steps alone, also where none is looked at closely: the medians of `blocks` blocks of 16
        losses in a row lie within `near` of log 2 each and within `exactly` on average, the later half is not lower
        than the earlier, and it was so from the first of these losses on: at the start of the run, or after losses of
        another size. A loss that has come down there is something else. It is a note: a GAN at its equilibrium and a
        domain that is meant to be unknown look the same. A warning where the source puts the inputs and the labels in
        a random order each.
    What to do
        Print some inputs beside their labels. Overfit one batch.
    Example
        step 431, rank 0: the losses of 256 steps in a row had a median of 0.6927, from the first one of them on, after
        losses of 20.1; expected below log 2 = 0.6931, the cost of not knowing which of two. Print some inputs beside
        their labels.
    """

    needs: ClassVar[tuple[str, ...]] = (LOSS,)
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "print some inputs beside their labels, after all shuffling: do they belong together?",
        "overfit a single batch: if the loss stays at log 2, the inputs do not reach it or the update is broken",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "data/coin_dies"

    blocks: int = 14  # of losses in a row, 224 steps (ours: about as many as for a plateau)
    near: float = 0.03  # of log 2, each block (ours: a median of 16 losses of guesses)
    exactly: float = 0.01  # of log 2, all blocks on average (ours)
    falls: float = 0.005  # of log 2, from the earlier half to the later one (ours)
    other: float = 0.1  # of log 2 that the losses before were away (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the blocks at log 2 and remember what came before the first of them; said once."""
        seen, memory = monitor(window), window.memory(self)
        if not seen.new_block or "told" in memory:
            return
        if abs(seen.level.now / LOG_TWO - 1) > self.near:
            memory["run"] = 0
            return
        if not memory.get("run"):
            # the block before may hold losses of both kinds
            before = window.finite(LOSS)[: -2 * BLOCK][-BLOCK:]
            memory["before"] = median(before) if before else None
        memory["run"] = run = memory.get("run", 0) + 1
        before = memory["before"]
        if run < self.blocks or (before is not None and abs(before / LOG_TWO - 1) <= self.other):
            return
        medians = list(seen.level.medians)[-run:]
        older, younger = fmean(medians[: run // 2]), fmean(medians[run // 2 :])
        if abs(fmean(medians) / LOG_TWO - 1) > self.exactly or older - younger > self.falls * LOG_TWO:
            return
        memory["told"] = True
        after = f", after losses of {before:.4g}" if before is not None else ""
        drawn = next((one for one in window.seen(ConstantAnswer) if one.drawn and one.answer == "shares"), None)
        yield self.finding(
            window,
            "warning" if drawn else "note",
            f"the losses of {run * BLOCK} steps in a row had a median of {median(medians):.4g}, from the first one of "
            f"them on{after}; expected below log 2 = {LOG_TWO:.4g}, the cost of not knowing which of two. "
            + (two_orders(drawn.drawn) if drawn and drawn.drawn else "Print some inputs beside their labels."),
            place=Place(frame=drawn.drawn[1], symptom_frame=drawn.frame) if drawn and drawn.drawn else None,
            kind=APART if drawn else None,
            confidence=SURE if drawn else None,
            remedies=(ONE_ORDER,) if drawn else (),
            loss=fmean(medians),
        )
