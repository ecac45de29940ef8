"""Is a text one phrase over and over?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import place_of, which, with_samples
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.window import Window


class RepeatedNgram(Check, frozen=True):
    """A row of token ids in which one n-gram is repeated at least 32 times.

    What it catches
        Crawler junk, tables of zeros, a decoding loop that got into the training text.
    Why it matters
        Repetition is learnt in a few steps, spikes the gradient of the embedding, and comes back in generation.
    How it decides
        Rows of integers of two dimensions, n-grams of at most 13 tokens, padding left out; every tenth batch and every
        batch of unusual tokens. Always a note: tables, code and DNA repeat themselves rightly.
    What to do
        Drop such samples or keep them out of the loss.
    Example
        step 40, rank 0: an n-gram of 3 tokens fills 100 % of a row of batch[0] of batch 40 of Pages (train.py:19)
        (sample 641); expected text. Look at the sample, or mask it.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity,)
    kind: ClassVar[str] = "data_repeated_ngram"
    remedies: ClassVar[tuple[str, ...]] = (
        "filter repeated n-grams before training",
        "give the repeated part the label -100",
    )
    proved_by: ClassVar[str] = "data/crawled_pages"

    least_share: float = 0.3  # of the tokens of the row that lie in the repetition (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for each row."""
        for fact in window.new(BatchOddity):
            share = as_float(fact.value)
            if fact.what == "ngram" and share >= self.least_share:
                yield self.finding(
                    window,
                    "note",
                    f"an n-gram of {fact.count} tokens fills {100 * share:.0f} % of a row of {fact.path} of "
                    f"{which(fact.batch, fact.loader)}"
                    f"{with_samples(fact.samples)}; expected text. Look at the sample, or mask it.",
                    ref=fact.ref,
                    place=place_of(fact),
                    share=share,
                    tokens=fact.count,
                )
