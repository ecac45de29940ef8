"""A softmax over a row in which every score is -inf."""

from __future__ import annotations

import math
from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence

SOFTMAX = ("softmax", "log_softmax", "masked_softmax", "safe_softmax")


class MaskedSoftmaxAllMasked(Cause):
    """exp(-inf - max) with max = -inf is NaN: the mask leaves no key in the row (pytorch/pytorch#41508)."""

    kind: ClassVar[str] = "masked_softmax_all_masked"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments", "older-weights")
    rewrites: ClassVar[tuple[str, ...]] = ("finite-mask", "floor-scores")
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "keep at least one position of every row unmasked (a <cls> token, the position itself), or drop empty "
            "sequences in the dataset"
        ),
        "mask with a large finite number: scores.masked_fill(mask, torch.finfo(scores.dtype).min)",
        (
            "or give empty rows a score of 0 before the softmax and a weight of 0 after it; a where() after it alone "
            "leaves NaN in the gradient"
        ),
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A NaN out of a softmax with only -inf at the bad places, or of a hand-written `x - x.max()` of such a row."""
        if not incident.born("forward"):
            return None
        scores = incident.at(0)
        all_masked = bool(scores) and all(v == -math.inf for v in scores)
        if incident.born("forward", *SOFTMAX) or incident.attention:
            masks = sum(t.neginf for t in incident.birth.inputs)
            if not masks and not all_masked:
                return None
            return self.answer(incident, 0.95 if all_masked else 0.8, f"{incident.op} of such a row is NaN")
        by_hand = incident.born("forward", "sub", "rsub") and all_masked and all(v == -math.inf for v in incident.at(1))
        return self.answer(incident, 0.75, "-inf minus its maximum, also -inf, is NaN") if by_hand else None

    def answer(self, incident: IncidentEvidence, confidence: float, effect: str) -> Evidence:
        """The evidence with the remedies of a mask."""
        made = f"{incident.made}," if incident.made else ""
        return Evidence(
            confidence=confidence,
            because=f"every score of a row is -inf (the mask{made} leaves nothing) and {effect}",
            remedies=self.remedies,
            place=incident.made_place,
        )
