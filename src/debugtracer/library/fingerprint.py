"""What makes two incidents the same: class, operator, kind of birth, direction, module, dtype, symptom; never a line, a
path or a machine."""

from __future__ import annotations

import hashlib
import re

import msgspec

from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.verdict import Verdict

DIGITS = 12  # hex digits of a fingerprint: 48 bits, one clash in 2**24 different incidents
BACKENDS = ("native_", "cudnn_", "miopen_", "mkldnn_", "mps_")
WRAPPERS = {"module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a fingerprint; "" where a part is not known."""

    kind: str = msgspec.field(name="class")
    op: str = ""
    birth_kind: str = ""
    direction: str = ""
    module: str = ""
    """Path with indices generalised: `blocks.*.attn`."""
    dtype: str = ""
    symptom: str = ""

    @property
    def fingerprint(self) -> str:
        """Hash the content to twelve hex digits."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:DIGITS]

    @property
    def words(self) -> str:
        """Format the fields: `log_domain, log, forward, domain, head, float32, nan_loss`."""
        parts = (self.kind, self.op, self.direction, self.birth_kind, self.module, self.dtype, self.symptom)
        return ", ".join(part for part in parts if part)


def signature_of(facts: IncidentFacts | None, verdict: Verdict) -> Signature:
    """The signature of an incident; of a verdict that comes from a finding when there are no facts."""
    birth = facts.birth if facts is not None else None
    output = birth.output if birth is not None else None
    return Signature(
        kind=verdict.kind or "unknown",
        op=plain_op(verdict.op or (birth.op if birth else None)),
        birth_kind=verdict.birth_kind or (birth.kind if birth else "") or "",
        direction=verdict.direction or "",
        module=general(verdict.module or ""),
        dtype=output.dtype.removeprefix("torch.") if output else "",
        symptom=verdict.symptom,
    )


def plain_op(op: str | None) -> str:
    """An operator without namespace, overload, foreach and backend: the same on every machine."""
    name = (op or "").split("::")[-1].split(".")[0].strip("_").removeprefix("foreach_")
    if name.startswith("scaled_dot_product"):
        return "scaled_dot_product_attention"
    for backend in BACKENDS:
        name = name.removeprefix(backend)
    return name


def general(module: str) -> str:
    """A module path with `*` for every index and without what wrappers add."""
    return ".".join("*" if re.fullmatch(r"\d+", part) else part for part in module.split(".") if part not in WRAPPERS)
