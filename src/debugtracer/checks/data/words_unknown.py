"""Does the vocabulary know the words of the training data?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.unknown_words import UnknownWords
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

Counts = tuple[int, int, int]  # words, unknown ones, shared ones


class WordsUnknown(Check, frozen=True):
    """Most words of the training texts, or many of one side of a pair and none of the other, are the unknown word.

    What it catches
        A vocabulary that is made of the validation file, of premises without hypotheses, or of words in another
        spelling than that in which they are looked up (`w.upper()` in a table of lower-case words).
    Why it matters
        Nothing fails. Words that are not in the vocabulary share one row of the table: what they say is lost.
    How it decides
        The program holds one dict that numbers words without gaps, as many as the table of weights has rows (two more
        at most), with a word for unknown ones (`<unk>`, `[UNK]`, `oov`). In `looks` inspected steps of training with
        `words` words or more, that word is `most` of what the table is given in a call, padding left out. Or the table
        is given two texts or more, one of which has no unknown word at all, and `some` of the words of another one are
        unknown, while `common` of its other words stand in the first, too: the vocabulary was made of the first alone.
        A text that is another one with words left out (word dropout) is left alone. Where `lost` or more are unknown,
        the spelling is another one, and the line that writes the ids is named.
    What to do
        Make the vocabulary of all texts that are trained on, with the same spelling.
    Example
        step 2, rank 0: `<unk>` (id 1 of 82 in vocab, train.py:8) is 79 % of 812 words that the table (model.py:9) is
        given in 3 looks; expected a few in a hundred. Make the vocabulary of the texts that are trained on, and look
        words up in the spelling in which it has them.
    """

    needs: ClassVar[tuple[type[UnknownWords]]] = (UnknownWords,)
    kind: ClassVar[str] = "tokenizer_mismatch"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "make the vocabulary of all texts that are trained on",
        "spell words the same way where the vocabulary is made and where they are looked up",
        "count what the vocabulary does not know, and stop where that is more than a few in a hundred",
    )
    proved_by: ClassVar[str] = "data/tide_notices"

    looks: int = 3  # inspected steps (ours)
    words: int = 300  # of a call in them (ours)
    most: float = 0.5  # of the words of a call (ours: a vocabulary of frequent words leaves out a tenth)
    some: float = 0.1  # of the words of one text, where another one has none (ours)
    lost: float = 0.95  # of the words: the vocabulary has them in another spelling (ours)
    common: float = 0.8  # of its known words that stand in the other, too (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Add up the looks at each vocabulary; said once."""
        memory = window.memory(self)
        for fact in window.new(UnknownWords):
            said, seen, before = memory.get(fact.name, (False, 0, ()))
            now: list[Counts] = list(zip(fact.words, fact.unknown, fact.shared, strict=True))
            if len(before) == len(now):
                now = [(a + x, b + y, c + z) for (a, b, c), (x, y, z) in zip(before, now, strict=True)]
            elif seen:
                seen = 0
            found = None if said or seen + 1 < self.looks else self.found(now)
            memory[fact.name] = (said or found is not None, seen + 1, tuple(now))
            if found is not None:
                yield self.describe(window, fact, now, *found)

    def found(self, counts: list[Counts]) -> tuple[int, int | None] | None:
        """The call with most unknown words, and the one that has none where that is what tells; None where neither is
        so."""
        shares = [unknown / words if words >= self.words else 0.0 for words, unknown, _ in counts]
        worst = max(range(len(counts)), key=lambda at: shares[at])
        if shares[worst] >= self.most:
            return worst, None
        words, unknown, shared = counts[worst]
        whole = [at for at, one in enumerate(counts) if one[0] >= self.words and not one[1]]
        if whole and shares[worst] >= self.some and shared >= self.common * (words - unknown):
            return worst, whole[0]
        return None

    def describe(
        self, window: Window, fact: UnknownWords, counts: list[Counts], worst: int, whole: int | None
    ) -> Finding:
        """Build the finding at the line that makes the vocabulary."""
        words, unknown, _ = counts[worst]
        named = f"`{fact.spelt}` (id {fact.number} of {fact.entries} in {fact.name}{at_vocabulary(fact)})"
        column = fact.columns[worst] or f"what the table{spot(fact.read_frame)} is given in call {worst + 1}"
        lost = whole is None and unknown >= self.lost * words and fact.written is not None
        if whole is not None:
            beside = f"and none of {counts[whole][0]} words of {fact.columns[whole] or f'call {whole + 1}'}, "
            beside += f"in {self.looks} looks; expected one vocabulary of both"
            todo = "Make it of both texts."
        else:
            beside = f"in {self.looks} looks; expected a few in a hundred"
            todo = "Make the vocabulary of the texts that are trained on, and look words up in its spelling."
        if lost:
            todo = f"Look words up in the spelling in which the vocabulary has them{spot(fact.written)}."
        return self.finding(
            window,
            "warning",
            f"{named} is {100 * unknown / words:.0f} % of {words} words of {column}, {beside}. {todo}",
            ref=fact.ref,
            place=Place(
                frame=fact.written if lost else fact.frame, symptom_frame=fact.frame if lost else fact.read_frame
            ),
            share=unknown / words,
        )


def at_vocabulary(fact: UnknownWords) -> str:
    """Format the line of the vocabulary as `, train.py:53`, or nothing where it is not known."""
    return f", {spot(fact.frame)[2:-1]}" if fact.frame is not None else ""
