"""Does weight decay leave normalisation layers their gains?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.effects import DecayedGains as Gains
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DecayedGains(Check, frozen=True):
    """Weight decay shrinks the gains of normalisation layers towards 0.

    What it catches
        One parameter group with a strong decay for everything, normalisation layers included; a filter by name or shape
        that is to spare them and misses most, or all.
    Why it matters
        A gain near 0 shuts its layer off; the network loses depth without an error.
    How it decides
        Decay on gains alone is common and healthy. It is told when the gains have fallen below half of what they were
        at the first update and decay by itself explains it: the fall of their logarithm and the sum of lr * decay
        differ by less than 30 %, or decay by itself has taken them below a tenth, and the loss pushed them further
        down. Below a tenth it is a warning, above a note. Where decay takes 0.2 % of a gain in each
        update, twice what the strongest recipe does (a ViT at 3e-3 with decay 0.3), it is a warning below 0.7: a short
        run ends before the rest is gone. A group with weight_decay=0 in which nothing stands, beside gains that decay,
        is a warning from the start: the program meant to spare them.
    What to do
        Put gains and biases into a group with weight_decay=0.
    Example
        step 200, rank 0: the gains of 4 normalisation layers (blocks.0.norm.weight, ...) are 0.05 of what they were,
        decay 0.5 of AdamW (train.py:40) alone makes 0.04; expected gains that the loss decides. Give them
        weight_decay=0.
    """

    needs: ClassVar[tuple[type[Gains]]] = (Gains,)
    kind: ClassVar[str] = "weight_decay_on_norms"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "put the gains and biases of normalisation layers into a parameter group with weight_decay=0",
    )
    proved_by: ClassVar[str] = "optimizer/pulled_gains"

    note_below: float = 0.5  # of the size at the first update (ours)
    warn_below: float = 0.1  # of the size at the first update (ours)
    explained: float = 0.7  # share of the fall that decay explains (ours)
    fast: float = 2e-3  # lr * decay of one update (ours: twice the strongest recipe)
    fast_below: float = 0.7  # of the size at the first update, where decay is fast (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer and severity."""
        memory = window.memory(self)
        for fact in window.new(Gains):
            if fact.spared == 0 and fact.optimizer not in memory:
                memory[fact.optimizer] = True
                yield self.nothing_spared(window, fact)
            size, factor = float(fact.size), float(fact.factor)
            fast = fact.updates > 0 and -math.log(max(factor, 1e-30)) >= self.fast * fact.updates
            below = self.fast_below if fast else self.note_below
            if not 0 <= size < below or not self.explains(size, factor):
                continue
            others = ", ..." if fact.count > 1 else ""
            yield self.finding(
                window,
                "warning" if fast or size < self.warn_below else "note",
                f"the gains of {fact.count} normalisation layers ({fact.params[0]}{others}) are {size:.2g} of what "
                f"they were, decay {float(fact.decay):g} of {fact.kind}{spot(fact.frame)} alone makes {factor:.2g}; "
                "expected gains that the loss decides. Give them weight_decay=0.",
                ref=fact.ref,
                place=self.place(fact),
                size=size,
                factor=factor,
            )

    def nothing_spared(self, window: Window, fact: Gains) -> Finding:
        """Build the finding of a filter that keeps nothing from decay."""
        others = ", ..." if fact.count > 1 else ""
        return self.finding(
            window,
            "warning",
            f"the group of {fact.kind}{spot(fact.frame)} with weight_decay=0 holds no parameter, and the gains of "
            f"{fact.count} normalisation layers ({fact.params[0]}{others}) are in the group with decay "
            f"{float(fact.decay):g}; expected them in the first. Mend the condition that sorts them.",
            ref=fact.ref,
            place=self.place(fact),
            spared=0.0,
        )

    def place(self, fact: Gains) -> Place:
        """Where to edit: the line that sorts the parameters, else the one that builds the optimizer."""
        return Place(
            param=fact.params[0],
            module=fact.params[0].rpartition(".")[0],
            frame=fact.group_frame or fact.frame,
            symptom_frame=fact.frame,
        )

    def explains(self, size: float, factor: float) -> bool:
        """True when decay alone explains the gains: the loss did not hold them up, and what it pushed them down came
        after decay had emptied them."""
        fall, decay = math.log(max(size, 1e-30)), math.log(max(factor, 1e-30))
        return fall <= self.explained * decay and (decay <= self.explained * fall or factor < self.warn_below)
