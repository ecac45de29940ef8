"""Does a text go on along its row?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.interleaved_rows import InterleavedRows
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RowsInterleaved(Check, frozen=True):
    """One stream of tokens is dealt out to the rows of a batch like cards.

    What it catches
        `ids.view(-1, rows).t()` where `ids.view(rows, -1)` was meant; `ids.view(-1, rows)` for a model that reads along
        the first dimension, without the transpose.
    Why it matters
        The next token of a row is the one `rows` places on in the text: word order is lost, and the model learns little
        more than how frequent words are.
    How it decides
        The targets of a cross-entropy, or of one that is written with gather, are the next tokens along one dimension.
        In three inspected batches, of one number of rows and any length, pairs of neighbouring rows come again far more
        often than if they were shuffled (10 standard deviations), pairs along a row do not (4, or a tenth of the
        others), and what stands at the end of one column fits the begin of the next as neighbouring rows fit (5). Rows
        of parallel series, prompts with a template and texts of one row each show no such thing.
    What to do
        Cut the stream into `rows` long pieces first: `ids[: rows * n].view(rows, n)`, transposed where time comes
        first.
    Example
        step 2, rank 0: the text goes on from row to row and not along the 12 rows of 24 tokens (laid out at
        train.py:26): pairs of neighbours come again 31 standard deviations more often than by chance across rows, 0.4
        along them; expected the text along the rows. Use view(12, -1).
    """

    needs: ClassVar[tuple[type[InterleavedRows]]] = (InterleavedRows,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "cut the stream into long pieces: ids[: rows * n].view(rows, n)",
        "where time comes first: ids[: rows * n].view(rows, n).t()",
    )
    proved_by: ClassVar[str] = "data/drum_rolls"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each layout."""
        memory = window.memory(self)
        for fact in window.new(InterleavedRows):
            if fact.key() in memory:
                continue
            memory[fact.key()] = True
            use = f"view({fact.rows}, -1)" if fact.dim == 1 else f"view({fact.rows}, -1).t()"
            laid = f" (laid out at {spot(fact.frame)[2:-1]})" if fact.frame is not None else ""
            yield self.finding(
                window,
                "warning",
                f"the text goes on from row to row and not along the {fact.rows} rows of {fact.length} tokens{laid}: "
                f"pairs of neighbours come again {fact.across:.3g} standard deviations more often than by chance "
                f"across rows, {fact.along:.2g} along them; expected the text along the rows. Use {use}.",
                ref=fact.ref,
                place=Place(frame=fact.frame or fact.loss_frame, symptom_frame=fact.loss_frame),
                across=fact.across,
                along=fact.along,
            )
