"""Does the vocabulary know what the training data are made of?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.unknown_ids import UnknownIds
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class VocabularyForeign(Check, frozen=True):
    """Most ids of the training data are the one that stands for what is in no vocabulary.

    What it catches
        A vocabulary that is made of the validation file, of a part of the data, or of other spellings: what it does not
        know gets the id behind its last entry, and all of it shares one row of the table.
    Why it matters
        Nothing fails. One row stands for most of what is to be learnt; with `padding_idx` it is never trained at all.
    How it decides
        The dataset holds a dict whose entries are numbered from 0 on. Two columns of the batch or more have one id a
        row, none beyond the length of that dict, and in each of them `share` of the rows or more have that length as
        their id, in `looks` looks. One column alone may be a field that is often left empty, and a text is padded:
        neither is judged.
    What to do
        Make the vocabulary of the data that are trained on.
    Example
        step 1, rank 0: id 199, which none of the 199 entries of Triples.ids (train.py:89) has, stands in 164 and 161 of
        256 rows of batch[0] and batch[2] (made at data.py:44); expected a few: all of them share one row of the table.
        Make the vocabulary of the data that are trained on.
    """

    needs: ClassVar[tuple[type[UnknownIds]]] = (UnknownIds,)
    kind: ClassVar[str] = "tokenizer_mismatch"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "make the vocabulary of the data that are trained on",
        "count what the vocabulary does not know, and stop where that is more than a few in a hundred",
    )
    proved_by: ClassVar[str] = "data/guild_ledgers"

    looks: int = 2  # inspected steps (ours)
    share: float = 0.4  # of the rows of each column (ours: rare words that are left out are a tenth of a text)
    columns: int = 2  # of one vocabulary: none of them is a field that may be empty (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each vocabulary; said once."""
        memory = window.memory(self)
        for fact in window.new(UnknownIds):
            most = len(fact.columns) >= self.columns and min(fact.unknown) >= self.share * fact.rows
            memory[fact.key()] = memory.get(fact.key(), 0) + most
            if most and memory[fact.key()] == self.looks:
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: UnknownIds) -> Finding:
        """Which id, of how many rows, and the line of the vocabulary."""
        of = f" ({file_line(fact.frame)})" if fact.frame is not None else ""
        made = f" (made at {file_line(fact.made)})" if fact.made is not None else ""
        return self.finding(
            window,
            "warning",
            f"id {fact.entries}, which none of the {fact.entries} entries of {fact.name}{of} has, stands in "
            f"{' and '.join(map(str, fact.unknown))} of {fact.rows} rows of {' and '.join(fact.columns)}{made}; "
            "expected a few: all of them share one row of the table. Make the vocabulary of the data that are trained "
            "on.",
            ref=fact.ref,
            place=Place(frame=fact.frame or fact.made, symptom_frame=fact.made),
            unknown=sum(fact.unknown),
            rows=fact.rows,
        )
