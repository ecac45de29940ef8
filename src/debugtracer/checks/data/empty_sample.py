"""Does every sample of a sequence model have at least one element?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import with_samples
from debugtracer.trace.facts.crash import Crash, IntegerRows
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

REFUSAL = "Length of all samples has to be greater than 0"


class EmptySample(Check, frozen=True):
    """A sequence of length 0 is packed, and the program dies of it.

    What it catches
        Texts of which a tokenizer leaves nothing, silent recordings that are trimmed away, users without a purchase.
    Why it matters
        Packing refuses them, at whichever batch first holds one; the exception names no sample.
    How it decides
        pack_padded_sequence raised; the lengths that it was given are those of a leaf of the batch, whose rows of
        length 0 are named by their dataset index.
    What to do
        Leave such samples out where the dataset is made, or give them one padding token.
    Example
        step 12, rank 0: 1 of 32 lengths that pack_padded_sequence (train.py:66) was given is 0 (sample 14), made at
        reviews.py:40; expected at least 1. Leave out samples without an element, or give them a padding token.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "ragged_samples"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "leave out the samples without an element where the dataset is made",
        "or give them one padding token, and the length 1",
    )
    proved_by: ClassVar[str] = "data/tram_complaints"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such a length."""
        for crash in window.new(Crash):
            if REFUSAL in crash.message:
                yield self.describe(window, crash, crash.rows)

    def describe(self, window: Window, crash: Crash, rows: IntegerRows | None) -> Finding:
        """Which samples are empty."""
        empty = [row for row, values in enumerate(rows.values) if values and values[0] <= 0] if rows is not None else []
        samples = tuple(rows.indices[row] for row in empty) if rows is not None and rows.indices is not None else ()
        of = f"{len(empty)} of {len(rows.values)}" if rows is not None and empty else "some"
        made = rows.made if rows is not None else ()
        frame = crash.frames[0] if crash.frames else None
        return self.finding(
            window,
            "error",
            f"{of} lengths that pack_padded_sequence{spot(frame)} was given {'is' if len(empty) == 1 else 'are'} 0"
            f"{with_samples(samples)}{made_at(made)}; expected at least 1. Leave out samples without an element, or "
            "give them a padding token.",
            ref=crash.ref,
            place=Place(frame=made[0] if made else frame, symptom_frame=frame, sample_index=samples or None),
            empty=float(len(empty)),
        )
