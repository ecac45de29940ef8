"""Does one number make the loss of its batch a thousand times the usual?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.facts.far_number import FarNumber as Seen
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class FarNumber(Check, frozen=True):
    """The loss of a batch is a thousand times the usual one and back at the next, and one number of it is far from all
    others.

    What it catches
        A field of the wrong column in one record (a timestamp for a rating), another unit, a fill value, in a program
        that makes its batches itself, from the first steps on.
    Why it matters
        The update of that step belongs to one number; the mean loss of the epoch is its loss, and Adam keeps its square
        for hundreds of steps.
    How it decides
        Two things at once: the loss is a thousand times the median of the last 32 and of the first four, and at most
        `back` times it in the next step; and a tensor without a graph that the loop holds then has one number twenty
        times as far from the others at its place as any of them. Asked where no DataLoader delivers the batches. It
        does not matter how often it came before: the record comes again in each epoch. The line is told where the
        number stands once in the text files that the program names or in the folders it names.
    What to do
        Mend that record, or refuse such a value where the file is read.
    Example
        step 4, rank 0: the loss is 5.815e+14 (usual 9.189) in a step whose `inputs` holds 1086393600 in row 17, element
        23 (ratings.txt:5003: `75 101 1086393600`), where the other rows have 0 to 5, and it is back in the next step;
        expected values like the others. Mend that record, or refuse such a value where the file is read.
    """

    needs: ClassVar[tuple[str | type[Seen], ...]] = (LOSS, Seen)
    kind: ClassVar[str] = "data_range_extreme"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "mend that record of the data",
        "refuse such a value where the file is read, or clip it",
    )
    proved_by: ClassVar[str] = "data/mussel_counts"

    back: float = 10.0  # times the usual loss, at most, in the step after it (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once, in the step after the first of them."""
        memory = window.memory(self)
        for new in window.new(Seen):
            memory["seen"] = new
        loss, fact = window.now(LOSS), memory.get("seen")
        if loss is None or fact is None or window.ref.step <= fact.ref.step or "told" in memory:
            return
        del memory["seen"]
        if loss <= self.back * fact.usual and not monitor(window).excused:
            memory["told"] = True
            yield self.describe(window, fact)

    def describe(self, window: Window, fact: Seen) -> Finding:
        """Build the finding with the number, its row and its line."""
        where = f", element {', '.join(map(str, fact.place))}" if fact.place else ""
        record = f" ({file_line(fact.record)}: `{fact.record.code}`)" if fact.record is not None else ""
        value = as_float(fact.value)
        return self.finding(
            window,
            "warning",
            f"the loss is {as_float(fact.loss):.4g} (usual {fact.usual:.4g}) in a step whose `{fact.name}` holds "
            f"{value:.10g} in row {fact.row}{where}{record}, where the other rows have {as_float(fact.low):.4g} to "
            f"{as_float(fact.high):.4g}, and it is back in the next step; expected values like the others. Mend that "
            "record, or refuse such a value where the file is read.",
            ref=fact.ref,
            place=Place(
                frame=fact.record or fact.made or fact.backward, symptom_frame=fact.backward, batch_rows=(fact.row,)
            ),
            value=value,
            loss=as_float(fact.loss),
        )
