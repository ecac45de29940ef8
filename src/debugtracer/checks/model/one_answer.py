"""Is a classifier ever asked for the other answer?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.single_target import SingleTarget
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class OneAnswer(Check, frozen=True):
    """A discriminator is asked for the same answer for everything it sees.

    What it catches
        A GAN whose real and generated samples carry the same target; positive and negative pairs both labelled 1.
    Why it matters
        The best answer is a constant. All losses fall to nothing and look like a success; nobody is taught anything.
    How it decides
        The binary losses of each inspected step are sorted by the parameter nearest to their scores; those count whose
        backward trains the optimizer of that parameter and nothing that another optimizer holds. In all steps looked at
        there were two or more of them, at different places, all with one and the same target, made by the loop and not
        part of the batch. Said when the run is over.
    What to do
        Ask for 1 on one kind and for 0 on the other.
    Example
        step 1, rank 0: the 2 calls of binary_cross_entropy (gan.py:174) that train model.7.bias all ask for 1, in 3 of
        3 steps looked at; expected 1 for one kind of input and 0 for the other. Look at where the targets are made.
    """

    needs: ClassVar[tuple[type[SingleTarget]]] = (SingleTarget,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "target_unrelated"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "give the two kinds of input different targets: ones for the real ones, zeros for the generated ones",
    )
    proved_by: ClassVar[str] = "model/forged_notes"

    calls: int = 2  # at different places (ours: one kind of input may come alone)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Gather the looks at each parameter; judge them at the end, for one other answer is enough to be silent."""
        memory = window.memory(self)
        for fact in window.new(SingleTarget):
            memory.setdefault(fact.param, []).append(fact)
        for seen in memory.values() if window.ended else ():
            fact = seen[0]
            if (
                fact.asked is None
                or {f.asked for f in seen} != {fact.asked}
                or any(f.places < self.calls for f in seen)
            ):
                continue
            yield self.finding(
                window,
                "warning",
                f"the {fact.calls} calls of {fact.loss}{spot(fact.frame)} that train {fact.param} all ask for "
                f"{float(fact.asked):.3g}, in {len(seen)} of {len(seen)} steps looked at; expected 1 for one kind of "
                "input and 0 for the other. Look at where the targets are made.",
                ref=fact.ref,
                place=Place(frame=fact.made or fact.frame, symptom_frame=fact.frame, param=fact.param),
                calls=fact.calls,
                asked=float(fact.asked),
            )
