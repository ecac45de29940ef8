"""The schedule is stepped, sized or monitored wrongly."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.checks.optimizer.rate_undefined import RateUndefined
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Layer
from debugtracer.trace.place import Place


class SchedulerMisuse(Cause):
    """Sized in epochs and stepped in batches, stepped before the optimizer, or left at a factor of 0: the rate is not
    the one that was meant."""

    kind: ClassVar[str] = "scheduler_misuse"
    layer: ClassVar[Layer] = "optimizer"
    edit: ClassVar[Edit] = "optimizer"
    proved_by: ClassVar[tuple[str, ...]] = ("lower-lr", "one-line-fix")
    proved_by_training: ClassVar[tuple[str, ...]] = ("built-rate",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/lr-jump", "optimizer/no-update", "optimizer/loss-plateau")
    remedies: ClassVar[tuple[str, ...]] = (
        "give the schedule the number of its own steps: T_max=epochs * len(loader) where it is stepped in each batch",
        "step it after optimizer.step(), once per unit that it was sized in",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A rate that is no number, where the update or the weights after it are what is bad."""
        rate, name = incident.facts.rate, incident.birth.input_name or ""
        if rate is None or not rate.undefined:
            return None
        if incident.facts.birth is not None and not (incident.born("update") or name.startswith("parameter")):
            return None
        frame = next(iter(incident.facts.made), rate.scheduler_frame or rate.written)
        at = f" at {file_line(frame)}" if frame is not None else ""
        return Evidence(
            confidence=0.97,
            exact=True,
            because=f"the learning rate of {rate.kind} is {rate.undefined}, after {float(rate.before):.3g} one update "
            f"before, set by {rate.scheduler or 'the program'}{at}: it makes every weight non-finite",
            remedies=RateUndefined.remedies,
            place=Place(frame=frame) if frame is not None else None,
        )
