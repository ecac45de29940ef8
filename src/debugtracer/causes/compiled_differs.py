"""The compiled step goes wrong, the same step run eagerly does not."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.place import Place


class CompiledDiffers(Cause):
    """What torch.compile made of the code computes something else: a pass of a backend, a fused kernel, another order
    of operations."""

    kind: ClassVar[str] = "compiled_differs"
    uses_findings: ClassVar[bool] = False
    proved_by: ClassVar[tuple[str, ...]] = ("run-eagerly",)
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = (
        "run this part eagerly: torch.compiler.disable on the function, or no torch.compile here",
        (
            'find the stage that breaks it: backend="eager", then "aot_eager", then "inductor"; own passes and '
            "TORCHINDUCTOR_ settings off one by one"
        ),
        "report it to torch with the incident as a reproducer when the backend is torch's own",
    )

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """A step that shows the fault again when compiled and is finite when run eagerly."""
        replay = incident.facts.replay
        if replay is None or not replay.compiled_only:
            return None
        return Evidence(
            confidence=0.95,
            because="the compiled step shows it again, and the same step executed eagerly is finite",
            remedies=self.remedies,
            place=Place(frame=replay.compiled_at) if replay.compiled_at is not None else None,
        )
