"""A hand-written layer or autograd.Function at the place of birth replaced by what torch itself has for it."""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar

from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.derived_backward import derived, function_at
from debugtracer.interventions.exchange import instead
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun
from debugtracer.interventions.standard_forms import Standard, recognised


class StandardModule(Intervention):
    """A layer is exchanged only for a function that gives the same numbers on healthy inputs; a Function gets the
    backward autograd derives."""

    scope: ClassVar[Scope] = "structure"
    cost: ClassVar[float] = 2.0

    def refuses(self, rerun: Rerun) -> str:
        """A Function or a module of the user must be known as the place."""
        if self.function(rerun) is not None:
            return ""
        module = rerun.module()
        if module is None:
            return "the fault was born outside any module"
        if type(module).__module__.startswith("torch."):
            return f"{rerun.module_name()} is torch's own"
        return "the fault was born in the root module itself" if any(module is root for root in rerun.roots) else ""

    def function(self, rerun: Rerun) -> Any:
        """The custom autograd.Function whose backward made the bad value."""
        return (
            function_at(rerun.birth.innermost)
            if rerun.birth is not None and rerun.birth.innermost is not None
            else None
        )

    def apply(self, rerun: Rerun) -> str:
        """Replace the layer or Function for the time of the run."""
        function = self.function(rerun)
        if function is not None:
            seen: list[str] = []
            rerun.throughout.append(derived(function, seen))
            rerun.doubts.append(lambda: "" if seen else f"the backward of {function.__name__} was not called")
            return f"the backward of {function.__name__} replaced by the one that autograd derives from its forward"
        return self.exchange(rerun)

    def exchange(self, rerun: Rerun) -> str:
        """The module's forward, at its first call, for the function that agrees with it."""
        module = rerun.module()
        assert module is not None
        found: list[Standard] = []

        def standard(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            given = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)]
            if len(given) != len(args) + len(kwargs):
                raise ReplayRefused(f"{rerun.module_name()} takes more than tensors")
            if not found:
                with contextlib.ExitStack() as stack:
                    for buffer in module.buffers():
                        stack.callback(buffer.data.copy_, buffer.detach().clone())
                    one = recognised(
                        lambda *ts: original(*ts[: len(args)], **dict(zip(kwargs, ts[len(args) :], strict=True))),
                        given,
                        list(module.parameters()),
                    )
                if one is None:
                    raise ReplayRefused(f"{rerun.module_name()} computes nothing that torch has of its own")
                found.append(one)
            return found[0].run(*given)

        rerun.throughout.append(instead(module, standard))
        rerun.doubts.append(lambda: "" if found else f"{rerun.module_name()} was not called")
        rerun.described = lambda: f"{found[0].words} in place of {rerun.module_name()}" if found else ""
        return f"torch's own in place of {rerun.module_name()}"
