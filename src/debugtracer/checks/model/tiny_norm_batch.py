"""Do batch norms see enough values?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.norm_batch import NormBatch
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TinyNormBatch(Check, frozen=True):
    """Batch norm normalises over a handful of values.

    What it catches
        Training with two to four samples a batch (or a rank) and BatchNorm1d, or a batch norm behind a global pooling.
    Why it matters
        Over two values every output is +1 or -1 whatever the input is; over four the statistics are noise. In
        evaluation the running statistics give something else.
    How it decides
        Values of one channel in the input of batch_norm in training mode, in `looks` inspected steps in a row. Two
        values of a plain (batch, channels) input are a warning, since nothing of the input is left; up to four, and
        pooled maps, are a note.
    What to do
        Use a larger batch, SyncBatchNorm over ranks, GroupNorm or LayerNorm.
    Example
        step 0, rank 0: batch norm 1 (of 1) normalises over 2 values of a channel (input (2, 32)) in 3 steps: each
        output is +1 or -1; expected more than 4. Use a larger batch or GroupNorm.
    """

    needs: ClassVar[tuple[type[NormBatch]]] = (NormBatch,)
    kind: ClassVar[str] = "norm_degenerate_batch"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "use a larger batch, or SyncBatchNorm over ranks",
        "use GroupNorm or LayerNorm instead",
    )
    proved_by: ClassVar[str] = "model/paired_batches"

    looks: int = 3
    """Inspected steps in a row (the first three steps are inspected)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per run, after several such batches in a row."""
        memory = window.memory(self)
        for fact in window.new(NormBatch):
            run = memory.setdefault("run", [])
            if run and fact.look != run[-1].look + 1:
                run.clear()
            run.append(fact)
            if len(run) >= self.looks and "told" not in memory:
                memory["told"] = True
                yield self.describe(window, run[-self.looks :])

    def describe(self, window: Window, run: list[NormBatch]) -> Finding:
        """Which norms, how few."""
        fact, values = run[0], max(f.values for f in run)
        lost = values == 2 and len(fact.shape) == 2
        means = ": each output is +1 or -1" if values == 2 else ""
        return self.finding(
            window,
            "warning" if lost else "note",
            f"batch norm {fact.modules[0] if fact.modules else '?'} (of {fact.total}) normalises over {values} values "
            f"of a channel (input {fact.shape}) "
            f"in {counted(len(run), 'step')}{means}; expected more than 4. Use a larger batch or GroupNorm.",
            ref=fact.ref,
            place=Place(
                module=(fact.modules[0] if fact.modules else None) or None,
                op="aten::native_batch_norm",
                frame=fact.frame,
            ),
            values=float(values),
        )
