"""Does an evaluation speak the language of training?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.unseen_token import UnseenToken as Unseen
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class UnseenToken(Check, frozen=True):
    """A good part of the ids of an evaluation is one id that training never uses.

    What it catches
        Text that is lower-cased for training and not for the evaluation or the service, another splitting of words, a
        vocabulary of another language: all that is not found becomes the id for unknown words.
    Why it matters
        Training looks perfect and the evaluation reads nothing but unknown words; or the service does, after it.
    How it decides
        Ids handed to the same model with gradients (the first 64 calls) and without. One id is at least `share` of an
        evaluation's and hardly any (below 0.1 %) of training's, in `calls` evaluations or in one of at least `tokens`
        ids. It stands at three positions of a row or more, none of them with most of its places, with other ids on both
        sides: padding stands at the end, a special token or a column of a table at one position.
    What to do
        Use one function for both: the same lower-casing, splitting and vocabulary.
    Example
        step 24, rank 0: 33% of the 1800 ids that Intent is given without gradients (train.py:60) are 1, which is 0 of
        the 4800 ids of training; expected the same text. Encode both with the same function.
    """

    needs: ClassVar[tuple[type[Unseen]]] = (Unseen,)
    kind: ClassVar[str] = "tokenizer_mismatch"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "encode training and evaluation with the same function: lower-casing, splitting, vocabulary",
        "compare them on your own text: `debug-tracer tokenizers TRAINING SERVING --probes FILE`",
    )
    proved_by: ClassVar[str] = "data/market_cries"

    share: float = 0.1
    """Of the ids of an evaluation (ours: real text has a few percent of unknown words)."""
    calls: int = 2
    """Evaluation calls (ours)."""
    tokens: int = 512
    """Ids of one call that is enough alone (ours)."""
    inside: float = 0.5
    """Share of its places with other ids on both sides (ours: padding has none)."""
    column: float = 0.5
    """Share of its places at one position (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once a root and id."""
        memory = window.memory(self)
        for fact in window.new(Unseen):
            spread = fact.columns > 2 and fact.column_share <= self.column and fact.inside >= self.inside
            if fact.share < self.share or not spread or fact.trained_tokens < self.tokens:
                continue
            seen = memory.setdefault((fact.root, fact.token), [])
            seen.append(fact)
            enough = len(seen) >= self.calls or fact.tokens >= self.tokens
            if enough and ("told", fact.root) not in memory:
                memory["told", fact.root] = True
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: Unseen) -> Finding:
        """Build the finding with both shares."""
        return self.finding(
            window,
            "warning",
            f"{fact.share:.0%} of the {fact.tokens} ids that {fact.root} is given without gradients{spot(fact.frame)} "
            f"are {fact.token}, which is {fact.trained:.2g} of the {fact.trained_tokens} ids of training; expected the "
            "same text. Encode both with the same function.",
            ref=fact.ref,
            place=Place(frame=fact.made or fact.frame, symptom_frame=fact.frame),
            share=fact.share,
            token=float(fact.token),
        )
