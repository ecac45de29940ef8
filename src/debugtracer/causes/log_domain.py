"""The logarithm of zero or of a negative number, also 0 * log(0)."""

from __future__ import annotations

import math
from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import SMALLEST, IncidentEvidence, base, values
from debugtracer.source.squares import one_minus_square
from debugtracer.trace.birth import Frame
from debugtracer.trace.file_line import file_line
from debugtracer.trace.op import LOG_EDGES
from debugtracer.trace.verdict import Change

EDGE = {**LOG_EDGES, "xlogy": 0.0}


NEGATIVE = (
    (
        "a negative argument is no rounding: where the data hold it, look at the guilty rows (`debug-tracer report RUN "
        "--batch`) and repair or drop them; where the model makes it, bound it (softplus, exp) before the logarithm"
    ),
    "if negative values are meant, choose another transform: sign(x) * log1p(|x|), or a shift before the logarithm",
)


class LogDomain(Cause):
    """log(0) is -inf, log(x < 0) is NaN, and 0 * log(0) is NaN although its limit is 0."""

    kind: ClassVar[str] = "log_domain"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("log",)
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    rewrites: ClassVar[tuple[str, ...]] = ("log-of-scores", "clamp-argument", "clamp-logs")
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "take the loss from logits: log_softmax, logsigmoid, binary_cross_entropy_with_logits never see a "
            "probability of 0"
        ),
        "clamp the argument: torch.log(p.clamp_min(1e-8)) (1e-4 in float16)",
        (
            "for p * log(p) clamp inside: p * p.clamp_min(1e-8).log() (torch.xlogy(p, p) is finite too, but its "
            "gradient at 0 is not)"
        ),
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A forward log whose argument is at or below its edge, or a product of 0 and -inf."""
        name = next(iter(incident.ops & set(EDGE)), None)
        if incident.born("forward") and name:
            return self.log(incident, name)
        if (
            incident.born("forward", "mul")
            and -math.inf in (*incident.at(0), *incident.at(1))
            and 0.0 in (*incident.at(0), *incident.at(1))
        ):
            sure = incident.made_by(0, *EDGE) or incident.made_by(1, *EDGE)
            return self.answer(
                incident,
                0.85 if sure else 0.6,
                f"{incident.op} multiplies 0 by -inf, as 0 * log(0) does, and the product is NaN",
            )
        return None

    def log(self, incident: IncidentEvidence, name: str) -> Evidence | None:
        """Answer for a logarithm at or below the edge of its domain; None if no argument is there."""
        arguments = incident.at(1 if name == "xlogy" and len(incident.birth.inputs) > 1 else 0)
        if arguments and not any(v <= EDGE[name] for v in arguments):
            return None
        shown = f" of {values(arguments)}" if arguments else ""
        result = "NaN" if any(v < EDGE[name] for v in arguments) else "-inf"
        return self.answer(
            incident,
            0.93 if arguments else 0.7,
            f"{incident.op} takes the logarithm{shown}, which is {result}",
            negative=result == "NaN",
        )

    def change(
        self, evidence: IncidentEvidence | FindingEvidence, frame: Frame, value: float | None = None
    ) -> Change | None:
        """A clamp hides a negative argument instead of repairing it, so there is no change for one."""
        negative = isinstance(evidence, IncidentEvidence) and any(
            v < EDGE.get(name, 0.0) for name in evidence.ops for v in evidence.at(0)
        )
        return None if negative else super().change(evidence, frame, value)

    def answer(self, incident: IncidentEvidence, confidence: float, because: str, negative: bool = False) -> Evidence:
        """The evidence with the remedies of a logarithm."""
        code = incident.birth.innermost.code if incident.birth.innermost else ""
        if negative:
            squared = one_minus_square(code)
            beyond = (beyond_one(squared),) if squared is not None else ()
            because += f": {squared} lies outside -1..1" if squared is not None else ""
            return Evidence(confidence=confidence, because=because, remedies=(*beyond, *NEGATIVE), seen=True)
        remedies = self.remedies[2::-2] if "*" in code else self.remedies[:2]
        place = incident.clamped_at(0)
        if place is not None and place.frame is not None:
            at = file_line(place.frame)
            because += f", and {base(incident.birth.inputs[0].made_by)} makes that 0 ({at})"
            remedies = (f"give {at} a lower bound above 0: softplus, or + eps", *remedies)
        return Evidence(
            confidence=confidence,
            because=because,
            remedies=remedies + apart(incident),
            place=place,
            seen=place is not None,
        )


def beyond_one(squared: str) -> str:
    """What to do about `1 - x ** 2` below 0."""
    return (
        f"`1 - {squared} ** 2` is the slope of tanh at its own output, which lies within -1..1: {squared} does not, so "
        f"it was scaled or shifted after the tanh. Take the output of tanh here, and multiply the slope by that scale; "
        "a clamp would hide the NaN and leave the term wrong"
    )


def apart(incident: IncidentEvidence) -> tuple[str, ...]:
    """What an exact 0 of a softmax says of the scores: they lie further apart than the dtype's exponential reaches."""
    known = incident.facts.optimizer
    if not incident.made_by(0, "softmax") or incident.dtype not in SMALLEST:
        return ()
    at = (
        f" (lr {float(known.lr):g} at {file_line(known.frame)})"
        if known and known.lr is not None and known.frame
        else ""
    )
    return (
        f"softmax gives 0 where a score lies {math.log(2 / SMALLEST[incident.dtype]):.0f} or more below the largest of "
        f"its row: if no mask did that, the updates are too large; divide the learning rate by 10{at} and clip the "
        "gradient: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) "
        "before step()",
    )
