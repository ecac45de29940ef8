"""Does the program get the columns that it asks for?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.dropped_column import DroppedColumn
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ColumnDropped(Check, frozen=True):
    """The Trainer leaves out a column that the loss or the collator asks for.

    What it catches
        `inputs.pop("weight", None)` in compute_loss, or `row.get("weight")` in a collator, while forward has no
        argument `weight`: Hugging Face's Trainer leaves such columns out (remove_unused_columns=True, the default).
    Why it matters
        The answer is None, or the default, in every step. Nothing fails and the loss is an unweighted one.
    How it decides
        At the first backward of a trainer, from its own list of the columns that it keeps: the training dataset
        delivers one that is not on it, and the user's compute_loss, training_step or collator asks for that key with
        get, pop or `in`, and uses the answer. A batch that has the key, or code that puts it there, is left alone, and
        so is a trainer that makes its loaders itself.
    What to do
        Pass remove_unused_columns=False.
    Example
        step 0, rank 0: compute_loss asks for 'weight' (train.py:48), which WeakLabels delivers and WeightedTrainer
        leaves out, as forward of Encoder has no such argument; expected that it comes. Pass
        TrainingArguments(remove_unused_columns=False).
    """

    needs: ClassVar[tuple[type[DroppedColumn]]] = (DroppedColumn,)
    kind: ClassVar[str] = "input_ignored"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "pass TrainingArguments(remove_unused_columns=False)",
        "or name the column in label_names of TrainingArguments: what stands there is kept",
        "ask without a default, inputs['weight'], so that a missing column fails",
    )
    proved_by: ClassVar[str] = "data/ferry_delays"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each column once."""
        for fact in window.new(DroppedColumn):
            yield self.finding(
                window,
                "warning",
                f"{fact.asked_by} asks for '{fact.column}' ({file_line(fact.frame)}), which {fact.dataset} delivers "
                f"and {fact.trainer} leaves out, as forward of {fact.model} has no such argument; expected that it "
                "comes. Pass TrainingArguments(remove_unused_columns=False).",
                ref=fact.ref,
                place=Place(frame=fact.frame),
            )
