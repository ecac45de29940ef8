"""The module of birth alone in full precision; everything else as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from debugtracer.interventions.full_precision import FullPrecision
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.recast import recast
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.tape.entry import HALF, mapped


class ModuleInFloat32(Intervention):
    """Narrower than the whole step in float32: if this heals, the range of one module is the fault. Its output stays
    float32, as after `.float()`."""

    scope: ClassVar[Scope] = "op"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse without half precision and a module below the root."""
        half = FullPrecision().refuses(rerun)
        return half or ("" if self.module(rerun) is not None else "the fault was not born in a module below the root")

    def apply(self, rerun: Rerun) -> str:
        """Recast the module and what it is given, without autocast."""
        module = self.module(rerun)
        assert module is not None
        rerun.throughout.append(recast([module], [], torch.float32, None, only=HALF))
        rerun.throughout.append(wide(module))
        return f"{rerun.birth.module if rerun.birth else 'the module'} alone in float32"

    def module(self, rerun: Rerun) -> nn.Module | None:
        """The module of birth, None if it is not below a root."""
        path = rerun.birth.module if rerun.birth is not None else None
        for root in rerun.roots if path else ():
            with contextlib.suppress(AttributeError):
                return root.get_submodule(path or "")
        return None


@contextlib.contextmanager
def wide(module: nn.Module) -> Iterator[None]:
    """Run the module on float32 tensors with autocast off inside the context."""
    forward, own = module.forward, "forward" in module.__dict__

    def called(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = (mapped(v, lambda t: t.float() if t.dtype in HALF else t, (Tensor,)) for v in (args, kwargs))
        kinds = {t.device.type for t in (*args, *kwargs.values()) if isinstance(t, Tensor)} or {"cpu"}
        with torch.autocast(next(iter(kinds)), enabled=False):
            return forward(*args, **kwargs)

    module.forward = called
    try:
        yield
    finally:
        if own:
            module.forward = forward
        else:
            del module.forward
