"""Compares the estimates of spectral norms with the weights, where a model is evaluated before it was trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.spectral_norm import SpectralNorm

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.spectral_start import SpectralStart

OFF = 0.5  # share of the largest singular value that an estimate in use has reached (ours: one iteration gives more)
NAMED = 4  # weights named as evidence
ELEMENTS = 2**22  # of one weight; a larger one is not decomposed (ours)


class SpectralStartsObserver(Observer):
    """Deaf after the first backward: the forward before it has iterated. Costs a decomposition of each normalised
    weight, once, and nothing where a model has none."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.seen: ById[nn.Module, bool] = ById()

    def reset(self) -> None:
        self.seen.clear()

    def entered(self, module: nn.Module, args: tuple[object, ...]) -> None:
        """Look at a model before its first call in evaluation mode."""
        if module.training or self.seen.get(module):
            return
        self.seen[module] = True
        with torch.no_grad():
            found = [(path, *pair) for path, pair in estimates(module).items()]
        off = sorted((abs(estimate) / norm, path, abs(estimate), norm) for path, estimate, norm in found if norm > 0)
        off = [one for one in off if one[0] < OFF]
        if off:
            self.run.emit(
                SpectralStart(
                    ref=self.run.ref("forward"), root=type(module).__name__, frame=self.run.here(),
                    parts=tuple(path for _, path, _, _ in off[:NAMED]), of=len(found), estimate=off[0][2],
                    norm=off[0][3],
                )
            )  # fmt: skip

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Stop listening: the forward before this backward has iterated."""
        self.run.unsubscribe(self.entered, self.backward_ended)


def estimates(model: nn.Module) -> dict[str, tuple[float, float]]:
    """Read what each normalised weight is divided by in evaluation mode, and its largest singular value, by path."""
    found: dict[str, tuple[float, float]] = {}
    for path, part in model.named_modules():
        for hook in part._forward_pre_hooks.values():
            weight = getattr(part, f"{hook.name}_orig", None) if isinstance(hook, SpectralNorm) else None
            if isinstance(weight, Tensor) and weight.numel() <= ELEMENTS and not weight.is_meta:
                flat = hook.reshape_weight_to_matrix(weight).float()
                u, v = getattr(part, f"{hook.name}_u").float(), getattr(part, f"{hook.name}_v").float()
                name = f"{path}.{hook.name}" if path else hook.name
                found[name] = (float(torch.dot(u, torch.mv(flat, v))), float(torch.linalg.matrix_norm(flat, 2)))
    return found
