"""The batch norms of a frozen part, and how far their running statistics moved since they were first looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy

from debugtracer.callsites.frames import RawFrames
from debugtracer.observers.weights.fresh_statistics import norms_of
from debugtracer.observers.weights.weight_samples import WeightSamples
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.step import StepRef

BEGUN = 16  # batches after which statistics are still mostly those of a new norm (ours)
SHORT = 0.5  # momentum above which statistics leap from batch to batch (checks/model/statistics_leap.py)


class FrozenPart(NamedTuple):
    """What of a root is frozen as a whole: its batch norms in training mode, its weights, its path where it is one."""

    norms: list[tuple[str, _BatchNorm]]
    weights: list[Tensor]
    path: str


class Move(NamedTuple):
    """How far the statistics of one norm moved: of the mean in deviations, of the variance as a ratio of 1 or more."""

    name: str
    gap: float
    ratio: float


class FrozenNorms:
    """Copies of small buffers, and samples of the weights before them. Keeps nothing of the program alive."""

    def __init__(self, root: nn.Module, part: FrozenPart, ref: StepRef, raw: RawFrames) -> None:
        self.root, self.kind, self.made_in = WeakRef(root), type(root).__name__, type(root).__module__
        self.path, self.ref, self.raw = part.path, ref, raw
        self.whole = not any(p.requires_grad for p in root.parameters())
        self.names = [name for name, _ in part.norms]
        self.norms = [WeakRef(norm) for _, norm in part.norms]
        self.weights = [WeakRef(weight) for weight in part.weights]
        self.samples = WeightSamples(part.weights)
        self.settled = False
        """An update has come since: it is training that calls it."""
        self.in_training_mode = True
        """It was in training mode at the last look."""
        self.moves: list[Move] = []
        self.steps = 0
        """Updates by the time of these."""
        self.mode_line: RawFrames = ()
        """Where it was put into training mode."""
        self.named_by_call = False
        """There it is called by the names that are told."""
        self.keep()

    def keep(self) -> None:
        """Copy the statistics as they are now."""
        self.before = [statistics(norm) for norm in self.alive()]

    def alive(self) -> list[_BatchNorm]:
        """The norms, or nothing once one of them is gone."""
        alive = [norm for reference in self.norms if (norm := reference()) is not None]
        return alive if len(alive) == len(self.norms) else []

    def unfrozen(self) -> bool:
        """Whether any of the weights trains now."""
        return any(weight.requires_grad for reference in self.weights if (weight := reference()) is not None)

    def trains(self) -> bool:
        """Whether its norms follow the batches."""
        return any(norm.training for norm in self.alive())

    def settle(self) -> None:
        """Note that an update has come."""
        self.settled = True

    def look_at_mode(self) -> None:
        """Note whether it is in training mode now."""
        self.in_training_mode = self.trains()

    def put_into_training(self, raw: RawFrames) -> None:
        """Note where it was put into training mode."""
        self.mode_line = raw

    def rename(self, around: nn.Module, path: str) -> None:
        """Take the names that a module around the root has for its parts. Call once."""
        self.kind, self.named_by_call = type(around).__name__, True
        self.whole = not any(p.requires_grad for p in around.parameters())
        if path:
            whole = not any(p.requires_grad for p in around.get_submodule(path).parameters())
            self.path = f"{path}.{self.path}".strip(".") if self.path or whole else ""
            self.names = [f"{path}.{name}" for name in self.names]
            self.moves = [move._replace(name=f"{path}.{move.name}") for move in self.moves]

    def measure(self, step: int) -> None:
        """Compare the statistics with the copies. Waits for a device once."""
        found = [moved(norm, *old) for norm, old in zip(self.alive(), self.before, strict=False)]
        if found:
            values = torch.stack([t.double().cpu() for t in found])
            rows = zip(self.names, values.tolist(), values.isfinite().all(dim=1).tolist(), strict=True)
            self.moves = [Move(name, *pair) for name, pair, plain in rows if plain]
            self.steps = step - self.ref.step


def statistics(norm: _BatchNorm) -> tuple[Tensor, Tensor]:
    """The running mean and variance, copied."""
    mean, var = norm.running_mean, norm.running_var
    assert mean is not None
    assert var is not None
    return mean.detach().clone(), var.detach().clone()


def moved(norm: _BatchNorm, mean: Tensor, var: Tensor) -> Tensor:
    """The medians over channels: how far the mean moved in deviations, and the variance as a ratio."""
    now, spread = statistics(norm)
    gap = ((now - mean).abs() / (var + norm.eps).sqrt()).median()
    ratio = ((spread + norm.eps) / (var + norm.eps)).log().abs().median().exp()
    return torch.stack([gap, ratio])


def frozen_part(root: nn.Module) -> FrozenPart:
    """The batch norms in training mode of which neither the own weights train nor any that come before them: those of a
    child that is frozen as a whole, and those before the first trainable parameter. Reads flags alone."""
    norms: list[tuple[str, _BatchNorm]] = []
    weights: dict[int, Tensor] = {}
    paths = []
    for name, child in children(root):
        held = matrices(child.parameters())
        if held and not any(p.requires_grad for p in child.parameters()):
            found = [(f"{name}.{path}".strip("."), norm) for path, norm in norms_of(child) if follows(norm)]
            norms += found
            paths += [name] if found else []
            weights.update({id(p): p for p in held} if found else {})
    first = leading(root)
    known = {id(norm) for _, norm in norms}
    held = matrices(p for part in first for p in part.parameters(recurse=False))
    more = [(name, norm) for name, norm in norms_of(root) if any(norm is m for m in first) and id(norm) not in known]
    more = [(name, norm) for name, norm in more if follows(norm) and held]
    weights.update({id(p): p for p in held} if more else {})
    return FrozenPart([*norms, *more], list(weights.values()), paths[0] if len(paths) == 1 and not more else "")


def children(root: nn.Module) -> list[tuple[str, nn.Module]]:
    """The root itself where nothing of it trains; its children that hold parameters otherwise, of a wrapper around one
    module those of that module."""
    name, module = "", root
    while any(p.requires_grad for p in module.parameters()):
        below = [
            (f"{name}.{key}".strip("."), c) for key, c in module.named_children() if any(True for _ in c.parameters())
        ]
        if len(below) != 1 or any(True for _ in module.parameters(recurse=False)):
            return below
        name, module = below[0]
    return [(name, module)]


def leading(root: nn.Module) -> list[nn.Module]:
    """The modules before the first one that holds a trainable parameter, in the order in which they were registered."""
    found = []
    for module in root.modules():
        if any(p.requires_grad for p in module.parameters(recurse=False)):
            break
        found.append(module)
    return found


def matrices(parameters: Iterable[Tensor]) -> list[Tensor]:
    """The weights of linear and convolution layers."""
    return [p for p in parameters if not is_lazy(p) and p.dim() > 1 and not p.requires_grad]


def follows(norm: _BatchNorm) -> bool:
    """Whether a norm takes its statistics from the batches now, as an average over many."""
    short = norm.momentum is None or 0 < norm.momentum <= SHORT
    return norm.training and short and norm.running_mean is not None and not is_lazy(norm.running_mean)


def has_initial_statistics(norm: _BatchNorm) -> bool:
    """Whether its statistics are mean 0 and variance 1, or have counted a few batches since. Waits for a device."""
    counted, mean, var = norm.num_batches_tracked, norm.running_mean, norm.running_var
    if mean is None or var is None or mean.is_meta or (counted is not None and 0 < int(counted) <= BEGUN):
        return True
    return not bool(mean.any()) and bool((var == 1).all())
