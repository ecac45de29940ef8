"""What a number in all rows of the data says of a cause: no row is at fault, the number is to be set otherwise."""

from __future__ import annotations

from dataclasses import replace

from debugtracer.causes.cause import Evidence
from debugtracer.trace.file_line import file_line
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.place import Place

KINDS = ("zero_division", "log_domain", "function_domain")
SURE = 0.9  # of a cause that the op was seen to get what it is not defined for (ours)


def of_setting(kind: str, facts: IncidentFacts, evidence: Evidence | None) -> Evidence | None:
    """The evidence for a cause whose op met a number that all rows of the data hold: its line, and no row to repair;
    any other as it is."""
    setting = facts.setting
    if setting is None or evidence is None or kind not in KINDS:
        return evidence
    frame, value = setting.frame, f"{float(setting.value):g}"
    at = f"{file_line(frame)} (`{frame.code}`)" if frame is not None else setting.where
    born = facts.birth.frame if facts.birth is not None else None
    line = f" at {file_line(born)}" if born is not None else ""
    module = facts.birth.module if facts.birth is not None else None
    return replace(
        evidence,
        because=f"{evidence.because}: {setting.because}",
        remedies=(
            f"set the number that is meant at {at}: every row has it, so there is none to clamp, repair or leave out",
            f"or, if {value} is meant, take the way of the program that does without this operation{line}",
        ),
        place=Place(frame=frame, module=module) if frame is not None else evidence.place,
        exact=evidence.confidence >= SURE,
        seen=True,
    )
