"""The fragile operation at the guilty line, evaluated in a form that stays in its domain."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import torch
from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.at_line import AtLine, bare
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun
from debugtracer.interventions.stable_forms import FAMILIES, FORMS, Form
from debugtracer.interventions.stable_rows import alias, rows_at, stabilise
from debugtracer.trace.birth import Birth, Frame


class StableOp(Intervention):
    """Calls of the guilty operator's family on the guilty line see arguments inside their domain, a divisor that is not
    zero, a mask that leaves something."""

    scope: ClassVar[Scope] = "op"
    default: ClassVar[float | None] = 1e-6
    unit: ClassVar[str] = "how far from the edge of the domain the argument is kept"
    ladder: ClassVar[tuple[float, ...]] = (1e-3,)

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without the guilty operator, its line and a stable form of it."""
        birth = rerun.birth
        if birth is not None and birth.kind == "input":
            return "the bad value was there before the step's first operator"
        if birth is None or birth.op is None or birth.frame is None:
            return "the guilty operator and its line are not known"
        return "" if family(birth) else f"no stable form of {birth.op} is known"

    def apply(self, rerun: Rerun) -> str:
        """Listen to every call and exchange those of the line."""
        birth = rerun.birth
        assert birth is not None
        frame = birth.innermost
        assert frame is not None
        mode = Stable(family(birth), feeding(birth), frame, self.size)
        mode.join(rerun)
        rerun.doubts.append(lambda: mode.doubt(birth.op or ""))
        rerun.described = mode.described
        return f"a stable form of {birth.op} at {rerun.place()}"

    def offline(self, tape: OfflineRerun) -> str:
        """The same forms on the recorded operators of the line, their inputs changed in memory before they run."""
        birth = tape.birth
        if birth is None or birth.op is None or birth.frame is None:
            raise ReplayRefused("the guilty operator and its line are not known")
        names = frozenset(
            name for _, _, name, _ in tape.ops() if (alias(name) in family(birth) or name in family(birth))
        )
        rows = rows_at(tape, birth, names)
        if not rows:
            known = bool(family(birth))
            raise ReplayRefused(
                f"no recorded operator like {birth.op} at {tape.guilty_place()}"
                if known
                else f"no stable form of {birth.op} is known"
            )
        return f"{words([stabilise(tape, *row, self.size) for row in rows], self.size)} at {tape.guilty_place()}"


def family(birth: Birth) -> frozenset[str]:
    """The names of torch functions that may have run the operator of birth."""
    names = {
        (op or "").split("::")[-1].split(".")[0].strip("_").removeprefix("foreach_")
        for op in (birth.op, birth.inner_op)
    }
    return frozenset().union(*(functions for functions in FAMILIES if names & functions)) or frozenset(
        names & FORMS.keys()
    )


def feeding(birth: Birth) -> frozenset[str]:
    """The roots that made what the operator took: a divisor kept from 0 still leaves them an infinite derivative."""
    names = {fact.made_by.split("::")[-1].strip("_") for fact in birth.inputs}
    return frozenset(("sqrt", "rsqrt", "pow")) if names & {"sqrt", "rsqrt", "pow"} else frozenset()


def words(forms: list[str], eps: float) -> str:
    """What was done, as a person would write it."""
    return " and ".join(dict.fromkeys(form.format(eps=f"{eps:g}", sqrt_eps=f"{eps * eps:g}") for form in forms))


class Stable(AtLine):
    """Exchanges the calls of some functions that come from one line, and of those that feed them in the same
    function."""

    def __init__(self, functions: frozenset[str], feeding: frozenset[str], frame: Frame, eps: float) -> None:
        super().__init__(frame)
        self.functions, self.feeding, self.eps = functions, feeding, eps
        self.seen = False
        """The line has made such a call."""
        self.forms: list[tuple[str, int]] = []
        """Words and line of the forms that changed a value."""

    def doubt(self, op: str) -> str:
        """Why nothing was changed; empty when something was."""
        place = f"{self.frame.file.rpartition('/')[2]}:{self.frame.line}"
        if not self.seen:
            return f"no call of {op} could be exchanged at {place}"
        return (
            "" if self.forms else f"every value that {op} takes at {place} is one that its stable form leaves as it is"
        )

    def described(self) -> str:
        """What was done, as a person would write it: `clamp_min(1e-06) before the logarithm at model.py:88`."""
        file = self.frame.file.rpartition("/")[2]
        lines = sorted({line for _, line in self.forms})
        return " and ".join(
            f"{words([form for form, at in self.forms if at == line], self.eps)} at {file}:{line}" for line in lines
        )

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The stable form where it is meant, the call itself else."""
        kwargs = kwargs or {}
        name = bare(func)
        here = name in self.functions and name in FORMS and self.here()
        if not here and not (name in self.feeding and self.in_function()):
            return func(*args, **kwargs)
        place = self.place(2)
        self.seen |= here
        with torch._C.DisableTorchFunctionSubclass():
            result, changed = exchanged(FORMS[name], func, args, kwargs, self.eps)
        if changed:
            self.forms.append((FORMS[name].words, place.line if place is not None else self.frame.line))
        return result


def exchanged(form: Form, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> tuple[Any, bool]:
    """What the stable form gives, and whether it did anything else than the plain call. Syncs the host."""
    plain: list[Any] = []

    @functools.wraps(func)
    def call(*now: Any, **named: Any) -> Any:
        made = func(*now, **named)
        pairs = [*zip(args, now, strict=False), *((kwargs.get(key), value) for key, value in named.items())]
        plain[:] = [] if any(new is not old and not same(old, new) for old, new in pairs) else [made]
        return made

    result = form.run(call, args, kwargs, eps)
    return result, not any(made is result for made in plain)


def same(old: Any, new: Any) -> bool:
    """True for the same values, NaN where NaN was."""
    if not isinstance(old, Tensor) or not isinstance(new, Tensor):
        return not isinstance(old, Tensor) and not isinstance(new, Tensor) and bool(old == new)
    return old.shape == new.shape and bool(((old == new) | ((old != old) & (new != new))).all())
