"""Do the running statistics of an average of weights fit these weights?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.unfit_statistics import UnfitStatistics
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

WHAT = {
    "averaged": "the AveragedModel of {kind}",
    "loaded": "the copy of {kind} whose weights were loaded{loaded} and",
    "written": "the copy of {kind} whose weights are written apart and",
    "exchanged": "{kind}, whose weights were exchanged for others{loaded} since its last call, and",
}
UPDATE = "Run torch.optim.swa_utils.update_bn(loader, model) before the evaluation."


class StatisticsUnfit(Check, frozen=True):
    """Averaged weights are evaluated with running statistics that do not fit them.

    What it catches
        `update_bn` missing after stochastic weight averaging; an average of the parameters beside buffers of one
        network or of the start; buffers that were averaged with the weights; averages that are put into the trained
        network for an evaluation.
    Why it matters
        Each batch norm divides by the spread of other activations. The average looks worse than the network that it is
        the average of, and often no better than chance.
    How it decides
        At the first such evaluation (and at few others, further and further apart) a deep copy is given the same batch
        once more, and what each batch norm is given is compared with its running statistics: at least 25 % of the
        channels are off by half a deviation in the mean or by a factor of 2 in the variance. The trained network, given
        the same batch, has at most 10 % of such channels: data of another kind would put both off. Networks that are
        evaluated so: AveragedModel, copies whose weights point the way of the trained ones and were loaded with what is
        none of a trained network's, or written in place; and the trained network itself, where its weights are others
        than at its last call without an update between, and its statistics are the same. Statistics of a new norm are
        told by `optimizer/copy-statistics`, but for AveragedModel.
    What to do
        Run `torch.optim.swa_utils.update_bn(loader, model)` before the evaluation, or carry the buffers along:
        `AveragedModel(model, use_buffers=True)` for an exponential average.
    Example
        step 239, rank 0: the AveragedModel of Net is evaluated (train.py:57) with running statistics that are not its
        own: on this batch 72 % of the channels of its 2 batch norms (first norm) have another mean or variance, and 3 %
        in the trained network; expected statistics of the averaged weights. Run
        torch.optim.swa_utils.update_bn(loader, model) before the evaluation.
    """

    needs: ClassVar[tuple[type[UnfitStatistics]]] = (UnfitStatistics,)
    kind: ClassVar[str] = "average_not_updated"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "torch.optim.swa_utils.update_bn(loader, model) on the averaged weights before they are evaluated or saved",
        "of an exponential average: AveragedModel(model, use_buffers=True), or copy the buffers with each update",
    )
    proved_by: ClassVar[str] = "optimizer/heath_fires"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells it once."""
        for fact in window.new(UnfitStatistics):
            off, trained = float(fact.off), float(fact.trained)
            what = WHAT[fact.how].format(kind=fact.kind, loaded=spot(fact.loaded))
            before = "with its own weights" if fact.how == "exchanged" else "in the trained network"
            yield self.finding(
                window,
                "warning",
                f"{what} is evaluated{spot(fact.frame)} with running statistics that are not its own: on this batch "
                f"{100 * off:.0f} % of the channels of its {fact.norms} batch norm{'s' * (fact.norms != 1)} (first "
                f"{fact.module or 'the norm'}) have another mean or variance, and {100 * trained:.0f} % {before}; "
                f"expected statistics of the {'other' if fact.how == 'exchanged' else 'averaged'} weights. {UPDATE}",
                ref=fact.ref,
                place=Place(
                    frame=fact.loaded or fact.frame,
                    module=fact.module,
                    symptom_frame=fact.frame if fact.loaded is not None else None,
                ),
                off=off,
                trained=trained,
            )
