"""Is what a step computes read by anybody?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.unread_value import UnreadValue
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ValueUnread(Check, frozen=True):
    """A tensor is made in each step, given a name, and read by no line.

    What it catches
        `masked = scores.masked_fill(...)` and then `softmax(scores)`; `noisy = x + noise` and then `model(x)`;
        `weighted = each * weight` and then `each.mean()`; an augmented sample that the dataset does not return; a mask
        that is made for each batch and given to nobody; `residual = x` that is never added again.
    Why it matters
        The line has no effect: nothing is masked, weighted or augmented, and no error says so.
    How it decides
        From the compiled code of the functions that run in the first three steps: on no path of it is the value read
        before the name gets another (nor by a function inside). The name was seen to hold another tensor in each step.
        A warning where what it was made of is read after it, has the same shape and type and other values; where it
        keeps, in a module, what is replaced by a like tensor afterwards; where it holds values for the rows or
        positions of a tensor beside it and no result of the model went into it. Anything else is a note. Casts, copies,
        comparisons, and what results are looked at with (softmax, sigmoid, argmax ...) do not count, nor names that
        begin with an underscore or are unpacked. Where samples are fetched, the functions of the dataset's module are
        looked at in the same way, with a few samples that are fetched once more when the first pass is over.
    What to do
        Read the name in the place of the other one, or delete the line.
    Example
        step 1, rank 0: masked (train.py:41) is made of scores in each step and read nowhere: train.py:42 reads scores,
        of the same shape (32, 12, 12), which has other values in 31 % of the places; expected masked. Read masked
        there, or delete the line.
    """

    needs: ClassVar[tuple[type[UnreadValue]]] = (UnreadValue,)
    kind: ClassVar[str] = "result_discarded"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "read the name that was made where the other one is read, or hand it to what should take it",
        "delete the line if it is not needed: it has no effect",
    )
    proved_by: ClassVar[str] = "model/starling_roosts"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each assignment once."""
        for fact in window.new(UnreadValue):
            where = fact.like_frame or fact.frame
            yield self.finding(
                window,
                "note" if fact.how == "other" else "warning",
                f"{fact.name}{spot(fact.frame)}{described(fact)}",
                ref=fact.ref,
                place=Place(frame=where, symptom_frame=fact.frame if where != fact.frame else None),
                changed=float(fact.changed),
            )


def described(fact: UnreadValue) -> str:
    """Say what it is and what is read instead."""
    when, shape, percent = "fetch" if fact.fetched else "step", f"{fact.shape}", f"{100 * float(fact.changed):.0f} %"
    if fact.how == "replaced" and fact.like_frame is not None:
        return (
            f" is made of {fact.like} in each {when} and read nowhere: {file_line(fact.like_frame)} reads {fact.like}, "
            f"of the same shape {shape}, which has other values in {percent} of the places; expected {fact.name}. Read "
            f"{fact.name} there, or delete the line."
        )
    if fact.how == "kept":
        return (
            f" keeps {fact.like}, of shape {shape}, which is replaced after it by values that differ in {percent} of "
            f"the places, and is read nowhere; expected that it is used again, as where a layer adds its input. Use "
            f"{fact.name}, or delete the line."
        )
    if fact.how == "rows":
        return (
            f", of shape {shape}, is made anew in each step, as if for {fact.like}, and read nowhere; expected that it "
            f"is applied. Use {fact.name}, or delete the line."
        )
    return (
        f", of shape {shape}, is made anew in each step and read nowhere; expected that it has an effect. Use "
        f"{fact.name}, or delete the line."
    )
