"""Which sample held the number that an index was made of which was refused?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import named
from debugtracer.trace.facts.gapped_ids import GappedIds
from debugtracer.trace.facts.outside_record import OutsideRecord
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

MEND = "mend the record, or leave it out where the records are listed"
MAP = "map the labels to 0..classes-1 where the dataset makes them"
FEW = 2  # samples still to come with such a number that are no class of their own (ours)
ROOM = "give the table, and the last layer, a row for each class of the data"


class IdOutside(Check, frozen=True):
    """The program died of an index that one record of the data asked for.

    What it catches
        A record with a class that the model does not have, or one numbered from 1 among those numbered from 0, where
        the program looks it up by itself: `torch.eye(classes)[labels]`, `weights[labels]`, a gather or scatter.
    Why it matters
        The exception names a number, and a line that took all batches before. The record is one of thousands, and
        comes up at another step with each seed.
    How it decides
        An index was refused. The samples of the batch in flight are fetched again, and those of batches that the line
        took: there is one place in them at which few samples of this batch hold the number that was refused (or one
        less or more, where the program counts the background) and the others only what fits. The line of the text file
        is told where the name of the record stands on one line alone, in a file that the program names. Where a loss or
        an embedding of torch refused it, whose checks name the sample, it speaks only if it knows that line; where the
        ids of a vocabulary have gaps (data/ids-gapped) not at all.
    What to do
        Mend the record or leave it out; or give the table a row for that class.
    Example
        step 14, rank 0: index 5 (utils.py:227) was refused by what has 5 entries: sample 62 (000062.jpg, train.txt:63)
        holds 4 in its part [2], and 112 others hold 0..3 there; expected 0..3. Mend the record, or leave it out where
        the records are listed.
    """

    needs: ClassVar[tuple[type, ...]] = (OutsideRecord, GappedIds)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "label_out_of_range"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (MEND, MAP, ROOM)
    proved_by: ClassVar[str] = "data/orchard_tags"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding for the samples."""
        for fact in window.new(OutsideRecord):
            if window.last(GappedIds) is None and (fact.lookup or (fact.record is not None and fact.alike <= FEW)):
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: OutsideRecord) -> Finding:
        """The record, what it holds, and what the others hold."""
        known = [fact.name] if fact.name else []
        known += [file_line(fact.record)] if fact.record is not None else []
        called = f" ({', '.join(known)})" if known else ""
        where = f"in its part {fact.path}" if fact.path else "itself"
        one = len(fact.samples) == 1
        held = (
            f"holds {fact.value} {where}" if one else f"hold numbers without a place {where}, {fact.value} among them"
        )
        many = fact.alike > FEW
        others = f"; so do {fact.alike} of {fact.ahead} that no batch has had yet" if fact.alike else ""
        added = fact.number - fact.value
        plus = f", to which the program adds {added}" if added else ""
        remedies = (ROOM, MAP, MEND) if many else self.remedies
        first = remedies[0][0].upper() + remedies[0][1:]
        from_zero = fact.value >= 0 or not fact.lookup
        expected = f"0..{fact.size - 1 - added}" if from_zero else f"at least {-added}"
        return self.finding(
            window,
            "error",
            f"index {fact.number}{spot(fact.symptom)} was refused by what has {fact.size} entries: "
            f"{named(fact.samples)}{called} {held}{plus}, and {fact.beside} others hold "
            f"{fact.low}..{fact.high} there{others}; expected {expected}. {first}.",
            ref=fact.ref,
            place=Place(
                frame=(None if many else fact.record) or fact.made or fact.symptom,
                symptom_frame=fact.symptom,
                sample_index=fact.samples,
            ),
            remedies=remedies,
            exact=not many,
            value=fact.value,
        )
