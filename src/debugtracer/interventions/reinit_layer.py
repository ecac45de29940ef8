"""The module of birth with fresh initial weights."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.state.version_counters import kept_versions

SEED = 0  # of the fresh weights; any would do (ours)


class ReinitLayer(Intervention):
    """`reset_parameters()` of the module and of those below it, from a seed of ours. If that heals, the weights were
    the fault, not the arithmetic."""

    scope: ClassVar[Scope] = "structure"

    def refuses(self, rerun: Rerun) -> str:
        """The module must be known, and know how to begin."""
        module = rerun.module()
        if module is None:
            return "the fault was born outside any module"
        return "" if resettable(module) else f"{type(module).__name__} has no reset_parameters"

    def apply(self, rerun: Rerun) -> str:
        """Reset the module for the time of the run."""
        module = rerun.module()
        assert module is not None
        rerun.throughout.append(reset(module))
        return f"{rerun.module_name()} with fresh initial weights"


def resettable(module: nn.Module) -> list[Any]:
    """The modules from this one down that can be set to their initial weights."""
    return [
        m
        for m in module.modules()
        if callable(getattr(m, "reset_parameters", None)) and any(True for _ in nn.Module.parameters(m, recurse=False))
    ]


@contextlib.contextmanager
def reset(module: nn.Module, seed: int = SEED) -> Iterator[None]:
    """Give the module fresh weights in new memory; restore the old memory, its version counters and the generators at
    exit."""
    held: dict[int, Tensor] = {id(t): t for m in resettable(module) for t in (*m.parameters(), *m.buffers())}
    kept = [(t, t.data) for t in held.values()]
    state = RngState()
    with kept_versions(held.values()):
        try:
            for tensor in held.values():
                tensor.data = tensor.data.clone()
            torch.manual_seed(seed)
            for part in resettable(module):
                part.reset_parameters()
            state.restore()
            yield
        finally:
            state.restore()
            for tensor, data in kept:
                tensor.data = data
