"""Did the program die of a batch that is shorter than those before it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import Crash, CrashBatch, ShortBatchSeen
from debugtracer.trace.facts.raised_expression import SqueezedBatch
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LastBatchShort(Check, frozen=True):
    """The last batch of a pass has fewer rows than a line of the program expects, and the program dies of it.

    What it catches
        Labels, a mask or a hidden state built with the configured batch size, a view of that length, a loop that runs
        to it, a squeeze() that drops the batch dimension of a last batch of one.
    Why it matters
        The run dies at the end of an epoch, hours after it began, and the exception names two shapes of which neither
        is wrong by itself.
    How it decides
        The batch in flight is the first of its loader with fewer rows than all before it, and the two lengths that the
        exception names are the same multiple of the usual rows and of those that came. Where it names one of them, a
        line on the way must use the other. The line is found by the values of the names in it. Or, without a loader
        too, a value of the failing line comes from a squeeze() without a dimension that took away one whose length was
        more than 1 in other steps; without a graph, the only line that squeezes batches, where the one in flight has
        one row.
    What to do
        drop_last=True in the training loader, or take the length from the tensor where the line uses a setting.
    Example
        step 15, rank 0: the batch has 40 rows, all before it had 64 (the loader at run.py:72 makes batches of 64 out of
        1000 samples); expected a program that takes any length: loss.py:22 uses 64. Pass drop_last=True to that loader,
        or take the length from the tensor at loss.py:22.
    """

    needs: ClassVar[tuple[type, ...]] = (Crash, SqueezedBatch)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_short_batch"
    symptom: ClassVar[str] = "crash"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "drop_last=True in the DataLoader of the training",
        "take the length from the tensor (x.shape[0]) where the line uses the configured batch size",
    )
    proved_by: ClassVar[str] = "data/honey_jars"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such a batch."""
        squeezed = window.new(SqueezedBatch)
        for crash in window.new(Crash):
            if crash.short is not None and not crash.fetching and not squeezed:
                yield self.describe(window, crash, crash.short, crash.batch or CrashBatch())
        for fact in squeezed:
            yield self.squeezed(window, fact)

    def describe(self, window: Window, crash: Crash, short: ShortBatchSeen, batch: CrashBatch) -> Finding:
        """How long the batch is, where it comes from, and which line expects another length."""
        at = file_line(short.frame) if short.frame is not None else ""
        rows = f"the batch has {short.rows} row{'s' * (short.rows != 1)}, all before it had {short.usual}"
        of = f" out of {batch.dataset_len} samples" if batch.dataset_len is not None else ""
        loader = f" (the loader{spot(batch.frame)} makes batches of {short.usual}{of})"
        if short.squeezed:
            uses = f": {at} takes away every dimension of length 1, here that of the batch too"
        else:
            uses = f": {at} uses {short.usual}" if at else ""
        at_line = short.squeezed or short.evaluating
        return self.finding(
            window,
            "error",
            f"{rows}{loader}; expected a program that takes any length{uses}. {advice(short, at)}",
            ref=crash.ref,
            place=Place(
                frame=(short.frame if at_line else None) or batch.frame or short.frame or crash.call,
                argument=None if at_line else "drop_last",
                symptom_frame=short.frame or crash.call,
            ),
            remedies=(self.remedies[1:] if short.evaluating else ()) if not short.squeezed else (advice(short, at),),
            rows=short.rows,
            usual=short.usual,
        )

    def squeezed(self, window: Window, fact: SqueezedBatch) -> Finding:
        """Which dimension is gone, where, and what was there in other steps."""
        at = file_line(fact.frame) if fact.frame is not None else "its line"
        left = tuple(d for d, (g, u) in enumerate(zip(fact.given, fact.usual, strict=True)) if g == u == 1)
        named = f"squeeze({', '.join(map(str, left[:1] if len(left) == 1 else (left,)))})"
        said = f"Write {named} at {at}." if left else f"Leave squeeze out at {at}."
        return self.finding(
            window,
            "error",
            f"`{fact.name}` has lost dimension {fact.lost}: {at} takes away every dimension of length 1, of shape "
            f"{fact.given} too, where other steps had {fact.usual}; expected the same dimensions for each batch. "
            f"{said}",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.symptom),
            confidence=0.85,
            remedies=(f"{said[0].lower()}{said[1:-1]}", "drop_last=True, or leave out a rest of one row, in training"),
            rows=1,
            usual=fact.usual[fact.lost],
        )


def advice(short: ShortBatchSeen, at: str) -> str:
    """What to change: nothing is left out where all samples count."""
    drop = "" if short.evaluating else "pass drop_last=True to that loader"
    line = (
        f"name the dimension at {at}, as in squeeze(-1)"
        if short.squeezed
        else f"take the length from the tensor at {at}"
    )
    if not at:
        line = "take every length from the tensors" if short.evaluating else ""
    said = ", or ".join(filter(None, (line, drop) if short.squeezed else (drop, line)))
    return f"{said[0].upper()}{said[1:]}."
