"""Do the samples of a batch stack?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import with_samples
from debugtracer.trace.facts.crash import Crash, differing_part, first_difference
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

REFUSALS = (
    "stack expects each tensor to be equal size",
    "each element in list of batch should be of equal size",
    "default_collate: batch must contain tensors",
    "all input arrays must have the same shape",
    "Trying to resize storage that is not resizable",
)


class RaggedSamples(Check, frozen=True):
    """The loader could not put the samples of a batch together.

    What it catches
        Images of other sizes, sequences without padding, a sample that is None, a field that is missing now and then.
    Why it matters
        torch names two shapes and their places in the batch, never the samples; with workers the traceback is a text.
    How it decides
        The exception of default_collate; the shapes are those of the samples it was given (read again from the dataset
        after a worker's failure). The odd ones are those that differ from the commonest shape of their part.
    What to do
        Pad or crop in a collate_fn, or leave the odd sample out.
    Example
        step 9, rank 0: the samples of one batch of the loader (train.py:30) do not stack: sample[0] is (3, 32, 32)
        float32 in 15 samples and (1, 32, 32) float32 in 1 (sample 118); expected one shape. Pad or convert it in the
        dataset, or give a collate_fn.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "ragged_samples"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "bring the odd samples to one shape in the dataset",
        "or pad them in a collate_fn",
        "or leave them out",
    )
    proved_by: ClassVar[str] = "data/grey_scan"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such samples."""
        for crash in window.new(Crash):
            if crash.fetching and any(text in crash.message for text in REFUSALS):
                yield self.describe(window, crash)

    def describe(self, window: Window, crash: Crash) -> Finding:
        """Which part differs in which samples."""
        found = differing_part(crash.samples)
        frame = crash.batch.frame if crash.batch else None
        made = crash.form.frame if crash.form is not None else None
        differing = "their shapes differ"
        if found is not None:
            part, usual, count, other, samples = found
            differing = f"{part} is {usual} in {count} samples and {other} in {len(samples)}{with_samples(samples)}"
        return self.finding(
            window,
            "error",
            f"the samples of one batch of the loader{spot(frame)} do not stack: {differing}"
            f"{first_difference(crash.form)}; expected one shape. "
            "Pad or convert them in the dataset, or give a collate_fn.",
            ref=crash.ref,
            place=Place(
                frame=made or frame or crash.call,
                symptom_frame=(frame if made else None) or crash.call,
                sample_index=found[4] if found else None,
            ),
        )
