"""Does the model stop dropping values when it is evaluated?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DropoutLeftOn(Check, frozen=True):
    """A dropout that `model.eval()` does not turn off.

    What it catches
        `F.dropout(x, 0.5)` without `training=self.training`; `nn.Dropout(0.5)(x)` made anew in each forward, or kept in
        a plain list; a `dropout_p` of `scaled_dot_product_attention`, which knows of no mode.
    Why it matters
        Evaluation and service drop values too: metrics are lower than the model is good for, and differ from run to
        run.
    How it decides
        On a copy in evaluation mode, once: two runs on the same input differ, and are equal bit for bit when the
        dropouts are off that take their default, belong to a module that the model does not hold, or are those of an
        attention. A dropout that is told `training=True` is meant (Monte Carlo dropout).
    What to do
        Pass `training=self.training` (to an attention `dropout_p=self.p if self.training else 0.0`), or make one
        `nn.Dropout` in `__init__`.
    Example
        step 0, rank 0: dropout (train.py:22) drops values in evaluation mode too: two runs of Net on one input differ,
        and do not without it; expected the same output twice. Pass training=self.training, or make an nn.Dropout in
        __init__.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    kind: ClassVar[str] = "train_eval_mode"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "pass training=self.training to F.dropout, dropout_p=self.p if self.training else 0.0 to an attention",
        "make one nn.Dropout in __init__ and call it in forward",
    )
    proved_by: ClassVar[str] = "model/pump_alarms"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial == "dropout_left_on" and fact.changed:
                yield self.finding(
                    window,
                    "warning",
                    f"dropout{spot(fact.frame)} drops values in evaluation mode too: two runs of {fact.root} on one "
                    "input differ, and do not without it; expected the same output twice. Pass "
                    "training=self.training, or make an nn.Dropout in __init__.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame, module=fact.module),
                )
