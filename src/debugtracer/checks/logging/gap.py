"""Are the step numbers of the log in order?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class Gap(Check, frozen=True):
    """A scalar is logged under a step number that goes back.

    What it catches
        A counter that begins anew each epoch (the index of the batch as step), two writers in one folder.
    Why it matters
        The curves of several epochs lie over each other and cannot be read.
    How it decides
        The step number of a name falls `times` times. Always a note.
    What to do
        Count steps over the whole run: epoch * len(loader) + i.
    Example
        step 40, rank 0: the step number of train/loss (train.py:28) fell from 19 to 0, for the 2nd time; expected a
        number that grows. Log with epoch * len(loader) + i.
    """

    needs: ClassVar[tuple[type[Logged]]] = (Logged,)
    remedies: ClassVar[tuple[str, ...]] = ("log with a step that counts the whole run: epoch * len(loader) + i",)
    proved_by: ClassVar[str] = "logging/steps_by_epoch"

    times: int = 2  # falls before it is said; one is a resume (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per logged name."""
        for fact in window.new(Logged):
            if fact.at is None:
                continue
            last, falls = window.memory(self).get((fact.source, fact.name), (fact.at, 0))
            falls += fact.at < last
            window.memory(self)[fact.source, fact.name] = (fact.at, falls)
            if fact.at < last and falls == self.times:
                yield self.finding(
                    window,
                    "note",
                    f"the step number of {fact.name}{spot(fact.frame)} fell from {last} to {fact.at}, for the "
                    f"{falls}nd time; expected a number that grows. "
                    "Log with epoch * len(loader) + i.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                )
