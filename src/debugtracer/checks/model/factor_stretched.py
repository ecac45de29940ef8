"""Does each row of a batch get the factor that is its own?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.stretched_factors import StretchedFactors
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class FactorStretched(Check, frozen=True):
    """One value for each row is lined up with the last dimension of the batch, which has the same size.

    What it catches
        `alphas[t] * x` with t of shape (B,) and x of shape (B, C, H, W), where B is W: the shares of a diffusion model,
        the times of a flow, weights of samples, without a `view(-1, 1, 1, 1)`.
    Why it matters
        Broadcasting begins at the last dimension, so each column gets the value of another row. With any other size
        of the batch the line would raise; with this one nothing crashes, and what a row is told of itself is not so.
    How it decides
        One value for each row: drawn in the step or stacked by the loader, and the same values are given an axis behind
        them or looked up in an embedding, one for each row. These values, or what is computed of them or picked by
        them from a table, meet a tensor of the loader (or noise like it) along its last dimension, in `looks` inspected
        steps. A line where both sizes were ever different lines up what it means to.
    What to do
        `alphas[t].view(-1, 1, 1, 1) * x`.
    Example
        step 1, rank 0: mul (diffusion.py:13) lines up 16 values, one for each row (randint at train.py:62), with the
        last dimension of (16, 1, 16, 16): each column gets the value of another row; expected the shape (16, 1, 1, 1).
        Use view(-1, 1, 1, 1).
    """

    needs: ClassVar[tuple[type[StretchedFactors]]] = (StretchedFactors,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "give the values an axis of size 1 for each further dimension: values.view(-1, 1, 1, 1)",
        "try a batch of another size: the line raises then",
    )
    proved_by: ClassVar[str] = "model/sand_ripples"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(StretchedFactors):
            memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if memory[fact.frame] != self.looks:
                continue
            rows, ones = fact.shape[0], (1,) * (len(fact.shape) - 1)
            source = (
                f"{fact.source} at {file_line(fact.source_frame)}" if fact.source_frame is not None else fact.source
            )
            view = f"view({', '.join(map(str, (-1, *ones)))})"
            yield self.finding(
                window,
                "warning",
                f"{fact.function}{spot(fact.frame)} lines up {rows} values, one for each row ({source}), with the last "
                f"dimension of {fact.shape}: each column gets the value of another row; expected the shape "
                f"{(rows, *ones)}. Use {view}.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.column_frame),
            )
