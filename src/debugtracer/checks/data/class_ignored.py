"""Does a loss over two classes leave one of them out?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import spot
from debugtracer.trace.facts.loss_call import INDEXED, LossCall
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ClassIgnored(Check, frozen=True):
    """A loss over two classes ignores every target of one of them.

    What it catches
        A criterion with `ignore_index=0`, made for padded tokens, that also takes the 0 and 1 of a yes-or-no target.
    Why it matters
        Only one answer is ever asked for: the best output is that answer for everything, and the loss falls to nothing.
    How it decides
        The scores of a cross-entropy have two classes, `ignore_index` is one of them, and in `calls` inspected calls of
        the same line targets were ignored and those that count had one value. It is exact: with one of two classes left
        out nothing is left to tell apart.
    What to do
        Give this target a criterion of its own, without ignore_index.
    Example
        step 0, rank 0: nll_loss (pretrain.py:105) has 2 classes and ignore_index 0: 48 of 96 targets were ignored in 3
        calls, and all that count are 1; expected both. Use a criterion without ignore_index here.
    """

    needs: ClassVar[tuple[type[LossCall]]] = (LossCall,)
    kind: ClassVar[str] = "label_mask_wrong"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "give this target a criterion of its own: nn.CrossEntropyLoss() or nn.NLLLoss() without ignore_index",
        "if rows are to be ignored: mark them with a value that is no class (-100)",
    )
    proved_by: ClassVar[str] = "data/ferry_bookings"

    calls: int = 3
    """Calls of the same line (ours, as for targets that are all ignored)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each line."""
        memory = window.memory(self)
        for call in window.new(LossCall):
            if not one_of_two(call):
                continue
            seen = memory.setdefault(call.key(), [])
            seen.append(call)
            if len(seen) == self.calls and len({c.target_low for c in seen}) == 1 and any(c.ignored for c in seen):
                yield self.describe(window, seen)

    def describe(self, window: Window, seen: list[LossCall]) -> Finding:
        """Build the finding with how many targets were left out."""
        call = seen[0]
        counted = sum(c.counted for c in seen)
        total = sum(round(c.counted / (1 - c.ignored)) for c in seen)
        return self.finding(
            window,
            "error",
            f"{call.loss}{spot(call.frame)} has 2 classes and ignore_index {call.ignore_index}: {total - counted} of "
            f"{total} targets were ignored in {len(seen)} calls, and all that count are {call.target_low:.0f}; "
            "expected both. Use a criterion without ignore_index here.",
            ref=call.ref,
            place=Place(frame=call.frame, module=call.module),
            ignored=float(total - counted),
            counted=float(counted),
        )


def one_of_two(call: LossCall) -> bool:
    """Whether a call has two classes, of which one is ignored, and targets of the other."""
    two = call.loss in INDEXED and call.classes == 2 and call.ignore_index in (0, 1)
    return two and call.counted > 0 and call.target_low == call.target_high
