"""Is there anything in each sample?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import place_of, which, with_samples
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.facts.refetched import Refetched
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.window import Window


class BlankSample(Check, frozen=True):
    """A sample of one single value, an image that ends in one, or a text that could not be decoded.

    What it catches
        Black or truncated images, silent recordings, texts full of the replacement character U+FFFD.
    Why it matters
        Such samples teach nothing; normalised by their own spread they are 0/0.
    How it decides
        A row of at least 16 values that are all equal, in a floating tensor in which no such row came in the first 20
        batches; an image (four dimensions, channels first or last) whose lowest eighth of lines or more holds one value
        a channel, as a decoder leaves what a truncated file lacks, where not even the last line of an image did so in
        these batches; a string of which more than 5 % is U+FFFD. The sample is fetched again to name the first
        transform whose output is blank. Always a note.
    What to do
        Look at the file of the sample; drop it where the dataset makes it.
    Example
        step 33, rank 0: 1 of 16 rows of batch[0] of batch 33 of Photos (train.py:24) is 0 everywhere (sample 541),
        first after Crop; expected a picture. Look at the file of the sample.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity, Refetched)
    kind: ClassVar[str] = "data_blank_sample"
    remedies: ClassVar[tuple[str, ...]] = ("look at the file of the sample", "drop it where the dataset makes it")
    proved_by: ClassVar[str] = "data/photos_cropped"

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for each batch with such rows."""
        for fact in window.new(BatchOddity):
            again = next(
                (
                    r
                    for r in window.seen(Refetched)
                    if r.loader == fact.loader.number and r.index in (fact.samples or ())
                ),
                None,
            )
            after = f", first after {again.transform}" if again is not None and again.transform else ""
            if fact.what == "blank":
                text = f"is {as_float(fact.value):g} everywhere"
            elif fact.what == "cut":
                text = f"holds one value in the lowest {as_float(fact.value):.0%} of its lines"
            elif fact.what == "unreadable":
                text = f"holds {100 * as_float(fact.value):.0f} % U+FFFD"
            else:
                continue
            yield self.finding(
                window,
                "note",
                f"{fact.count} of {fact.of} rows of {fact.path} of {which(fact.batch, fact.loader)} "
                f"{text}{with_samples(fact.samples)}{after}; expected "
                f"{'a whole picture' if fact.what == 'cut' else 'something to learn from'}. Look at the file of the "
                "sample.",
                ref=fact.ref,
                place=place_of(fact, again.frame if again is not None else None),
                count=fact.count,
                of=fact.of,
            )
