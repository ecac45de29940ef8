"""Has each field of a table rows of its own?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.field_ids import FieldIds
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SHOWN = 6  # columns named


class FieldsShareRows(Check, frozen=True):
    """Several fields are looked up in one table that has rows for each, and share some of them.

    What it catches
        An embedding of `sum(field_sizes)` rows without the offsets of the fields (factorisation machines, DeepFM), or
        with offsets that are not cumulative.
    Why it matters
        Harbour 3 and weekday 3 are the same vector; the rest of the table is never read. The loss falls all the same.
    How it decides
        The ids that a model is given, as columns, go into a table unchanged. Each column begins at 0 or 1 and their
        lengths differ by `apart` times or more; together they are as long as the table, or up to a quarter shorter,
        so that it was made for all of them; and a quarter of it or more lies beyond the longest. Tokens of a text,
        which reach through the whole table in each column, are left alone. Where a number of its own is added to each
        column before, the fields fill the table together as above, and the rows of two of them meet in `meet` or more
        of the table: two fields that share rows on purpose do not fill a table that was made for one of them.
    What to do
        Add to each column the number of rows of those before it.
    Example
        step 63, rank 0: Factors looks up 4 columns with ids up to 11, 39, 89, 6 in linear (train.py:29) as they are:
        all share its first rows, and rows 90 to 148 of 149, which they fill together, are never read; expected rows of
        its own for each. Add the offsets of the fields (of the ids seen 0, 12, 52, 142).
    """

    needs: ClassVar[tuple[type[FieldIds]]] = (FieldIds,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "fields_share_rows"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "add the offsets: rows = ids + torch.tensor([0, *sizes[:-1]]).cumsum(0)",
        "or give each field a table of its own",
    )
    proved_by: ClassVar[str] = "model/fish_auctions"

    filled: float = 0.75  # share of the table that the fields fill together (ours: rare ids may not have come)
    unread: float = 0.25  # share beyond the longest field (ours)
    apart: float = 1.5  # times the shortest field (ours)
    meet: float = 0.1  # share of the table (ours: a row or two are codes for what is not known)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each model."""
        told = window.memory(self)
        for fact in window.new(FieldIds):
            together, longest = sum(fact.fields), max(fact.fields)
            fits = self.filled * fact.size <= together <= fact.size and fact.least <= 1
            beyond = fact.size - longest >= self.unread * fact.size
            if fact.root in told or not fits:
                continue
            if fact.offsets:
                if shared := self.shared(fact):
                    told[fact.root] = True
                    yield self.moved(window, fact, *shared)
                continue
            if not (beyond and longest >= self.apart * min(fact.fields)):
                continue
            told[fact.root] = True
            yield self.describe(window, fact, longest)

    def shared(self, fact: FieldIds) -> tuple[int, int, int] | None:
        """Find the two columns whose rows meet most, and in how many; None where all have rows of their own."""
        ranges = list(zip(fact.offsets, fact.fields, strict=True))
        found: list[tuple[int, int, int]] = []
        for (i, (low, size)), (j, (begin, length)) in combinations(enumerate(ranges), 2):
            rows = min(low + size, begin + length) - max(low, begin)
            if rows > 1 and rows >= self.meet * fact.size:
                found.append((i, j, rows))
        return max(found, key=lambda one: one[2], default=None)

    def moved(self, window: Window, fact: FieldIds, one: int, other: int, rows: int) -> Finding:
        """Build the finding of columns whose offsets do not keep them apart."""
        more = " ..." if len(fact.fields) > SHOWN else ""
        added = ", ".join(map(str, fact.offsets[:SHOWN]))
        wanted = ", ".join(str(sum(fact.fields[:place])) for place in range(min(len(fact.fields), SHOWN)))
        made = made_at((fact.made,) if fact.made is not None else ())
        spans = " and ".join(f"{fact.offsets[i]} to {fact.offsets[i] + fact.fields[i] - 1}" for i in (one, other))
        return self.finding(
            window,
            "warning",
            f"{fact.root} looks up {len(fact.fields)} columns in {fact.table or 'a table'}{spot(fact.frame)} with "
            f"{added}{more} added to them{made}, so that columns {one} and {other} read rows {spans} and share {rows} "
            f"of {fact.size}, though the table has rows for all; expected rows of its own for each. Add the sum of the "
            f"sizes of the fields before (of the ids seen {wanted}{more}).",
            ref=fact.ref,
            place=Place(frame=fact.made or fact.frame, symptom_frame=fact.frame, module=fact.table or None),
            size=fact.size,
            shared=rows,
        )

    def describe(self, window: Window, fact: FieldIds, longest: int) -> Finding:
        """Build the finding with the offsets that the ids seen need."""
        more = " ..." if len(fact.fields) > SHOWN else ""
        highest = ", ".join(str(size - 1) for size in fact.fields[:SHOWN])
        offsets = ", ".join(str(sum(fact.fields[:place])) for place in range(min(len(fact.fields), SHOWN)))
        return self.finding(
            window,
            "warning",
            f"{fact.root} looks up {len(fact.fields)} columns with ids up to {highest}{more} in "
            f"{fact.table or 'a table'}{spot(fact.frame)} as they are: all share its first rows, and rows {longest} to "
            f"{fact.size - 1} of {fact.size}, which they fill together, are never read; expected rows of its own for "
            f"each. Add the offsets of the fields (of the ids seen {offsets}{more}).",
            ref=fact.ref,
            place=Place(frame=fact.frame, module=fact.table or None),
            size=fact.size,
            longest=longest,
        )
