"""Does an evaluation read the scores of a model as training does?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.cut_scores import CutScores
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

BETWEEN = ("cut the probabilities: torch.sigmoid(scores) > 0.5", "or cut the scores at 0, which is the same")
COLUMN = (
    "cut the one score: (scores > 0).long().squeeze(-1)",
    "or give the model two outputs and train it with cross_entropy",
)


class ScoresMisread(Check, frozen=True):
    """An evaluation cuts scores at 0.5 as if they were probabilities, or asks which of one score is the largest.

    What it catches
        `model(x) > 0.5` or `torch.round(model(x))` beside BCEWithLogitsLoss, or beside a sigmoid that the loss alone
        applies; `argmax(1)` or `torch.max(out, 1)` of one column.
    Why it matters
        A score of 0 is a probability of 0.5, so all answers between 0 and 0.5 are counted as no: recall, accuracy and
        overlap are lower than the model is. The largest of one column is always number 0: accuracy is the share of
        class 0, whatever is learnt.
    How it decides
        In inspected steps the output of a model, or a view of it, is what `binary_cross_entropy_with_logits`,
        `logsigmoid` or `sigmoid` outside of the model is given. In an evaluation an output of that model, unchanged, is
        compared with exactly 0.5 or rounded to whole numbers, some of its values lie from 0 to 0.5, and not all are
        probabilities; or `argmax`, or `max` of a column, goes along a dimension of size 1.
    What to do
        Apply the sigmoid before the cut, or cut at 0.
    Example
        step 119, rank 0: the output of Sequential of shape (32, 1) is cut at 0.5 (train.py:31), and training gives it
        to binary_cross_entropy_with_logits (train.py:24) as scores, for which 0 is one half: 5 of 32 values lie
        between; expected a cut of probabilities. Cut torch.sigmoid(scores) at 0.5, or the scores at 0.
    """

    needs: ClassVar[tuple[type[CutScores]]] = (CutScores,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = BETWEEN
    proved_by: ClassVar[str] = "model/puffin_counts"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once."""
        told = window.memory(self)
        for fact in window.new(CutScores):
            if fact.frame not in told:
                told[fact.frame] = True
                yield (self.column if fact.column else self.cut)(window, fact)

    def cut(self, window: Window, fact: CutScores) -> Finding:
        """Build the finding of scores that are cut where probabilities are."""
        how = "rounded" if fact.function == "round" else "cut at 0.5"
        return self.finding(
            window,
            "warning",
            f"the output of {fact.root} of shape {fact.shape} is {how}{spot(fact.frame)}, and training gives it to "
            f"{fact.squashes}{spot(fact.train_frame)} as scores, for which 0 is one half: {fact.between} of "
            f"{fact.values} values lie between; expected a cut of probabilities. Cut torch.sigmoid(scores) at 0.5, or "
            "the scores at 0.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.train_frame),
        )

    def column(self, window: Window, fact: CutScores) -> Finding:
        """Build the finding of the largest of one."""
        return self.finding(
            window,
            "warning",
            f"{fact.function}{spot(fact.frame)} looks for the largest of one: it goes along a dimension of size 1 of "
            f"the output of {fact.root} of shape {fact.shape}, so the answer is always 0, and training gives it to "
            f"{fact.squashes}{spot(fact.train_frame)} as one score; expected a cut of it at 0. Cut the score, or use "
            "two outputs.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.train_frame),
            remedies=COLUMN,
        )
