"""Do the ids of a vocabulary run past the number of its entries?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.gapped_ids import GappedIds
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

COUNT = "Count an id up only where an entry is made, or size the tables by the largest id + 1"
LABEL = "label_out_of_range"
BEGIN = "Number the entries from 0, or give the tables one row more"


class IdsGapped(Check, frozen=True):
    """The ids of a vocabulary run past the number of its entries, and the program died of one of them.

    What it catches
        Words numbered by `enumerate` before the rare ones are left out, entries that were deleted, ids that begin at 1:
        a table sized by `len(vocabulary)` has no row for the last of them.
    Why it matters
        The exception names an index that an ordinary word has: no sample is at fault, and ids below the length already
        read rows of other words.
    How it decides
        An index was refused, and it is the id of an entry of a dict that the program holds, in which no id stands
        twice. What it was used on is as long as the dict (or has up to four rows more). Where the ids begin above 0 and
        the table is asked for a smaller number, too (its padding), the line of its size is the one to change.
    What to do
        Count ids up only where an entry is made; or size the tables by the largest id + 1.
    Example
        step 59, rank 0: index 345 was refused by what has 345 entries: it is the id of 'oak' in Reader.ids, whose 345
        entries have ids 0..2012 (filled at reader.py:45, counted at reader.py:42 also where no entry is made); expected
        ids 0..344. Count an id up only where an entry is made, or size the tables by the largest id + 1.
    """

    needs: ClassVar[tuple[type[GappedIds]]] = (GappedIds,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "token_out_of_range"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "count an id up only where an entry is made: ids[word] = len(ids)",
        "size the tables by the largest id: max(ids.values()) + 1",
    )
    proved_by: ClassVar[str] = "data/mill_ledgers"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding for the dict."""
        for fact in window.new(GappedIds):
            yield self.describe(window, fact)

    def describe(self, window: Window, fact: GappedIds) -> Finding:
        """Which entry, which ids, and the line that counts them."""
        begin = fact.low > 0 and fact.high - fact.low + 1 == fact.entries
        taken = begin and fact.below is not None and fact.sized is not None
        more = f"Give the table {fact.high + 1} rows{spot(fact.sized)}: {fact.below} is in use beside the entries"
        advice = more if taken else BEGIN if begin else COUNT
        lines = [f"filled at {file_line(fact.filled)}"] if fact.filled is not None else []
        lines += (
            [f"counted at {file_line(fact.counted)} also where no entry is made"] if fact.counted is not None else []
        )
        how = f" ({', '.join(lines)})" if lines else ""
        return self.finding(
            window,
            "error",
            f"index {fact.number}{spot(fact.symptom)} was refused by what has {fact.size} entries: it is the id of "
            f"{fact.entry} in {fact.name}, whose {fact.entries} entries have ids {fact.low}..{fact.high}{how}; "
            f"{f'expected {fact.high + 1} rows' if taken else f'expected ids 0..{fact.entries - 1}'}. {advice}.",
            ref=fact.ref,
            place=Place(
                frame=fact.sized if taken else fact.counted or fact.filled or fact.symptom, symptom_frame=fact.symptom
            ),
            kind=LABEL if fact.of_loss else None,
            remedies=(advice[0].lower() + advice[1:],) if begin else self.remedies,
            entries=fact.entries,
            high=fact.high,
        )
