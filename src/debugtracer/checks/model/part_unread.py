"""Is every part of the training handed to what should use it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.unread_part import UnreadPart
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

MEANT = {
    "scheduler": "expected a step of it for each update or epoch. Step it, or delete the line",
    "sampler": "expected a loader that draws by it. Give it to the DataLoader (sampler=..., without shuffle=True), or "
    "delete the line",
    "generator": "expected that something draws from it. Hand it on (generator=...), or delete the line",
    "class weights": "expected a loss that has them. Give them to the loss (weight=...), or delete the line",
}


class PartUnread(Check, frozen=True):
    """A scheduler, a sampler, a generator or class weights are built, given a name, and read by no line.

    What it catches
        A scheduler that is never stepped; class weights that the loss does not get; a sampler beside a loader that
        shuffles; a generator with a seed that nothing draws from.
    Why it matters
        Nothing fails: the rate stays where it began, rare classes count as little as before.
    How it decides
        From the compiled code of the functions that wait for the first backwards, and of the line that builds a
        scheduler: on no path of it is the name read (nor by a function inside); an attribute (`self.scheduler = ...`)
        is read in no file of the program. A scheduler must not have been stepped
        by the end of the run, after `updates` updates; a sampler and a generator must be built by the line itself;
        class weights are positive numbers, neither whole nor all the same, as many as a cross-entropy without weights
        has classes. A generator is a note, and a sampler where no loader of the program's has one of torch's own. Names
        that begin with an underscore do not count.
    What to do
        Hand it to what should use it, or delete the line.
    Example
        step 152, rank 0: CosineAnnealingLR scheduler (train.py:70) is built and read by no line, and never stepped in
        152 updates; expected a step of it for each update or epoch. Step it, or delete the line.
    """

    needs: ClassVar[tuple[type[UnreadPart]]] = (UnreadPart,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "result_discarded"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "hand it to what should use it: step() of the scheduler, sampler= of the DataLoader, weight= of the loss",
        "delete the line if it is not needed: it has no effect",
    )
    proved_by: ClassVar[str] = "model/fulmar_ledges"

    updates: int = 20  # of a run in which a scheduler should have been stepped (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each assignment once."""
        for fact in window.new(UnreadPart):
            if fact.part == "scheduler" and fact.count < self.updates:
                continue
            yield self.finding(
                window,
                "note" if fact.part == "generator" or (fact.part == "sampler" and not fact.without) else "warning",
                f"{fact.kind} {fact.name}{spot(fact.frame)} is built and read by no line{beside(fact)}; "
                f"{MEANT[fact.part]}.",
                ref=fact.ref,
                place=Place(frame=fact.without or fact.frame, symptom_frame=fact.frame if fact.without else None),
            )


def beside(fact: UnreadPart) -> str:
    """Say what goes without it."""
    if fact.part == "scheduler":
        return f", and never stepped in {fact.count} updates"
    if fact.part == "class weights":
        return f", {fact.count} numbers, and the loss over {fact.count} classes{spot(fact.without)} has no weights"
    return f", and the loader{spot(fact.without)} draws by one of its own" if fact.without else ""
