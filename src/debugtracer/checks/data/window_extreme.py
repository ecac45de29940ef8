"""Does one stored value make the loss of each batch whose windows show it?"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import named
from debugtracer.trace.facts.repeated_extreme import RepeatedExtreme
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

KEPT = 512  # losses that are remembered (ours)


class WindowExtreme(Check, frozen=True):
    """One stored number, far outside of all others of its column, makes the loss of each batch that shows it.

    What it catches
        -999 for "not measured" in one row of a table that windows are cut from: dozens of samples hold it, none of
        them is at fault.
    Why it matters
        The loss jumps now and then, as with a high learning rate or with hard samples; and the column was scaled with
        that number in it.
    How it decides
        One number lies more than ten times the range of all others of its column away from them, once in each window,
        in `batches` batches and `rows` samples. The losses of `share` of these batches are `rise` times the median of
        the `beside` batches on either side that do not hold it. Its row is told where the arrays of the dataset hold it
        once, and the line of the file where a column of a text file that the program names is that array but for a
        scale and a shift.
    What to do
        Make it NaN where the file is read, fill it, and only then scale the column.
    Example
        step 23, rank 0: column 2 of batch[1] of Plant is -52.7 in 7 samples (samples 1840, 1846, 1851 and 4 more),
        where all others lie from -0.458 to 0.545: row 1873 of Plant.data_x (plant.csv:1875, temp is -999); the loss of
        4 of 4 batches with it is up to 24 times that of their neighbours; expected measured values. Fill it where the
        file is read, before the column is scaled.
    """

    needs: ClassVar[tuple[str | type[RepeatedExtreme], ...]] = (LOSS, RepeatedExtreme)
    kind: ClassVar[str] = "data_range_extreme"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "read the code as missing (na_values=, or x[x == code] = nan), fill it, and only then scale the column",
        "or leave the windows out that hold this row",
    )
    proved_by: ClassVar[str] = "data/lock_gauges"

    batches: int = 3  # that hold it and whose losses are known (ours)
    rows: int = 4  # samples that hold it (as data/repeated-extreme)
    beside: int = 4  # batches on either side (ours)
    rise: float = 1.5  # times the loss of the neighbours (ours)
    share: float = 0.75  # of the batches that hold it (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each number of a dataset."""
        notes = window.memory(self)
        losses: dict[int, float] = notes.setdefault("losses", {})
        loss = window.now(LOSS)
        if loss is not None:
            losses[window.ref.step] = loss
            if len(losses) > KEPT:
                del losses[next(iter(losses))]
        for fact in window.new(RepeatedExtreme):
            if not fact.again and not fact.handled and len(fact.samples) >= self.rows:
                notes[fact.loader.number, fact.path] = fact
        for key, fact in list(notes.items()):
            if isinstance(fact, RepeatedExtreme) and loss is not None and fact.ref.step in losses:
                del notes[key]
                yield from self.weigh(window, notes, fact, losses)

    def weigh(
        self, window: Window, notes: dict[Any, Any], fact: RepeatedExtreme, losses: dict[int, float]
    ) -> Iterator[Finding]:
        """Yield a finding where the losses of the batches that hold it stand out."""
        said = "said", fact.loader.number, fact.value
        held = set(fact.steps)
        rises = []
        for step in sorted(held):
            near = [
                losses[s] for s in range(step - self.beside, step + self.beside + 1) if s in losses and s not in held
            ]
            if step in losses and len(near) >= self.beside and median(near) > 0:
                rises.append(losses[step] / median(near))
        high = [rise for rise in rises if rise >= self.rise]
        if said in notes or len(rises) < self.batches or len(high) < self.share * len(rises):
            return
        notes[said] = True
        yield self.describe(window, fact, len(high), len(rises), max(high))

    def describe(self, window: Window, fact: RepeatedExtreme, high: int, known: int, most: float) -> Finding:
        """The number, its row, the line of the file, and what it does to the loss."""
        column = f"column {fact.column} of " if fact.column is not None else ""
        where = ""
        if fact.stored and fact.row is not None:
            cells = [file_line(fact.record), fact.cell] if fact.record is not None else []
            where = f": row {fact.row} of {fact.stored}{' (' + ', '.join(cells) + ')' if cells else ''}"
        return self.finding(
            window,
            "warning",
            f"{column}{fact.path} of {fact.loader.dataset or 'a loader'}{made_at(fact.made)} is "
            f"{as_float(fact.value):.4g} in {len(fact.samples)} samples ({named(fact.samples)}), where all others lie "
            f"from {as_float(fact.low):.3g} to {as_float(fact.high):.3g}{where}; the loss of {high} of {known} batches "
            f"with it is up to {most:.3g} times that of their neighbours; expected measured values. Fill it where the "
            "file is read, before the column is scaled.",
            ref=fact.ref,
            place=Place(
                frame=fact.record or (fact.made[0] if fact.made else None) or fact.loader.made_at or fact.loader.frame,
                sample_index=fact.samples or None,
            ),
            value=as_float(fact.value),
            rise=most,
        )
