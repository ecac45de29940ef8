"""Does the value of the next state count where an episode goes on?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.bootstrap_mask import BootstrapMask
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class BootstrapInverted(Check, frozen=True):
    """A target takes the value of the next state where an episode ends, and leaves it out where one goes on.

    What it catches
        `reward + gamma * value * done` for `* (1 - done)`; a mask that was turned round twice.
    Why it matters
        No reward reaches the steps before it: the policy learns what pays at once, and the last step of an episode gets
        the value of the next one.
    How it decides
        In `looks` inspected steps what a network says is multiplied with a mask of 0 and one other number, the rewards
        are added, and a prediction, made of as many numbers, is compared with the sum. Of all rows at most `share` are
        left in, and at least one: were that right, episodes would be 1.4 steps long. Rewards that are 0 wherever the
        mask is not are no rewards. A next state that is the state of another row is one from which an episode went on:
        a warning where `again` of the rows that were left out are such, and none of `fewest` that were left in. A note
        where no state is seen twice; nothing where one that was left in is.
    What to do
        Multiply with 1 - done.
    Example
        step 2, rank 0: the value of the next state counts in 7 of 96 rows (train.py:44) of the target at train.py:45,
        in 3 of 3 steps looked at; expected it in all but the last row of an episode. Multiply with 1 - done.
    """

    needs: ClassVar[tuple[type[BootstrapMask]]] = (BootstrapMask,)
    kind: ClassVar[str] = "rollout_mismatch"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "multiply the value of the next state with 1 - done",
        "store one of the two, done or its opposite, under a name that says which",
    )
    proved_by: ClassVar[str] = "model/berth_values"

    looks: int = 3  # inspected steps (ours)
    share: float = 0.3  # of the rows (ours: an episode has three steps at least)
    again: float = 0.3  # of the rows left out (ours)
    fewest: int = 4  # rows left in (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Add up the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(BootstrapMask):
            seen = memory.setdefault(fact.masked, [])
            seen.append(fact)
            rows, kept = sum(one.rows for one in seen), sum(one.kept for one in seen)
            if len(seen) < self.looks or not 0 < kept <= self.share * rows or any(one.kept_again for one in seen):
                continue
            sure = kept >= self.fewest and sum(one.again for one in seen) >= self.again * (rows - kept)
            if ("told", fact.masked) in memory and not (sure and memory["told", fact.masked] == "note"):
                continue
            memory["told", fact.masked] = "warning" if sure else "note"
            yield self.finding(
                window,
                memory["told", fact.masked],
                f"the value of the next state counts in {kept} of {rows} rows{spot(fact.masked)} of the target"
                f"{spot(fact.frame)}, in {counted(len(seen), 'step')} looked at; expected it in all but "
                "the last row of an "
                f"episode. Multiply with 1 - done{'' if sure else ', unless most episodes are one step long'}.",
                ref=fact.ref,
                place=Place(frame=fact.masked, symptom_frame=fact.frame),
                kept=kept / rows,
            )
