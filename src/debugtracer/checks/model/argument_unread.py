"""Does forward read all that it is given?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.unread_argument import UnreadArgument
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ArgumentUnread(Check, frozen=True):
    """A model is given a tensor that its forward never reads, beside a like one that it reads twice.

    What it catches
        The second branch of a pair that was copied from the first: `b = self.branch(first)` where `second` was meant.
    Why it matters
        Nothing fails: both branches give the same, and what was to be compared never is.
    How it decides
        From the compiled code of forward, at the first call in training: no instruction reads the argument, another one
        of the same shape and type is read twice or more. An argument that is not read and has no such twin (a mask that
        a model does not need) is left alone.
    What to do
        Pass the other argument in the line named.
    Example
        step 0, rank 0: forward of SiameseNetwork never reads input2, of shape (64, 1, 28, 28), and reads input1, which
        is like it, 2 times; expected both. Pass input2 in train.py:50.
    """

    needs: ClassVar[tuple[type[UnreadArgument]]] = (UnreadArgument,)
    kind: ClassVar[str] = "input_ignored"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "pass the other argument where the first one is read again",
        "or take it out of the signature if it is not needed",
    )
    proved_by: ClassVar[str] = "model/twin_lighthouses"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each argument once."""
        for fact in window.new(UnreadArgument):
            yield self.finding(
                window,
                "warning",
                f"forward of {fact.root} never reads {fact.argument}, of shape {fact.shape}, and reads {fact.other}, "
                f"which is like it, {fact.reads} times; expected both. Pass {fact.argument} in "
                f"{file_line(fact.frame)}.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
            )
