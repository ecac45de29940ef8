"""A larger epsilon: in the function of the guilty line, in the normalisation modules of the step, or in the optimizer
when its update is bad."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar

from torch import nn
from torch.optim import Optimizer

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.eps_rows import normalisations, raise_eps
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.raised_eps import Raised
from debugtracer.interventions.rerun import Rerun
from debugtracer.interventions.update_rows import larger_eps as update_eps


class LargerEps(Intervention):
    """Raised to a value that the dtype can hold. If that heals, the small epsilon vanished beside what it was added
    to."""

    scope: ClassVar[Scope] = "op"
    default: ClassVar[float | None] = 1e-4
    unit: ClassVar[str] = "the epsilon"
    ladder: ClassVar[tuple[float, ...]] = (1e-2,)

    def refuses(self, rerun: Rerun) -> str:
        """Refuse if nothing of the step has a smaller epsilon and no guilty line may hold one."""
        frame = rerun.birth.innermost if rerun.birth is not None else None
        if rerun.symptom == "bad_update":
            return "" if self.groups(rerun) else f"the optimizer has no eps below {self.size:g}"
        return (
            "" if frame is not None or self.modules(rerun) else f"no module of the step has an eps below {self.size:g}"
        )

    def apply(self, rerun: Rerun) -> str:
        """Raise the eps of the optimizer for a bad update; of the guilty function and of modules otherwise."""
        if rerun.symptom == "bad_update":
            rerun.on_update.append(self.raise_in)
            return f"eps of {type(self.groups(rerun)[0]).__name__} raised to {self.size:g}"
        modules = self.modules(rerun)
        rerun.throughout.append(with_eps(modules, self.size))
        words = [f"eps of {len(modules)} normalisation module{'s' if len(modules) > 1 else ''}"] if modules else []
        frame = rerun.birth.innermost if rerun.birth is not None else None
        if frame is not None:
            mode = Raised(frame, self.size)
            mode.join(rerun)
            rerun.doubts.append(
                lambda: (
                    ""
                    if modules or mode.seen
                    else f"neither the modules of the step nor {frame.function} have an eps below {self.size:g}"
                )
            )
            rerun.described = lambda: f"{' and '.join([*words, *mode.words()])} raised to {self.size:g}"
        return f"{' and '.join(words) or 'eps'} raised to {self.size:g}"

    def raise_in(self, optimizer: Optimizer) -> None:
        """Raise the eps of every parameter group."""
        for group in optimizer.param_groups:
            if isinstance(group.get("eps"), float):
                group["eps"] = max(group["eps"], self.size)

    def groups(self, rerun: Rerun) -> list[Optimizer]:
        """The optimizers with a smaller eps."""
        return [
            o
            for o in rerun.optimizers
            if any(isinstance(g.get("eps"), float) and g["eps"] < self.size for g in o.param_groups)
        ]

    def modules(self, rerun: Rerun) -> list[nn.Module]:
        """The modules below the roots with a smaller eps."""
        return [
            m
            for root in rerun.roots
            for m in root.modules()
            if isinstance(eps := getattr(m, "eps", None), float) and eps < self.size
        ]

    def offline(self, tape: OfflineRerun) -> str:
        """Raise the eps of the recorded update for a bad update, of the recorded normalisations otherwise."""
        if tape.symptom == "bad_update":
            changed = update_eps(tape, self.size)
            if not changed:
                raise ReplayRefused("no epsilon is recognised in the recorded update")
            return f"eps of the optimizer raised to {self.size:g}"
        found = normalisations(tape)
        forward = [one for one in found if tape.program.places[one[1].place].forward_op is None]
        if not forward:
            raise ReplayRefused("no recorded operator of the step has an eps")
        for number, row, adds in found:
            raise_eps(tape, number, row, adds, self.size)
        return f"eps of {len(forward)} normalisation{'s' if len(forward) > 1 else ''} raised to {self.size:g}"


@contextlib.contextmanager
def with_eps(modules: list[nn.Module], eps: float) -> Iterator[None]:
    """Raise the eps of these modules inside the context."""
    kept: list[tuple[Any, float]] = [(m, float(getattr(m, "eps"))) for m in modules]  # noqa: B009
    for module, _ in kept:
        module.eps = eps
    try:
        yield
    finally:
        for module, old in kept:
            module.eps = old
