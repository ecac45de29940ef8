"""Do the input lengths of a CTC loss reach to the end of what the model gives, and are they long enough?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.ctc_call import CtcCall
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class CtcLengths(Check, frozen=True):
    """The input lengths of a CTC loss are too short for its targets, or for its frames.

    What it catches
        Lengths divided by 8 where the encoder subsamples by 4, target lengths that count padding, while
        zero_infinity=True hides the rows that have no alignment.
    Why it matters
        A row without an alignment gives no gradient, and frames behind its length are never trained. The loss looks
        low while the transcripts stay wrong, of the longest targets most of all.
    How it decides
        In `calls` inspected calls of one line with zero_infinity, at least `least` of the rows have fewer frames than
        labels and repeats. Or the frames of the log-probabilities differ from batch to batch, and the longest input
        length is the same share of them in all, at most `reach`: padding to one length, or to a multiple, gives other
        shares each time.
    What to do
        Divide the lengths by what the encoder subsamples by, rounded as its convolutions round.
    Example
        step 2, rank 0: 118 of 192 rows of ctc_loss (train.py:72) have an input shorter than their target, in 6 calls:
        they give no gradient, which zero_infinity hides; the longest input length is 0.50 of the frames that the model
        gives; expected lengths that reach to the last frame. Look at how the lengths are computed (train.py:24).
    """

    needs: ClassVar[tuple[type[CtcCall]]] = (CtcCall,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "ctc_infeasible"
    confidence: ClassVar[float] = 0.93
    remedies: ClassVar[tuple[str, ...]] = (
        "divide the input lengths by what the model subsamples by, rounded as its convolutions round",
        "or let target_lengths count the labels alone, without padding",
        "count the rows whose loss is 0 or infinite: zero_infinity=True hides them",
    )
    proved_by: ClassVar[str] = "data/warbler_songs"

    calls: int = 3
    """Calls of the same line (ours, as for losses fed with probabilities)."""
    least: float = 0.1
    """Share of the rows without an alignment (ours: speech corpora have a few in a hundred)."""
    reach: float = 0.75
    """Share of the frames that the longest length reaches at most (ours: a wrong factor of 2 gives 0.5)."""
    spread: float = 0.06
    """Most that this share differs between batches (ours: rounding of 30 frames)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each line."""
        lines: dict[object, list[CtcCall]] = {}
        for call in window.seen(CtcCall):
            lines.setdefault(call.frame, []).append(call)
        memory = window.memory(self)
        for key, seen in lines.items():
            if key in memory or len(seen) < self.calls:
                continue
            lost, rows = sum(c.impossible for c in seen if c.zero_infinity), sum(c.rows for c in seen)
            short = self.short(seen)
            if lost >= self.least * rows or short:
                memory[key] = True
                yield self.describe(window, seen, lost, rows, short)

    def short(self, seen: list[CtcCall]) -> float:
        """The share of the frames that the longest length reaches in every batch; 0 where that is all, or no rule."""
        shares = [c.longest / c.frames for c in seen]
        differ = len({c.frames for c in seen}) >= self.calls
        fixed = differ and max(shares) <= self.reach and max(shares) - min(shares) <= self.spread
        return sum(shares) / len(shares) if fixed else 0.0

    def describe(self, window: Window, seen: list[CtcCall], lost: int, rows: int, short: float) -> Finding:
        """How many rows are lost, how far the lengths reach, and who computed them."""
        call = seen[-1]
        hidden = (
            f"{lost} of {rows} rows of ctc_loss{spot(call.frame)} have an input shorter than their target, in "
            f"{counted(len(seen), 'call')}: they give no gradient, which zero_infinity hides"
            if lost
            else f"the frames at the end of every row of ctc_loss{spot(call.frame)} are left out, in "
            f"{counted(len(seen), 'call')}"
        )
        part = (
            f"; the longest input length is {short:.2f} of the frames that the model gives; expected lengths that "
            "reach to the last frame"
            if short
            else "; expected at least as many frames as labels and repeats"
        )
        return self.finding(
            window,
            "error",
            f"{hidden}{part}. Look at how the lengths are computed{spot(call.made)}.",
            ref=call.ref,
            place=Place(frame=call.made or call.frame, symptom_frame=call.frame),
            impossible=float(lost),
            rows=float(rows),
            reach=short,
        )
