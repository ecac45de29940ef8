"""Does every feature still move?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import at_loader, which
from debugtracer.trace.facts.batch_content import BatchOddity, BatchProfile
from debugtracer.trace.facts.stored_rows import StoredLeaf, StoredRows
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ConstantFeature(Check, frozen=True):
    """A feature that always varied has one value in whole batches.

    What it catches
        A sensor that died, a column filled with a default from one file on, an image channel lost by a decoder,
        over-clipping.
    Why it matters
        The model goes on training on a feature that tells nothing; normalised by its own spread it becomes 0/0.
    How it decides
        A column, plane or channel of a floating tensor has one value in a batch of at least 8 rows, and had more than
        one in every batch of the first 50 looks. What stood still while learning, or moves again later (masks, one-hot
        and sparse columns), is left alone. `batches` such training batches in a row are a warning; of many sparse
        columns one stands still for a batch by chance. Of stored data that a program without a loader takes its rows
        from, the same is asked of the rows as they lie, up to the last one. With `from_first` (`--preset seed`) a
        floating tensor that holds one value in the batches looked at is a note too.
    What to do
        Find the file or the time from which it stands still; drop the feature or repair its source.
    Example
        step 64, rank 0: channel 2 of batch[0] is 0 in all rows of 5 batches in a row, up to batch 64 of Stations
        (train.py:27); it varied in the 60 batches before; expected a feature that varies. Find the file from which it
        stands still.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity, BatchProfile, StoredRows)
    kind: ClassVar[str] = "data_constant_feature"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "find the file or the time from which the feature stands still, and repair its source",
        "drop the feature",
    )
    proved_by: ClassVar[str] = "data/silent_gauge"

    batches: int = 5  # in a row, before it is told (ours)
    from_first: bool = False  # whether a tensor of standard deviation 0 is told from the first batch on

    def judge(self, window: Window) -> Iterator[Finding]:
        """A warning when it lasts."""
        if self.from_first:
            yield from self.flat(window)
        runs = window.memory(self)
        for rows in window.new(StoredRows):
            for leaf in rows.leaves:
                if leaf.stopped and leaf.name not in runs:
                    runs[leaf.name] = True
                    yield self.describe_rows(window, rows, leaf)
        for fact in window.new(BatchOddity):
            if fact.what != "constant":
                continue
            key = (fact.loader.number, fact.path, fact.channel)
            run, last = runs.get(key, (0, None))
            run = run + 1 if last is not None and fact.looked - last <= 1 else 1
            runs[key] = (run, fact.looked)
            if run != self.batches or not fact.training:
                continue
            yield self.finding(
                window,
                "warning",
                f"channel {fact.channel} of {fact.path} is {as_float(fact.value):g} in all rows of {run} batches in a "
                f"row, up to {which(fact.batch, fact.loader)}; it varied in the {fact.looked + 1 - run} "
                "batches before; expected a feature that varies. Find the file from which it stands still.",
                ref=fact.ref,
                place=at_loader(fact.loader),
                value=as_float(fact.value),
                batches=run,
            )

    def describe_rows(self, window: Window, fact: StoredRows, leaf: StoredLeaf) -> Finding:
        """Build the warning for a column of stored data."""
        one = leaf.stopped[0]
        return self.finding(
            window,
            "warning",
            f"column {one.column} of {leaf.name} is {as_float(one.value):g} in the last {fact.length - one.row} of "
            f"{fact.length} rows, from row {one.row} on; it varies among the rows before; expected a feature that "
            "varies. Find the file or the time of that row.",
            ref=fact.ref,
            place=Place(frame=(*leaf.made, fact.frame)[0], symptom_frame=fact.call, sample_index=(one.row,)),
            value=as_float(one.value),
            row=one.row,
        )

    def flat(self, window: Window) -> Iterator[Finding]:
        """Yield a note for each floating tensor of a training loader that holds one value alone."""
        for fact in window.new(BatchProfile):
            for leaf in fact.leaves:
                if fact.training and leaf.role == "float" and leaf.low == leaf.high:
                    yield self.finding(
                        window,
                        "note",
                        f"{leaf.path} of {fact.loader.dataset} is {as_float(leaf.low):g} in every element of every "
                        f"batch looked at ({fact.looked}); expected values that vary. Look at what the dataset "
                        "returns.",
                        ref=fact.ref,
                        place=Place(module=leaf.path, frame=at_loader(fact.loader).frame),
                        value=as_float(leaf.low),
                    )
