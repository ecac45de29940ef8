"""The same step with the same inputs is finite when it is executed again."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.finding import Layer
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place

FAR = 1e6  # times the spread of its tensor; what an update or a line of the program does there is far less (ours)


class SilentDataCorruption(Cause):
    """Hardware changed a value (or an op is not deterministic): replay of the recorded step does not show the fault."""

    kind: ClassVar[str] = "silent_data_corruption"
    layer: ClassVar[Layer] = "device"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("reference-device", "older-weights")
    refuted_by: ClassVar[tuple[str, ...]] = (
        "stable-op",
        "full-precision",
        "without-sample",
        "other-batch",
        "lower-lr",
        "fresh-moments",
    )
    supports: ClassVar[tuple[str, ...]] = ("device/replica-drift", "optimizer/loss-spike")
    remedies: ClassVar[tuple[str, ...]] = (
        "run the same step on another device: `debug-tracer replay INCIDENT`",
        "look for operators without a deterministic result: torch.use_deterministic_algorithms(True)",
        "test the device (memory, ECC counters) before trusting the run",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A stored value that went far out with no update, and is what the step met; or a tape replay that came out
        finite, a suspicion and no more."""
        changed = incident.facts.changed
        if changed is not None and not abs(as_float(changed.after)) <= FAR * max(as_float(changed.rms), 1e-30):
            index = ", ".join(map(str, changed.index))
            what = changed.param if changed.what == "parameter" else f"{changed.what} of {changed.param}"
            return Evidence(
                confidence=0.995,
                because=(
                    f"{what}[{index}] was {as_float(changed.before):.4g} after the last updates and is "
                    f"{as_float(changed.after):.4g} now"
                ),
                remedies=("restore a checkpoint from before this step", self.remedies[-1]),
                place=Place(param=changed.param, module=changed.param.rpartition(".")[0], frame=changed.frame),
                against=("an operator of the program wrote to it",)
                if changed.written or changed.frame is not None
                else (),
            )
        replay = incident.facts.replay
        if (
            incident.facts.birth is not None
            or replay is None
            or replay.mechanism != "tape"
            or replay.reproduced
            or replay.parity != "not reproduced"
        ):
            return None
        return Evidence(
            confidence=0.3,
            because="the recorded step is finite when it is executed again",
            remedies=self.remedies,
            against=("an op without a deterministic result, or state outside torch, looks the same",),
        )
