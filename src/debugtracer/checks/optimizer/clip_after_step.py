"""Does clipping come between backward and step?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import running
from debugtracer.trace.facts.order import Call, StepOrder
from debugtracer.trace.facts.own_clip import OwnClip
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

UPDATES = 2  # by hand, running (ours)
MEASURES = 1e6  # a limit from here on only measures the norm (ours)


class ClipAfterStep(Check, frozen=True):
    """Gradients are clipped when the update has used them already, or before there are any.

    What it catches
        `clip_grad_norm_` after `optimizer.step()` or before `loss.backward()`.
    Why it matters
        Nothing is clipped: the protection that the author counts on is not there, and the next rare large gradient goes
        straight into the weights.
    How it decides
        In two updates running of one optimizer there is a clip with a finite limit and none of them came between a
        backward that wrote its gradients and its step. In a loop that writes its weights itself: two clips running met
        no gradient, or one with which the weights had been written. A clip with a limit of 1e6 and more only measures
        the norm.
    What to do
        Clip between backward and step.
    Example
        step 1, rank 0: clip (train.py:24) comes when no fresh gradient is there in two updates running, so it clips
        nothing; expected it between backward and step. Move it before optimizer.step().
    """

    needs: ClassVar[tuple[type[StepOrder], type[OwnClip]]] = (StepOrder, OwnClip)
    kind: ClassVar[str] = "clip_misplaced"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = ("move the clipping between backward and optimizer.step()",)
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/river_gauge"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer, at the clip of the first of two updates."""
        for fact in window.new(StepOrder):
            begun = running(window.memory(self), fact, idle(fact) is not None)
            call = idle(begun) if begun is not None else None
            if begun is not None and call is not None:
                yield self.finding(
                    window,
                    "warning",
                    f"clip{spot(call.frame)} comes when no fresh gradient is there in two updates running, so it clips "
                    "nothing; expected it between backward "
                    "and step. Move it before optimizer.step().",
                    ref=begun.ref,
                    place=Place(frame=call.frame),
                    limit=float(call.limit or math.inf),
                )
        for own in window.new(OwnClip):
            if own.number == UPDATES and own.limit < MEASURES:
                yield self.by_hand(window, own)

    def by_hand(self, window: Window, own: OwnClip) -> Finding:
        """Build the finding of a loop without an optimizer."""
        met = "no gradient" if own.why == "none" else "gradients that the weights were written with before"
        return self.finding(
            window,
            "warning",
            f"clip{spot(own.frame)} meets {met} in two updates running, so it clips nothing; expected it between "
            "backward and the update. Move it behind loss.backward().",
            ref=own.ref,
            place=Place(frame=own.frame),
            remedies=("move the clipping between backward and the lines that write the weights",),
            limit=own.limit,
        )


def idle(fact: StepOrder) -> Call | None:
    """The clip of an update whose clips all found nothing fresh."""
    clips = [c for c in fact.calls if c.word == "clip" and c.limit is not None and float(c.limit) < MEASURES]
    return clips[0] if clips and fact.backwards() and not any(c.live for c in clips) else None
