"""A larger epsilon: of the normalisation at the guilty line, or of the optimizer when its update is bad."""

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
from debugtracer.interventions.rerun import Rerun
from debugtracer.interventions.update_rows import larger_eps as update_eps

NORMALISATIONS = ("layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm", "normalize", "linalg_vector_norm", "rsqrt", "native_")


class LargerEps(Intervention):
    """`eps` of every normalisation module of the step, or of the optimizer, raised to a value that the dtype can hold."""

    scope: ClassVar[Scope] = "op"
    default: ClassVar[float | None] = 1e-4
    unit: ClassVar[str] = "the epsilon"

    def refuses(self, rerun: Rerun) -> str:
        """Something of the step must have an epsilon."""
        return "" if self.groups(rerun) or self.modules(rerun) else "neither the optimizer nor a module of the step has an eps"

    def apply(self, rerun: Rerun) -> str:
        """Of the optimizer for a bad update, of modules else."""
        if rerun.symptom == "bad_update" and self.groups(rerun):
            rerun.on_update.append(self.raise_in)
            return f"eps of {type(self.groups(rerun)[0]).__name__} raised to {self.size:g}"
        modules = self.modules(rerun)
        if not modules:
            rerun.on_update.append(self.raise_in)
            return f"eps of {type(self.groups(rerun)[0]).__name__} raised to {self.size:g}"
        rerun.throughout.append(with_eps(modules, self.size))
        return f"eps of {len(modules)} normalisation module{'s' if len(modules) > 1 else ''} raised to {self.size:g}"

    def raise_in(self, optimizer: Optimizer) -> None:
        """In every group."""
        for group in optimizer.param_groups:
            if "eps" in group and isinstance(group["eps"], float):
                group["eps"] = max(group["eps"], self.size)

    def groups(self, rerun: Rerun) -> list[Optimizer]:
        """Optimizers with an eps."""
        return [o for o in rerun.optimizers if any(isinstance(g.get("eps"), float) for g in o.param_groups)]

    def modules(self, rerun: Rerun) -> list[nn.Module]:
        """Modules with an eps below the roots."""
        return [m for root in rerun.roots for m in root.modules() if isinstance(getattr(m, "eps", None), float)]

    def offline(self, tape: OfflineRerun) -> str:
        """Of the recorded update for a bad update, of the recorded normalisations else."""
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
    """Their eps raised for a while."""
    kept: list[tuple[Any, float]] = [(m, float(getattr(m, "eps"))) for m in modules]  # noqa: B009
    for module, old in kept:
        module.eps = max(old, eps)
    try:
        yield
    finally:
        for module, old in kept:
            module.eps = old
