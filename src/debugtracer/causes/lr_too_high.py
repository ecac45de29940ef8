"""The learning rate is beyond stability: values grew until they left the range."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Evidence
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import RateMoved
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Layer
from debugtracer.trace.place import Place
from debugtracer.trace.verdict import Change


class LrTooHigh(Cause):
    """The loss or the weights grow step by step until an op overflows in float32."""

    kind: ClassVar[str] = "lr_too_high"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("lower-lr",)
    refuted_by: ClassVar[tuple[str, ...]] = (
        "stable-op",
        "full-precision",
        "without-sample",
        "other-batch",
        "fresh-moments",
    )
    supports: ClassVar[tuple[str, ...]] = (
        "optimizer/loss-divergence",
        "optimizer/loss-oscillation",
        "optimizer/loss-spike",
        "optimizer/lr-jump",
        "optimizer/update-ratio",
        "optimizer/weight-norm-growth",
    )
    contradicts: ClassVar[tuple[str, ...]] = (
        "data/hard-samples",
        "data/outlier-sample",
        "optimizer/clip-after-step",
        "optimizer/zero-grad-missing",
        "optimizer/second-moment-decoupled",
    )
    rewrites: ClassVar[tuple[str, ...]] = ("lower-lr",)
    remedies: ClassVar[tuple[str, ...]] = (
        "divide the learning rate by 10, or warm it up over the first hundreds of steps",
        "clip: torch.nn.utils.clip_grad_norm_(params, 1.0) before step()",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """An overflow outside half precision after a loss or weight norm that grew at least tenfold in the last
        steps."""
        if (
            incident.facts.birth is None
            or not incident.born_inf
            or incident.dtype == "float16"
            or incident.birth.kind not in ("overflow", "inf-inf")
        ):
            return None
        grown = max(incident.growth("loss"), incident.growth("param_l2"))
        if grown < 10 and not incident.born("update"):
            return None
        lr = incident.facts.optimizer.lr if incident.facts.optimizer else None
        at = f" (lr = {float(lr):g}{moved(incident)})" if lr is not None else ""
        steep = incident.growth("grad_l2") > 100 * grown
        return Evidence(
            confidence=0.5 if steep or incident.few_rows else 0.72,
            because=f"values grew {grown:.3g}-fold in the last steps until {incident.op} overflowed{at}",
            remedies=(mend(incident), *self.remedies[1:]) if raised(incident) else self.remedies,
            place=said_at(incident),
            against=tuple(
                t
                for t, so in (
                    ("only a few rows of the batch overflow", incident.few_rows),
                    ("gradients grew far more than the loss", steep),
                )
                if so
            ),
        )

    def change(
        self, evidence: IncidentEvidence | FindingEvidence, frame: Frame, value: float | None = None
    ) -> Change | None:
        """Return no edit of a constructor whose rate is no longer in use."""
        built = (
            evidence.facts.optimizer.frame
            if isinstance(evidence, IncidentEvidence) and evidence.facts.optimizer is not None
            else None
        )
        return (
            None
            if isinstance(evidence, IncidentEvidence) and raised(evidence) and frame == built
            else super().change(evidence, frame, value)
        )


def said_at(incident: IncidentEvidence) -> Place | None:
    """Where the rate in use is said; None for the constructor."""
    rate, known = incident.facts.rate, incident.facts.optimizer
    if raised(incident) and rate is not None:
        return Place(module=incident.birth.module, frame=rate.scheduler_frame or rate.written)
    if known is None or known.lr_frame is None:
        return None
    return Place(module=incident.birth.module, frame=known.lr_frame)


def raised(incident: IncidentEvidence) -> bool:
    """True if the constructor's rate is no longer in use: something raised it, or wrote another one without a
    scheduler."""
    rate = incident.facts.rate
    return rate is not None and not rate.undefined and (float(rate.now) > float(rate.built) or not rate.scheduler)


def moved(incident: IncidentEvidence) -> str:
    """Format how the rate was raised: `, built with 0.02: 0.02 -> 20 at step 60, set by LambdaLR at train.py:7`."""
    rate = incident.facts.rate
    if rate is None or not raised(incident):
        return ""
    return (
        f", built with {float(rate.built):g}: {float(rate.before):g} -> {float(rate.after):g} at step "
        f"{rate.step}{by(rate)}"
    )


def by(rate: RateMoved) -> str:
    """Name the scheduler that set the rate and its line, or the program."""
    frame = rate.scheduler_frame or rate.written
    at = f" at {file_line(frame)}" if frame is not None else ""
    return f", set by {rate.scheduler or 'the program'}{at}"


def mend(incident: IncidentEvidence) -> str:
    """What to look at instead of the constructor."""
    rate = incident.facts.rate
    assert rate is not None
    what = f"the {rate.scheduler} that raises it" if rate.scheduler else "what writes param_groups[...]['lr']"
    return (
        f"mend {what}: the learning rate went from {float(rate.before):g} to {float(rate.after):g} at step "
        f"{rate.step}{by(rate)}; "
        "another lr in the constructor does not cure that"
    )
