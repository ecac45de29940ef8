"""The module of birth left out: its input goes on as it came."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.exchange import instead
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class BypassModule(Intervention):
    """The identity in its place, where it gives the shape it takes. If that heals, the fault lies in this module and
    not before or after it."""

    scope: ClassVar[Scope] = "structure"

    def refuses(self, rerun: Rerun) -> str:
        """The module must be known, and not be everything."""
        module = rerun.module()
        if module is None:
            return "the fault was born outside any module"
        return "the fault was born in the root module itself" if any(module is root for root in rerun.roots) else ""

    def apply(self, rerun: Rerun) -> str:
        """Bypass the module for the time of the run."""
        module = rerun.module()
        assert module is not None
        passed: list[Tensor] = []

        def identity(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            given = next((v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)), None)
            with torch.no_grad():  # it runs for its shape, and for the random numbers that others draw after it
                made = original(*args, **kwargs)
            if given is None or not isinstance(made, Tensor) or made.shape != given.shape:
                raise ReplayRefused(f"{rerun.module_name()} gives another shape than it takes")
            passed.append(given)
            return given.to(made.dtype)

        rerun.throughout.append(instead(module, identity))
        rerun.doubts.append(lambda: "" if passed else f"{rerun.module_name()} was not called")
        return f"{rerun.module_name()} replaced by the identity"
