"""Is each row's score with itself left out of a contrastive loss?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.own_scores import OwnScores
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class OwnScored(Check, frozen=True):
    """A contrastive loss counts the score of each row with itself.

    What it catches
        NT-Xent or a supervised contrastive loss without the mask of the diagonal: the row itself is one of the
        negatives. Targets `torch.arange(2 * n)` where the other view is n rows away: the row itself is the answer.
    Why it matters
        Nothing is as like a row as the row itself. As a negative it is most of the sum, so the loss has a floor and
        its gradient hardly sees the true negatives; as the answer it is right from the first step, and nothing brings
        the two views of a sample together.
    How it decides
        A square of scores with a graph is a product of rows with themselves: the same when turned, and at least 95 % of
        the rows score highest with themselves. In `looks` inspected steps it comes, scaled or shifted by a number or
        by one number a row alone, into `cross_entropy`, `log_softmax` or `logsumexp`, or its exponentials are summed
        by rows into the loss and nothing is taken away from the sums, and the scores of the rows with themselves are
        `share` of them or more, and `times` what one of so many has. With `cross_entropy` the targets are the rows
        themselves, all of them, or none of them.
    What to do
        Take the diagonal out before the softmax: `scores.fill_diagonal_(float("-inf"))`, and count the targets with
        it in place.
    Example
        step 1, rank 0: the scores of 128 rows with one another (train.py:14) come into cross_entropy (train.py:16) with
        that of each row with itself, which has 62 % of the softmax on average and is never the target, in 2 looks;
        expected the other rows alone. Take the diagonal out: scores.fill_diagonal_(float("-inf")).
    """

    needs: ClassVar[tuple[type[OwnScores]]] = (OwnScores,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        'take the diagonal out before the softmax: scores.fill_diagonal_(float("-inf"))',
        "or multiply the exponentials with 1 - torch.eye(n) before they are summed",
    )
    proved_by: ClassVar[str] = "model/guillemot_eggs"

    looks: int = 2
    """Inspected steps in which it is seen (ours)."""
    share: float = 0.03
    """Of the softmax that the rows themselves have, on average (ours: less changes little)."""
    times: float = 2.0
    """What one of so many rows would have (ours: at a high temperature all rows have the same)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once."""
        memory = window.memory(self)
        for fact in window.new(OwnScores):
            share = as_float(fact.share)
            if not fact.wanted and (share < self.share or share * fact.rows < self.times):
                continue
            steps = memory[fact.frame] = memory.get(fact.frame, set()) | {fact.ref.step}
            if len(steps) == self.looks and fact.ref.step == max(steps):
                yield (self.answer if fact.wanted else self.counted)(window, fact)

    def counted(self, window: Window, fact: OwnScores) -> Finding:
        """The row itself is one of the negatives."""
        never = " and is never the target" if fact.function == "cross_entropy" else ""
        into = "are summed as exponentials" if fact.function == "exp" else f"come into {fact.function}"
        return self.finding(
            window,
            "warning",
            f"the scores of {fact.rows} rows with one another{spot(fact.scores_frame)} {into}{spot(fact.frame)} with "
            f"that of each row with itself, which has {as_float(fact.share):.0%} of the sum on average{never}, in "
            f"{self.looks} looks; expected the other rows alone. Take the diagonal out: "
            'scores.fill_diagonal_(float("-inf")).',
            ref=fact.ref,
            place=Place(frame=fact.scores_frame, symptom_frame=fact.frame),
        )

    def answer(self, window: Window, fact: OwnScores) -> Finding:
        """The row itself is the answer."""
        return self.finding(
            window,
            "warning",
            f"the target of each of {fact.rows} rows in {fact.function}{spot(fact.frame)} is the row itself, and the "
            f"scores are those of the rows with one another{spot(fact.scores_frame)}, in {self.looks} looks: it is "
            "right whatever is learnt; expected the other view of the sample as the target. Take the diagonal out and "
            "count the targets without it.",
            ref=fact.ref,
            place=Place(frame=fact.target_frame or fact.frame, symptom_frame=fact.frame),
            remedies=(
                "let the target be the other view: (torch.arange(2 * n) + n) % (2 * n) behind torch.cat([one, other])",
                'and take the diagonal out before: scores.fill_diagonal_(float("-inf"))',
            ),
        )
