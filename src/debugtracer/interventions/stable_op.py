"""The fragile operation at the guilty line, evaluated in a form that stays in its domain."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.at_line import AtLine, bare
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun
from debugtracer.interventions.stable_forms import FAMILIES, FORMS
from debugtracer.interventions.stable_rows import alias, rows_at, stabilise
from debugtracer.trace.birth import Birth, Frame


class StableOp(Intervention):
    """Calls of the guilty operator's family on the guilty line see arguments inside their domain, a divisor that is not zero, a mask that leaves something."""

    scope: ClassVar[Scope] = "op"
    default: ClassVar[float | None] = 1e-6
    unit: ClassVar[str] = "how far from the edge of the domain the argument is kept"
    ladder: ClassVar[tuple[float, ...]] = (1e-3,)

    def refuses(self, rerun: Rerun) -> str:
        """It must know the operator and its line, and a stable form of it."""
        birth = rerun.birth
        if birth is None or birth.op is None or birth.frame is None:
            return "the guilty operator and its line are not known"
        return "" if family(birth) else f"no stable form of {birth.op} is known"

    def apply(self, rerun: Rerun) -> str:
        """Listen to every call and exchange those of the line."""
        birth = rerun.birth
        assert birth is not None
        frame = birth.frame
        assert frame is not None
        mode = Stable(family(birth), frame, self.size)

        rerun.around.append(mode.around(rerun))
        rerun.doubts.append(lambda: "" if mode.forms else f"no call of {birth.op} could be exchanged at {rerun.place()}")
        rerun.described = lambda: f"{words(mode.forms, self.size)} at {rerun.place()}"
        return f"a stable form of {birth.op} at {rerun.place()}"

    def offline(self, tape: OfflineRerun) -> str:
        """The same forms on the recorded operators of the line, their inputs changed in memory before they run."""
        birth = tape.birth
        if birth is None or birth.op is None or birth.frame is None:
            raise ReplayRefused("the guilty operator and its line are not known")
        names = frozenset(name for _, _, name, _ in tape.ops() if (alias(name) in family(birth) or name in family(birth)))
        rows = rows_at(tape, birth, names)
        if not rows:
            known = bool(family(birth))
            raise ReplayRefused(f"no recorded operator like {birth.op} at {tape.guilty_place()}" if known else f"no stable form of {birth.op} is known")
        return f"{words([stabilise(tape, *row, self.size) for row in rows], self.size)} at {tape.guilty_place()}"


def family(birth: Birth) -> frozenset[str]:
    """Names of torch functions that may have run the operator of birth."""
    names = {(op or "").split("::")[-1].split(".")[0].strip("_").removeprefix("foreach_") for op in (birth.op, birth.inner_op)}
    return frozenset().union(*(functions for functions in FAMILIES if names & functions)) or frozenset(names & FORMS.keys())


def words(forms: list[str], eps: float) -> str:
    """What was done, as a person would write it."""
    return " and ".join(dict.fromkeys(form.format(eps=f"{eps:g}", sqrt_eps=f"{eps * eps:g}") for form in forms))


class Stable(AtLine):
    """Exchanges the calls of some functions that come from one line."""

    def __init__(self, functions: frozenset[str], frame: Frame, eps: float) -> None:
        super().__init__(frame)
        self.functions, self.eps = functions, eps
        self.forms: list[str] = []
        """Words of the forms that were put in place."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The stable form where it is meant, the call itself else."""
        kwargs = kwargs or {}
        name = bare(func)
        if name not in self.functions or name not in FORMS or not self.here():
            return func(*args, **kwargs)
        self.forms.append(FORMS[name].words)
        with torch._C.DisableTorchFunctionSubclass():
            return FORMS[name].run(func, args, kwargs, self.eps)
