"""A division by a count or sum that is zero."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence, base
from debugtracer.trace.birth import EmptyGroup

DIVISIONS = ("div", "true_divide", "reciprocal", "mean", "remainder", "fmod")
BOUND = "give the divisor a lower bound above 0 where it is made: softplus, or + eps"
# of a divisor that is a root, as a deviation that is written out: no mask and no count is empty there
ROOTED = (
    "add a small number under the root where the divisor is made: (variance + 1e-5).sqrt(); of equal values it is 0",
    "find out why all values are equal there: a dead channel, a constant column",
)
NAMED = ("linalg_vector_norm", "norm", "std", "var", "std_mean", "var_mean")  # divisors that have a cause of their own


class ZeroDivision(Cause):
    """x / 0 is Inf and 0 / 0 is NaN: an empty mask, an empty selection, a sum of weights that is 0; mean() of nothing
    is 0 / 0 too."""

    kind: ClassVar[str] = "zero_division"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("division", "empty")
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    rewrites: ClassVar[tuple[str, ...]] = ("guard-divisor",)
    remedies: ClassVar[tuple[str, ...]] = (
        "clamp the divisor: total / count.clamp_min(1) (or clamp_min(eps) for a sum of weights)",
        "skip the term when nothing is selected: return logits.sum() * 0 so that the graph stays whole",
        "find out why nothing was selected: `debug-tracer report RUN --batch`",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A division in the forward or in a user's own optimizer whose divisor is 0 at the bad places, or the mean of
        an empty tensor."""
        if not incident.born("forward", *DIVISIONS) and not incident.born("update", *DIVISIONS):
            return None
        if incident.ops & {"mean"}:
            return self.empty(incident)
        inverse = bool(incident.ops & {"reciprocal"})
        # the inputs of a fused op are not those of its division
        divisor = incident.at(0 if inverse else 1) if base(incident.birth.op) in DIVISIONS else ()
        if any(v != 0 for v in divisor) or (not divisor and incident.birth.kind == "overflow"):
            return None
        known = bool(divisor)
        upper = (
            "1"
            if inverse
            else ("0" if incident.birth.kind == "0/0" or all(v == 0 for v in incident.at(0)) else "a number")
        )
        named = incident.made_by(0 if inverse else 1, *NAMED)
        place = incident.clamped_at(0 if inverse else 1)
        cut = (BOUND,) if place is not None else ()
        return Evidence(
            confidence=(0.9 if known else 0.65) - (0.35 if named else 0.0),
            because=(
                f"{incident.op} divides {upper} by "
                f"{'0' if known else 'a divisor that is 0'}{self.origin(incident, 0 if inverse else 1)}"
                f"{emptied(incident.birth.group)}"
            ),
            remedies=(*cut, *(ROOTED if incident.made_by(0 if inverse else 1, "sqrt") else self.remedies)),
            place=place,
            seen=place is not None,
        )

    def origin(self, incident: IncidentEvidence, place: int) -> str:
        """What made the divisor, when it is known."""
        tensor = incident.tensor(place)
        return f" (made by {base(tensor.made_by)})" if tensor and tensor.made_by else ""

    def empty(self, incident: IncidentEvidence) -> Evidence | None:
        """Recognise mean() of a tensor without elements."""
        tensor = incident.tensor(0)
        if tensor is None or 0 not in tensor.shape:
            return None
        return Evidence(
            confidence=0.95,
            because=f"{incident.op} takes the mean of an empty tensor of shape {list(tensor.shape)}, which is 0/0",
            remedies=(
                "test numel() first, or divide the sum by max(count, 1)",
                "find out why the selection is empty: `debug-tracer report RUN --batch`",
            ),
        )


def emptied(group: EmptyGroup | None) -> str:
    """What the bad row is of, where the program's own lists tell it: the end of a clause."""
    if group is None:
        return ""
    called = ", ".join(f"{name}[{group.row}] is {entry}" for name, entry in group.called)
    return (
        f": {group.name}[{group.row}]{called and f' ({called})'} is an empty {group.kind}, where {group.others} others "
        "hold something"
    )
