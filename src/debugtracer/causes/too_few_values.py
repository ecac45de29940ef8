"""A standard deviation of one value."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.finding import Layer


class TooFewValues(Cause):
    """std and var divide by n - 1: with a single value that is 0/0 (a last batch of one sample, an axis of length
    1)."""

    kind: ClassVar[str] = "norm_degenerate_batch"
    pipeline_kinds: ClassVar[tuple[str, ...]] = ("few",)
    uses_findings: ClassVar[bool] = False
    layer: ClassVar[Layer] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "lower-lr")
    rewrites: ClassVar[tuple[str, ...]] = ("population-spread", "drop-last")
    remedies: ClassVar[tuple[str, ...]] = (
        "drop the last, short batch: DataLoader(..., drop_last=True)",
        "use the biased estimate, x.std(correction=0), or check the axis",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A NaN out of std or var in the forward, from finite numbers."""
        source = incident.tensor(0)
        bad = source is not None and (source.nan or source.posinf or source.neginf)
        if (
            not incident.born("forward", "std", "var", "std_mean", "var_mean")
            or bad
            or incident.birth.kind == "overflow"
        ):
            return None
        shape = f" of shape {list(source.shape)}" if source is not None else ""
        return Evidence(
            confidence=0.9,
            because=f"{incident.op} takes the spread of a single value of a tensor{shape}, which is 0/0",
            remedies=self.remedies,
            seen=True,  # nothing else makes NaN of finite numbers here, whatever a trial leaves as it is
        )
