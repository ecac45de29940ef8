"""Can the array that ids are read from name each row of their table?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.narrow_ids import NarrowIds
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

PADDED = 64  # tables are rounded up to a multiple of it


class IdsWrapped(Check, frozen=True):
    """Ids are stored as integers that cannot name each row of their table.

    What it catches
        Tokens of a vocabulary of 382 words in a file of uint8, those of one of 128256 in uint16, 365 classes in uint8:
        the cast keeps the remainder and says nothing, and 300 is 44 from then on.
    Why it matters
        Two words are one, and a part of the table is never trained. Validation is stored the same way, so its loss
        looks as good.
    How it decides
        The ids that are looked up, or are the classes of a loss, were found in an array of uint8 or uint16: of the
        dataset, of a running function, of a file that was opened with np.memmap; or the batch itself is one. The table
        has `larger` times the rows that such a number can name, so that no few special tokens explain it. The numbers
        of the array go on as far as the type: its largest is in the last 64th, and of its highest 16th nearly as many
        occur as of the others. Bytes of a text do not (0xF5 to 0xFF are in no UTF-8), nor do 50257 tokens in uint16.
        For uint8 it is a note where the table has a multiple of 64 rows, for pixels may be looked up in one that is
        rounded up, and where a loss has more than twice the classes, for 256 may be trained with a head of 1000.
    What to do
        Store them in a type that holds the vocabulary (uint16 to 65536, else uint32), and write the file anew.
    Example
        step 4, rank 0: the ids of packets (450 rows) (train.py:42) are read from OrderBook.orders, which is uint8 and
        holds no number above 255: rows 256 to 449 can never be named, though ids go up to 255 (all of the highest 16);
        expected a type that holds 449. Ids above 255 were stored as others: use int16 and store them anew.
    """

    needs: ClassVar[tuple[type[NarrowIds]]] = (NarrowIds,)
    kind: ClassVar[str] = "ids_wrapped"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "store the ids in a type that holds the vocabulary, and make the file anew: "
            "assert ids.max() <= np.iinfo(dtype).max"
        ),
    )
    proved_by: ClassVar[str] = "data/seed_packets"

    larger: float = 1.25
    """Times the numbers of the type (ours: bytes with a hundred special tokens are no text of bytes alone)."""
    dense: float = 0.5
    """Share of the highest sixteenth of the 256 numbers, of that of the others (ours)."""
    dense_wide: float = 0.2
    """The same of 65536 (ours: what is rare in a vocabulary stands at its end)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each array."""
        told = window.memory(self)
        for fact in window.new(NarrowIds):
            if fact.source not in told and self.is_cut(fact):
                told[fact.source] = True
                yield self.describe(window, fact)

    def is_cut(self, fact: NarrowIds) -> bool:
        """Whether the numbers go on as far as their type, and the table much further."""
        least = self.dense if fact.limit < 1 << 8 else self.dense_wide
        at_end = fact.largest >= fact.limit - fact.limit // 64
        return fact.size >= self.larger * (fact.limit + 1) and at_end and fact.top >= least * fact.below > 0

    def describe(self, window: Window, fact: NarrowIds) -> Finding:
        """Build the finding with the rows that cannot be named."""
        wide_head = not fact.table and fact.size > 2 * (fact.limit + 1)
        other = fact.limit < 1 << 8 and (fact.size % PADDED == 0 or wide_head)
        what = f"{fact.table} ({fact.size} rows)" if fact.table else f"the loss ({fact.size} classes)"
        wide = "int16 or uint16" if fact.size <= 1 << 16 else "int32 or uint32"
        return self.finding(
            window,
            "note" if other else "warning",
            f"the ids of {what}{spot(fact.frame)} are read from {fact.source}, which is "
            f"{fact.dtype} and holds no number above {fact.limit}{made_at(fact.made)}: rows {fact.limit + 1} to "
            f"{fact.size - 1} can never be named, though ids go up to {fact.largest} ({fact.top:.0%} of the highest "
            f"{(fact.limit + 1) // 16} occur); expected a type that holds {fact.size - 1}. Ids above {fact.limit} were "
            f"stored as others: use {wide} and store them anew.",
            ref=fact.ref,
            place=Place(
                frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame, module=fact.table or None
            ),
            size=fact.size,
            limit=fact.limit,
        )
