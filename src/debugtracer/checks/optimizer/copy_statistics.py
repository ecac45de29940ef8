"""Does an average of the weights get the running statistics, too?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.fresh_statistics import FreshStatistics
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class CopyStatistics(Check, frozen=True):
    """An average of the weights is evaluated with the running statistics of a new batch norm.

    What it catches
        An EMA written by hand that averages `parameters()` and leaves `buffers()` behind.
    Why it matters
        In evaluation mode a batch norm divides by its running statistics: with mean 0 and variance 1 it does nothing,
        and the weights behind it expect normalised values. The average looks far worse than the network it follows.
    How it decides
        A network that no optimizer trains, of the class and shapes of one that is, runs in evaluation mode without a
        graph after the third step. Its weights were written since it was made; all of its batch norms have mean 0,
        variance 1 and have counted no batch, while those of the trained network have. Or its weights have moved between
        two evaluations that are 50 steps apart, its statistics have not by a bit, and a quarter of the channels have
        others in the trained network (half a standard deviation, twice the variance). The line is that which wrote the
        weights, where one was seen in the first steps.
    What to do
        Copy the buffers with each update, or run `torch.optim.swa_utils.update_bn` before the evaluation.
    Example
        step 19, rank 0: 2 batch norms of the copy of Net that is evaluated (train.py:43) still have mean 0 and variance
        1 (first body.1), while the trained network has counted 20 batches; expected its statistics. Copy the buffers
        with the weights (train.py:17).
    """

    needs: ClassVar[tuple[type[FreshStatistics]]] = (FreshStatistics,)
    kind: ClassVar[str] = "average_not_updated"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "copy the buffers with each update: for s, b in zip(copy.buffers(), model.buffers()): s.copy_(b)",
        "or torch.optim.swa_utils.update_bn(loader, copy) before the evaluation, or AveragedModel",
    )
    proved_by: ClassVar[str] = "optimizer/quay_statistics"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells it once."""
        for fact in window.new(FreshStatistics):
            yield self.finding(
                window,
                "warning",
                f"{said(fact)}; expected its statistics. Copy the buffers with the weights{spot(fact.written)}.",
                ref=fact.ref,
                place=Place(
                    frame=fact.written or fact.frame,
                    module=fact.module,
                    symptom_frame=fact.frame if fact.written is not None else None,
                ),
                norms=fact.norms,
            )


def said(fact: FreshStatistics) -> str:
    """What was seen of the copy."""
    what = f"{fact.norms} batch norm{'s' * (fact.norms != 1)} of the copy of {fact.kind} that is evaluated"
    first = f"(first {fact.module or 'the norm'})"
    if off := float(fact.off):
        return (
            f"{what}{spot(fact.frame)} have not moved {first} while its weights did and the trained network counted "
            f"{fact.trained} batches: {100 * off:.0f} % of its channels have other statistics there"
        )
    return (
        f"{what}{spot(fact.frame)} still have mean 0 and variance 1 {first}, while the trained network has counted "
        f"{fact.trained} batches"
    )
