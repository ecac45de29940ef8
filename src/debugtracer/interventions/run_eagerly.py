"""The same code without the compiler."""

from __future__ import annotations

from typing import ClassVar

import torch

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class RunEagerly(Intervention):
    """Heals what the compiled code computes otherwise than the program says."""

    scope: ClassVar[Scope] = "op"

    def refuses(self, rerun: Rerun) -> str:
        """Every other step is replayed eagerly anyway."""
        return "" if rerun.compiled else "the fault shows in eager code too, or nothing is compiled"

    def apply(self, rerun: Rerun) -> str:
        """Set the stance of torch.compiler to eager for the run."""
        rerun.throughout.append(torch.compiler.set_stance("force_eager"))
        return "the compiled code run eagerly"
