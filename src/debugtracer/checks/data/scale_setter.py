"""Is the scale of the data that of the data?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import named
from debugtracer.trace.facts.scale_setter import ScaleSetter as Setter
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ScaleSetter(Check, frozen=True):
    """Data are divided by their maximum, and that is one number a hundred times beyond all others.

    What it catches
        65535 or 9999 for "not measured" in one cell of a table that is divided by its maximum, or by what lies between
        its minimum and maximum.
    Why it matters
        All that was measured is pressed into a hundredth of the scale or less: the loss is tiny from the start, and
        what the network is to tell apart is smaller than what it answers at random.
    How it decides
        When the first batch of a loader is fetched, the floating arrays of its dataset are looked at once: the maximum
        is 1, in one place or in the one element that overlapping windows show, and all others lie within a hundredth of
        it, and are many different numbers, in that column too. The file is one that the program names whose largest
        number, not 1, stands in that row, in a column that is this one but for the scale; the line is the only one of
        the program that divides something by its own maximum. One of the two must be known.
    What to do
        Make it missing where the file is read, fill it, and only then scale.
    Example
        step 0, rank 0: one number sets the scale of TensorDataset.tensors[0]: row 300, column 7 (speed.csv:302, d7 is
        65535) is 1 after the division by the maximum (functions.py:34), and all others lie from 3e-05 to 0.0011 (15
        samples show it: samples 286..300); expected data that fill the scale. Fill it where the file is read, before
        the division.
    """

    needs: ClassVar[tuple[type[Setter]]] = (Setter,)
    kind: ClassVar[str] = "data_range_extreme"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.96
    remedies: ClassVar[tuple[str, ...]] = (
        "read the code as missing (na_values=, or x[x == code] = nan), fill it, and only then scale the data",
        "or scale by a number that one cell does not move: a quantile, or the largest value that can be measured",
    )
    proved_by: ClassVar[str] = "data/weir_telemetry"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for all datasets: the parts of one table share the number."""
        memory = window.memory(self)
        for fact in window.new(Setter):
            if not memory.get("said"):
                memory["said"] = True
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: Setter) -> Finding:
        """Where it stands, what it does to all others, and the lines of both."""
        column = f", column {fact.column}" if fact.column is not None else ""
        cells = f" ({file_line(fact.record)}, {fact.cell})" if fact.record is not None else ""
        many = "1 sample shows" if fact.count == 1 else f"{fact.count} samples show"
        shown = f" ({many} it: {named(fact.samples)})" if fact.count else ""
        return self.finding(
            window,
            "warning",
            f"one number sets the scale of {fact.name}: row {fact.row}{column}{cells} is 1 after the division by the "
            f"maximum{spot(fact.scaled)}, and all others lie from {as_float(fact.low):.2g} to "
            f"{as_float(fact.high):.2g}{shown}; expected data that fill the scale. Fill it where the file is read, "
            "before the division.",
            ref=fact.ref,
            place=Place(
                frame=fact.record or fact.scaled or fact.frame,
                symptom_frame=fact.scaled or fact.frame,
                sample_index=fact.samples or None,
            ),
            high=as_float(fact.high),
        )
