"""No target of the batch counts, so the mean loss is 0/0."""

from __future__ import annotations

import math
from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence, plain_dtype
from debugtracer.trace.birth import TensorFacts
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Layer
from debugtracer.trace.place import Place

LOSSES = ("nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss2d", "nll_loss_nd", "cross_entropy_loss")


class LabelsAllIgnored(Cause):
    """cross_entropy and nll_loss with reduction="mean" divide by the number of targets that are not ignore_index."""

    kind: ClassVar[str] = "labels_all_ignored"
    layer: ClassVar[Layer] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = (
        "full-precision",
        "without-sample",
        "lower-lr",
        "fresh-moments",
        "older-weights",
    )
    supports: ClassVar[tuple[str, ...]] = ("numerics/nan-loss",)
    rewrites: ClassVar[tuple[str, ...]] = ("counted-targets",)
    remedies: ClassVar[tuple[str, ...]] = (
        'divide by max(count, 1): cross_entropy(..., reduction="sum") / (target != ignore_index).sum().clamp_min(1)',
        "drop samples without a label in the dataset, or skip such batches before the forward",
        "find out why the labels are all ignored: `debug-tracer report RUN --batch`",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A NaN out of an nll loss of finite log-probabilities; exact if all targets show one impossible class."""
        if incident.facts.ignored and incident.born("forward", "div", "true_divide") and nothing_over_nothing(incident):
            return Evidence(
                confidence=0.97,
                because=f"{incident.facts.ignored}{incident.made}: none counts, so {incident.op} divides a sum of "
                "nothing by 0",
                remedies=self.remedies[1:],
                exact=True,
                whole_batch=True,
                place=incident.made_place,
            )
        if not incident.born("forward", *LOSSES):
            return None
        scores = [t for t in incident.birth.inputs if "float" in t.dtype]
        target = next((t for t in incident.birth.inputs if plain_dtype(t.dtype) in ("int64", "uint8", "int32")), None)
        if any(t.nan or t.posinf for t in scores[:1]):
            return None
        if target is not None and target.low is not None and target.low != target.high:
            return None  # some target counts: only class weights can make the divisor 0
        value = float(target.low) if target is not None and target.low is not None else None
        exact = value is not None and (value < 0 or value >= classes(scores))
        many = math.prod(target.shape) if target is not None else 0
        cut = incident.facts.cut
        written = incident.made if incident.facts.ignored else ""
        written += f", cut at {file_line(cut)}" if cut is not None else ""
        shown = f"all {many} targets are {value:.0f}" if value is not None else "no target counts"
        return Evidence(
            confidence=0.97 if exact else (0.85 if len(scores) < 2 else 0.6),
            because=f"{shown} in this batch{written}: none counts, so the mean in {incident.op} divides 0 by 0",
            remedies=self.remedies[1:] if incident.birth.library is not None else self.remedies,
            exact=exact,
            whole_batch=True,
            # a call of the program's own is where the fix goes, whoever wrote the labels
            place=Place(frame=cut)
            if cut is not None
            else incident.made_place
            if written and incident.birth.library is not None
            else None,
        )


def nothing_over_nothing(incident: IncidentEvidence) -> bool:
    """True for 0/0 at every bad place."""
    return incident.by_zero and all(v == 0 for v in incident.at(0))


def classes(scores: list[TensorFacts]) -> float:
    """The number of classes of the log-probabilities; infinite if it is not known."""
    shape = scores[0].shape if scores else ()
    return float(shape[1] if len(shape) > 1 else shape[0]) if shape else float("inf")
