"""Soft targets put weight on classes whose logit is -inf."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence


class LabelSmoothingMisuse(Cause):
    """log_softmax of a masked class is -inf; label smoothing and soft targets multiply or sum over it: Inf, or 0 * -inf
    = NaN."""

    kind: ClassVar[str] = "label_smoothing_misuse"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("numerics/nan-loss",)
    rewrites: ClassVar[tuple[str, ...]] = ("no-label-smoothing", "finite-mask")
    remedies: ClassVar[tuple[str, ...]] = (
        "no label smoothing over masked classes: label_smoothing=0, or smooth over the allowed classes only",
        "mask with a large finite number instead of -inf: logits.masked_fill(mask, -1e4)",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A forward product or sum over log-probabilities that hold -inf."""
        if not incident.born("forward", "mul", "sum", "mean"):
            return None
        masked = [
            place
            for place, t in enumerate(incident.birth.inputs)
            if t.neginf and t.made_by and incident.made_by(place, "log_softmax")
        ]
        smoothed = incident.facts.label_smoothing > 0 and (
            not incident.birth.inputs or any(t.neginf or t.posinf for t in incident.birth.inputs)
        )
        if masked:
            because = (
                f"{incident.op} runs over log-probabilities of which {incident.birth.inputs[masked[0]].neginf} are "
                "-inf (classes that a mask excluded)"
            )
        elif smoothed:
            because = (
                f"label_smoothing {incident.facts.label_smoothing:g} spreads over classes whose logit is -inf "
                "(excluded by a mask)"
            )
        else:
            return None
        return Evidence(
            confidence=0.9,
            because=because,
            remedies=self.remedies,
        )
