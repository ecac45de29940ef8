"""Does each batch hold a mixture of the classes?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import at_loader
from debugtracer.trace.facts.batch_content import BatchProfile, LeafProfile
from debugtracer.trace.facts.stored_rows import StoredLeaf, StoredRows
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ClassSkew(Check, frozen=True):
    """Batch after batch holds one class, while the epoch has many.

    What it catches
        Files sorted by class and a loader that does not shuffle.
    Why it matters
        The model learns the class at hand and forgets the last one; batch statistics are those of one class.
    How it decides
        The entropy of the labels within a batch is below 0.3 of that over the last batches together, in `batches`
        batches in a row that train a model, with at least 4 rows a class, from a sampler that goes in order. Samplers
        that choose classes on purpose, and validation, are left alone. Without a loader the program's own rows are
        asked the same: the steps looked at took rows that lie one after the other, and nine in ten parts of that size,
        of all the data as they lie, have such an entropy, or all but as many as there are ends of classes. It is told
        when the second pass has begun; a run of one pass, as over a stream whose classes come one after the other, gets
        a note at its end.
    What to do
        `DataLoader(..., shuffle=True)`.
    Example
        step 99, rank 0: batches of Leaves hold about one class of batch[1] (entropy 0.01 of 1.54 nats over all, 32
        batches in a row); expected a mixture. Shuffle: DataLoader(..., shuffle=True).
    """

    needs: ClassVar[tuple[type, ...]] = (BatchProfile, StoredRows)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_class_skew"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "shuffle: DataLoader(..., shuffle=True)",
        "sort the samples anew, at random, once before training",
    )
    proved_by: ClassVar[str] = "data/leaves_by_folder"

    batches: int = 10  # in a row (ours)
    share: float = 0.9  # of the parts of stored data (ours: where one class ends and the next begins there are two)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A warning for a loader whose labels come in blocks."""
        for fact in window.new(BatchProfile):
            for leaf in fact.leaves:
                if (
                    fact.training
                    and fact.loader.sampler == "SequentialSampler"
                    and leaf.skewed_run >= self.batches
                    and leaf.pooled_entropy
                ):
                    yield self.describe(window, fact, leaf)
        memory = window.memory(self)
        held, told = memory.setdefault("held", {}), memory.setdefault("told", set())
        for rows in window.new(StoredRows):
            for part in rows.leaves:
                if not rows.in_order or rows.same:
                    held.pop(part.name, None)
                elif part.name not in told and self.in_blocks(rows, part):
                    held.setdefault(part.name, (rows, part))
        for name, (rows, part) in [*held.items()]:
            again = window.ref.step >= rows.parts() + self.batches
            if again or window.ended:
                del held[name]
                told.add(name)
                yield self.describe_rows(window, rows, part, again)

    def in_blocks(self, fact: StoredRows, leaf: StoredLeaf) -> bool:
        """Whether the rows of each class lie together."""
        skewed, parts = as_float(leaf.skewed), fact.parts()
        ends = skewed >= self.share / 2 and (1 - skewed) * parts <= leaf.classes - 1
        return parts >= self.batches and (skewed >= self.share or ends)

    def describe(self, window: Window, fact: BatchProfile, leaf: LeafProfile) -> Finding:
        """Build the finding with the label leaf and its entropy."""
        return self.finding(
            window,
            "warning",
            f"batches of {fact.loader.dataset} hold about one class of {leaf.path} (entropy {leaf.entropy or 0.0:.2f} "
            f"of {leaf.pooled_entropy or 0.0:.2f} nats over all, {leaf.skewed_run} batches in a row); expected a "
            "mixture. Shuffle: DataLoader(..., shuffle=True).",
            ref=fact.ref,
            place=at_loader(fact.loader, "shuffle"),
            entropy=leaf.entropy or 0.0,
            pooled=leaf.pooled_entropy or 0.0,
        )

    def describe_rows(self, window: Window, fact: StoredRows, leaf: StoredLeaf, again: bool) -> Finding:
        """Build the same of rows that the program takes itself."""
        then = "" if again else " Nothing if it is a stream that is read once."
        return self.finding(
            window,
            "warning" if again else "note",
            f"the {fact.length} rows of {leaf.name} lie class by class ({leaf.classes} classes), and each batch takes "
            f"{fact.rows} that lie one after the other: {as_float(leaf.skewed):.0%} of the {fact.parts()} batches hold "
            f"about one class (entropy {as_float(leaf.entropy):.2f} of {as_float(leaf.pooled):.2f} nats over all); "
            f"expected a mixture. Put the rows into a random order once, before the first batch.{then}",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.call),
            entropy=as_float(leaf.entropy),
            pooled=as_float(leaf.pooled),
        )
