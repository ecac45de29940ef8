"""Does a recurrent layer or an attention run along time?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RecurrentOverBatch(Check, frozen=True):
    """A recurrent layer or an attention takes the samples of the batch for the steps of one sequence.

    What it catches
        `nn.GRU`, `nn.LSTM`, `nn.RNN`, `nn.MultiheadAttention` or `nn.TransformerEncoderLayer` made without
        `batch_first=True` and given (batch, time, features).
    Why it matters
        The state runs from sample to sample, and each output sees one step of its own sequence and the same step of the
        samples before it; an attention mixes samples and never looks at another step. Nothing crashes, and what is
        learnt is little.
    How it decides
        On a copy in evaluation mode all samples but one change (the last, for a recurrent layer), and the output of
        that one changes with them. The layer was made with batch_first=False, its first dimension is the batch and its
        second is neither one nor as long, and the model gives one row a sample.
    What to do
        Pass batch_first=True, or transpose the input and the output.
    Example
        step 0, rank 0: rnn (train.py:14) has batch_first=False and is given the batch first, so its state runs along
        the samples and not along the 24 steps; expected steps in its first dimension. Pass batch_first=True.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "pass batch_first=True to the layer",
        "or give it (time, batch, features): x.transpose(0, 1)",
    )
    proved_by: ClassVar[str] = "model/tidal_gauge"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial == "over_batch" and fact.changed:
                runs = "it attends along the samples" if fact.function else "its state runs along the samples"
                yield self.finding(
                    window,
                    "warning",
                    f"{fact.module or fact.root}{spot(fact.frame)} has batch_first=False and is given the batch first, "
                    f"so {runs} and not along the {fact.length} steps; expected steps in its first dimension. Pass "
                    "batch_first=True.",
                    ref=fact.ref,
                    place=Place(module=fact.module, frame=fact.frame, argument="batch_first"),
                )
