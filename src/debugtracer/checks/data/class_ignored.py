"""Does a loss over two classes leave one of them out, or one that is to leave rows out leave none?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.loss_call import INDEXED, LossCall
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

UNSET = -100  # the ignore_index of torch where none is given


class ClassIgnored(Check, frozen=True):
    """A loss over two classes ignores every target of one of them.

    What it catches
        A criterion with `ignore_index=0`, made for padded tokens, that also takes the 0 and 1 of a yes-or-no target.
        Rows without a label that were given class 0 instead of the `ignore_index` of the loss.
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
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "label_mask_wrong"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "give this target a criterion of its own: nn.CrossEntropyLoss() or nn.NLLLoss() without ignore_index",
        "if rows are to be ignored: mark them with a value that is no class (-100)",
    )
    proved_by: ClassVar[str] = "data/ferry_bookings"

    calls: int = 3
    """Calls of the same line (ours, as for targets that are all ignored)."""
    mixed: float = 0.5
    """Share of the entropy of equal classes (ours: of ten classes one that has more than 75 %)."""
    rows: int = 8
    """Least targets of a call (ours: few may lack a class by chance)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each line."""
        memory = window.memory(self)
        unused: dict[object, list[LossCall] | None] = memory.setdefault("unused", {})
        for call in window.new(LossCall):
            if marks_rows(call):
                known = unused.setdefault(call.key(), [])
                if known is not None and not self.leaves_all_in(call):
                    unused[call.key()] = None
                elif known is not None:
                    known.append(call)
            if not one_of_two(call):
                continue
            seen = memory.setdefault(call.key(), [])
            seen.append(call)
            if len(seen) == self.calls and len({c.target_low for c in seen}) == 1 and any(c.ignored for c in seen):
                yield self.describe(window, seen)
        if window.ended:
            yield from (self.unmarked(window, calls) for calls in unused.values() if calls and len(calls) >= self.calls)
            unused.clear()

    def leaves_all_in(self, call: LossCall) -> bool:
        """Whether no target is ignored, and one class takes most of them."""
        equal = math.log(call.classes or 1)
        entropy = as_float(call.prior_entropy) if call.prior_entropy is not None else equal
        return not call.ignored and call.counted >= self.rows and entropy < self.mixed * equal

    def unmarked(self, window: Window, seen: list[LossCall]) -> Finding:
        """Build the finding of an ignore_index that nothing had."""
        call, counted = seen[0], sum(c.counted for c in seen)
        share = max(as_float(c.prior_entropy or 0.0) for c in seen) / math.log(call.classes or 2)
        return self.finding(
            window,
            "warning",
            f"{call.loss}{spot(call.frame)} leaves out targets of {call.ignore_index}, and none of {counted} in "
            f"{len(seen)} calls had it, while one of {call.classes} classes takes most rows (at most {share:.0%} of "
            f"the entropy of equal shares); expected rows without a label to hold {call.ignore_index}. Look at the "
            "label that such rows are given.",
            ref=call.ref,
            place=Place(frame=call.frame, module=call.module),
            exact=False,
            confidence=0.45,
            remedies=(
                f"give rows without a label the target {call.ignore_index}",
                "if every row has a label: leave ignore_index out, and weigh the classes",
            ),
            counted=float(counted),
            entropy=share,
        )

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


def marks_rows(call: LossCall) -> bool:
    """Whether a loss that trains is to leave out rows by a value that is no class and that is not torch's own."""
    index, classes = call.ignore_index, call.classes or 0
    own = call.loss in INDEXED and index is not None and index != UNSET and not 0 <= index < classes
    return own and classes > 2 and call.input_grad and call.target_is_batch and len(call.target_shape) == 1


def one_of_two(call: LossCall) -> bool:
    """Whether a call has two classes, of which one is ignored, and targets of the other."""
    two = call.loss in INDEXED and call.classes == 2 and call.ignore_index in (0, 1)
    return two and call.counted > 0 and call.target_low == call.target_high
