"""Do the inputs come in a size that layers can work with?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import at_loader
from debugtracer.trace.facts.batch_content import BatchProfile
from debugtracer.trace.facts.first_input import FirstInput
from debugtracer.trace.facts.stored_rows import StoredLeaf, StoredRows
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import Number, as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

PIXEL = 255.0
NEARLY = 0.9  # of the brightest pixel there can be (ours)
ROUNDED = 1.001  # of the same, with rounding (ours)
TINY = 0.01  # of a mean: larger ones are an offset (ours)


class Unnormalised(Check, frozen=True):
    """Inputs with a mean beyond 10 or a standard deviation beyond 100, or next to nothing.

    What it catches
        Pixels 0..255 that were not scaled, columns in grams and years beside each other, a forgotten `Normalize`;
        pixels that were divided by 255 twice.
    Why it matters
        The first layer saturates or explodes; learning rates that work elsewhere diverge here.
    How it decides
        At the first batch: |mean| > `mean` or standard deviation > `std` of a floating tensor that trains a module
        whose first layer is no normalisation and no embedding, and of what the first layer is given: silent where the
        program scales in between, or where a normalisation follows the first layer. Whole numbers from 0 to 255 in an
        image are a warning; other columns, and a model whose first layer could not be looked at, a note. Without a
        loader the stored data are asked that the program takes its rows from. Below `least` a first layer that no
        normalisation follows is given next to nothing: a warning where it is an image within 1/255, else a note.
    What to do
        Scale in the dataset, or put a normalisation first.
    Example
        step 0, rank 0: batch[0] of Photos has mean 127 and std 73.9 (0..255), and Conv2d takes it; expected about 0 and
        1. Normalise in the dataset.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchProfile, FirstInput, StoredRows)
    confidence: ClassVar[float] = 0.8
    kind: ClassVar[str] = "data_unnormalised"
    remedies: ClassVar[tuple[str, ...]] = (
        "subtract the mean and divide by the standard deviation of the training set, in the dataset",
    )
    proved_by: ClassVar[str] = "data/photos_as_read"

    mean: float = 10.0  # of the values (ours; pixels of 0..255 have a mean near 120)
    std: float = 100.0  # of the values (the same)
    least: float = 0.003  # standard deviation; pixels that were divided by 255 twice have 0.001 (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for the first such tensor of a loader."""
        told = window.memory(self)
        given = window.seen(FirstInput)
        for seen in window.new(FirstInput):
            if not is_normed(seen) and 0 < as_float(seen.std) < self.least and abs(as_float(seen.mean)) < TINY:
                yield self.describe_tiny(window, seen)
        raw = [one for one in given if self.is_raw(one.mean, one.std) and not is_normed(one)]
        for rows in window.new(StoredRows) if raw else ():
            for one in rows.leaves:
                if one.path == "input" and self.is_raw(one.mean, one.std) and one.name not in told:
                    told[one.name] = True
                    yield self.describe_rows(window, rows, one, raw)
        for fact in window.new(BatchProfile):
            if (
                not fact.training
                or fact.loader.number in told
                or "Norm" in fact.first_layer
                or fact.first_layer in ("", "Embedding", "EmbeddingBag")
            ):
                continue
            told[fact.loader.number] = True
            if given and not raw:
                continue  # the program scales after its loader, or in its forward
            for leaf in fact.leaves[:1]:  # the first tensor is the input; targets may be as large as they like
                mean, std = as_float(leaf.mean), as_float(leaf.std)
                if leaf.role == "float" and self.is_raw(mean, std):
                    yield self.finding(
                        window,
                        "warning" if any(map(is_pixels, raw)) else "note",
                        f"{leaf.path} of {fact.loader.dataset} has mean {mean:.3g} and std {std:.3g} "
                        f"({as_float(leaf.low):.3g}..{as_float(leaf.high):.3g}), "
                        f"and {fact.first_layer} takes it; expected about 0 and 1. Normalise in the dataset.",
                        ref=fact.ref,
                        place=at_loader(fact.loader),
                        mean=mean,
                        std=std,
                    )

    def describe_tiny(self, window: Window, fact: FirstInput) -> Finding:
        """Build the finding of inputs that are next to nothing."""
        low, high = as_float(fact.low), as_float(fact.high)
        twice = len(fact.shape) > 2 and low >= 0 and NEARLY < high * PIXEL < ROUNDED
        return self.finding(
            window,
            "warning" if twice else "note",
            f"{fact.function} is given inputs with mean {as_float(fact.mean):.2g} and std {as_float(fact.std):.2g} "
            f"({low:.2g}..{high:.2g}); expected about 0 and 1. "
            + ("These are pixels that were divided by 255 twice: divide once." if twice else "Scale them."),
            ref=fact.ref,
            place=Place(frame=fact.made or fact.frame, symptom_frame=fact.frame),
            mean=as_float(fact.mean),
            std=as_float(fact.std),
        )

    def describe_rows(self, window: Window, fact: StoredRows, leaf: StoredLeaf, raw: Sequence[FirstInput]) -> Finding:
        """Build the same of rows that the program takes itself, where the first layer is given them so."""
        return self.finding(
            window,
            "warning" if any(map(is_pixels, raw)) else "note",
            f"the {fact.length} rows of {leaf.name} have mean {as_float(leaf.mean):.3g} and std "
            f"{as_float(leaf.std):.3g} ({as_float(leaf.low):.3g}..{as_float(leaf.high):.3g}), and {fact.first_layer} "
            "takes them; expected about 0 and 1. Normalise them where they are read.",
            ref=fact.ref,
            place=Place(frame=(*leaf.made, fact.frame)[0], symptom_frame=fact.call),
            mean=as_float(leaf.mean),
            std=as_float(leaf.std),
        )

    def is_raw(self, mean: Number, std: Number) -> bool:
        """Whether values with this mean and standard deviation are far from a size that layers can work with."""
        return abs(as_float(mean)) > self.mean or as_float(std) > self.std


def is_normed(given: FirstInput) -> bool:
    """Whether a normalisation takes it, or what the first layer makes of it."""
    return given.normed or "norm" in given.function


def is_pixels(given: FirstInput) -> bool:
    """Whether a first layer is given an image as a file holds it: whole numbers from 0 to 255."""
    return len(given.shape) > 2 and given.whole and as_float(given.low) >= 0 and 100 < as_float(given.high) <= 255
