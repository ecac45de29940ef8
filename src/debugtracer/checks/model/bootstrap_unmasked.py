"""Does the value of the next state count where an episode has ended?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.unmasked_bootstrap import UnmaskedBootstrap
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class BootstrapUnmasked(Check, frozen=True):
    """A target takes the value of the next state in all rows, and the column that marks ended episodes is read by
    nobody.

    What it catches
        `reward + gamma * value` for `reward + gamma * value * (1 - done)`; a mask that is fetched and forgotten.
    Why it matters
        Nobody acts from a final state, so its value is never corrected: what the network says of it by chance is added
        to the last reward, and goes from there into all values.
    How it decides
        In an inspected step what a network says without a graph is multiplied with one number for all rows, the rewards
        are added, and a prediction, made of as many numbers, is compared with the sum. The batch holds a column of 0
        and 1 that nothing reads before the backward. Marked rows are ends where `share` of `fewest` of them, in `looks`
        steps, go to a state with a number beyond all states that are acted from (or, of states that are seen again and
        again, to none of these), and at most `others` of the other rows do. A time limit ends episodes anywhere: such
        marks are left alone, and so are tasks that go on, and masks in a factor, an index, a where or a write.
    What to do
        Multiply the value with 1 - done.
    Example
        step 300, rank 0: the target adds the value of the next state in all rows (train.py:44); 6 of 160, in 5 steps
        looked at, go to a state from which nobody acts, and the column that marks them (train.py:40) is not read;
        expected no value where an episode ends. Multiply it with 1 - done.
    """

    needs: ClassVar[tuple[type[UnmaskedBootstrap]]] = (UnmaskedBootstrap,)
    kind: ClassVar[str] = "rollout_mismatch"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "multiply the value of the next state with 1 - done",
        "where a time limit alone ends episodes, leave the column out of the batch",
    )
    proved_by: ClassVar[str] = "model/raft_masts"

    looks: int = 3  # inspected steps with a marked row (ours)
    fewest: int = 6  # marked rows (ours)
    share: float = 0.9  # of the marked rows (ours)
    others: float = 0.25  # of the other rows (ours: of 32 states of four numbers an eighth lies outside by chance)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Add up the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(UnmaskedBootstrap):
            seen = memory.setdefault(fact.added, [])
            seen.append(fact)
            rows, marked = sum(one.rows for one in seen), sum(one.marked for one in seen)
            if len(seen) < self.looks or marked < self.fewest or ("told", fact.added) in memory:
                continue
            beyond = sum(one.marked_beyond for one in seen), sum(one.others_beyond for one in seen)
            new = sum(one.marked_new for one in seen), sum(one.others_new for one in seen)
            ends = next((e for e, o in (beyond, new) if self.apart(e / marked, o / max(rows - marked, 1))), None)
            if ends is None:
                continue
            memory["told", fact.added] = True
            yield self.finding(
                window,
                "warning",
                f"the target adds the value of the next state in all rows{spot(fact.added)}; {ends} of {rows}, in "
                f"{len(seen)} steps looked at, go to a state from which nobody acts, and the column that marks them"
                f"{spot(fact.made)} is not read; expected no value where an episode ends. Multiply it with 1 - done.",
                ref=fact.ref,
                place=Place(frame=fact.added, symptom_frame=fact.frame),
                ended=ends / rows,
            )

    def apart(self, marked: float, others: float) -> bool:
        """Whether nearly all marked rows go where few others go."""
        return marked >= self.share and others <= self.others
