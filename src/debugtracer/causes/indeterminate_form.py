"""Inf - Inf, 0 * Inf or 0/0 of values that nothing explains further."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.reading import Reading

FORMS = {"inf-inf": "subtracts Inf from Inf", "0*inf": "multiplies 0 by Inf", "0/0": "divides 0 by 0", "domain": "is not defined for its arguments"}


class IndeterminateForm(Cause):
    """The arithmetic has no answer; which wider fault led there is not known."""

    kind: ClassVar[str] = "indeterminate_form"
    fallback: ClassVar[bool] = True
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    rewrites: ClassVar[tuple[str, ...]] = ("guard-divisor", "clamp-argument")
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the arguments of this op finite and away from 0: clamp them, or add an eps",
        "look at the inputs: `debug-tracer report RUN --batch`",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """Any such birth; stays below every cause that knows why."""
        if seen.facts.birth is None or seen.birth.kind not in FORMS:
            return None
        return Signs(
            confidence=0.45,
            because=f"{seen.op} {FORMS[seen.birth.kind]}",
            remedies=self.remedies,
        )
