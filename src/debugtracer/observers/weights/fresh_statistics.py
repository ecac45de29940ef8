"""Looks at the running statistics of a copy of the trained network where it is evaluated: were they brought over with
the weights?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.observers.weights.weight_samples import WeightSamples, is_readable, sample
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.fresh_statistics import FreshStatistics
from debugtracer.trace.number import number

AFTER = 3  # steps, after which the trained network has counted batches (docs/rationale/checks.md#effect-invariants)
MOST_CALLS = 256  # evaluations of a copy that are looked at (ours)
APART = 50  # steps between two of them, when the statistics of the copy have stood still (ours)
NORMS = 8  # of which the statistics are kept (ours)
SHIFT = 0.5  # standard deviations between two means, and
RATIO = 2.0  # between two variances: the channel is normalised otherwise (ours)
OFF = 0.25  # share of such channels (ours)
ALIKE = 0.4  # cosine between the weights of a copy and of what it follows (ours)
WRITES = frozenset({"copy_", "lerp_", "add_", "mul_", "_foreach_lerp_", "_foreach_add_", "_foreach_mul_"})
MOST_WRITTEN = 512  # tensors (ours)


class EvaluatedCopy:
    """What a copy was when it was first evaluated."""

    def __init__(self, copy: nn.Module, step: int) -> None:
        self.step = step
        self.weights = WeightSamples(list(copy.parameters()))
        self.statistics = statistics_of(copy)
        self.over = False


class FreshStatisticsObserver(Observer):
    """Waits for a device once a copy, and hears nothing more in a program without batch norms."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = 0
        self.known: ById[nn.Module, EvaluatedCopy] = ById()
        self.written: dict[int, RawFrames] = {}
        """Where tensors lie that were written without a graph in the first steps, and the lines."""

    def reset(self) -> None:
        """Drop what is known of copies."""
        self.calls = 0
        self.known.clear()
        self.written.clear()

    @of_functions(WRITES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what is written in place after the first update, and where."""
        if self.run.step == 0 or getattr(function, "__name__", "") not in WRITES:
            return
        if self.run.step > AFTER or len(self.written) >= MOST_WRITTEN:
            return self.run.unsubscribe(self.called)
        given = args[0] if args else None
        for one in given if isinstance(given, (list, tuple)) else (given,):
            if isinstance(one, Tensor) and one.layout is torch.strided and not one.requires_grad and one.dim() > 1:
                self.written.setdefault(one.data_ptr(), raw_frames(2)[:1])

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at a call without a graph of a network in evaluation mode that no optimizer trains."""
        if torch.is_grad_enabled() or module.training or self.run.step < AFTER:
            return
        alike = [m for m in self.run.modules() if m is not module and type(m) is type(module)]
        held = {id(p) for optimizer in self.run.optimizers for p in parameters(optimizer)} if alike else set()
        twins = [m for m in alike if is_twin(m, module, held)]
        self.calls += bool(twins)  # those of the trained network itself are no copies, however many there are
        trained = next((m for m in twins if norms_of(m) and has_counted(m)), None)
        if self.calls >= MOST_CALLS:
            self.run.unsubscribe(self.left)
        if trained is not None:
            self.compare(module, trained)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Listen no more where no network has a batch norm."""
        if self.run.step < AFTER:
            return
        self.run.unsubscribe(self.backward_ended)
        if not any(norms_of(module) for module in self.run.modules()):
            self.run.unsubscribe(self.left, self.called)

    def compare(self, copy: nn.Module, trained: nn.Module) -> None:
        """Emit a copy whose weights were written after it was made, and whose statistics are those of a new one, or
        still those of another look."""
        norms = norms_of(copy)
        if not norms:
            return
        at = next((raw for p in copy.parameters() if (raw := self.written.get(p.data_ptr()))), ())
        if all(is_new(norm) for _, norm in norms) and (at or (was_written(copy) and is_near(copy, trained))):
            return self.tell(copy, trained, at, 0.0)
        look = self.known.get(copy)
        if look is None:
            self.known[copy] = EvaluatedCopy(copy, self.run.step)
        elif not look.over and self.run.step - look.step >= APART:
            look.over = not is_equal(look.statistics, statistics_of(copy))
            off = 0.0 if look.over or look.weights.stand() else share_off(look.statistics, statistics_of(trained))
            if off >= OFF:
                self.tell(copy, trained, at, off)

    def tell(self, copy: nn.Module, trained: nn.Module, at: RawFrames, off: float) -> None:
        """Emit the copy, once."""
        norms, counted = norms_of(copy), norms_of(trained)[0][1].num_batches_tracked
        self.run.unsubscribe(self.left, self.backward_ended, self.called)
        self.run.emit(
            FreshStatistics(
                ref=self.run.ref("update", self.run.iteration - 1), module=norms[0][0], norms=len(norms),
                trained=0 if counted is None else int(counted), kind=type(copy).__name__, frame=self.run.here(),
                written=first(at), off=number(off),
            )
        )  # fmt: skip


def statistics_of(module: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """Copy the means and variances of its first batch norms."""
    norms = (norm for _, norm in norms_of(module)[:NORMS])
    return [(n.running_mean.clone(), n.running_var.clone()) for n in norms]  # type: ignore[union-attr]


def is_equal(old: list[tuple[Tensor, Tensor]], new: list[tuple[Tensor, Tensor]]) -> bool:
    """Whether statistics are bit for bit what they were."""
    return all(torch.equal(a, c) and torch.equal(b, d) for (a, b), (c, d) in zip(old, new, strict=False))


def share_off(held: list[tuple[Tensor, Tensor]], now: list[tuple[Tensor, Tensor]]) -> float:
    """The share of channels that two sets of statistics normalise otherwise."""
    found = []
    for (mean, var), (other, new) in zip(held, now, strict=False):
        wide, narrow = torch.maximum(var, new), torch.minimum(var, new)
        found.append(((mean - other).abs() > SHIFT * wide.sqrt()) | (wide > RATIO * narrow))
    return float(torch.cat([f.flatten().double().cpu() for f in found]).mean()) if found else 0.0


def is_near(copy: nn.Module, trained: nn.Module) -> bool:
    """Whether the weights of two networks point the same way: those of two beginnings do not."""
    pairs = zip(copy.parameters(), trained.parameters(), strict=True)
    both = [(sample(a), sample(b)) for a, b in pairs if a.dim() > 1 and is_readable(a) and is_readable(b)]
    if not both:
        return False
    one, other = (torch.cat([pair[side].double().cpu() for pair in both]) for side in (0, 1))
    return float(torch.cosine_similarity(one, other, dim=0)) >= ALIKE


def is_twin(module: nn.Module, other: nn.Module, held: set[int]) -> bool:
    """Whether two networks of one class are of one shape, too, and an optimizer holds the first alone: gradients may
    be cleared by now, or the optimizer gone with the function that trained."""
    ours, theirs = list(module.parameters()), list(other.parameters())
    return (
        len(ours) == len(theirs)
        and all(a.shape == b.shape and a is not b for a, b in zip(ours, theirs, strict=True))
        and any(id(p) in held or p.grad is not None for p in ours)
        and not any(id(p) in held or p.grad is not None for p in theirs)
    )


def norms_of(module: nn.Module) -> list[tuple[str, _BatchNorm]]:
    """The batch norms that keep statistics, with their paths."""
    return [
        (name, m)
        for name, m in module.named_modules()
        if isinstance(m, _BatchNorm) and m.running_mean is not None and m.running_var is not None
    ]


def has_counted(module: nn.Module) -> bool:
    """Whether its batch norms have seen batches: a counter is read."""
    counted = norms_of(module)[0][1].num_batches_tracked
    return counted is not None and int(counted) > 0


def is_new(norm: _BatchNorm) -> bool:
    """Whether the statistics are those of a norm that was just made."""
    counted, mean, var = norm.num_batches_tracked, norm.running_mean, norm.running_var
    if counted is None or mean is None or var is None:
        return False
    return int(counted) == 0 and not bool(mean.any()) and bool((var == 1).all())


def was_written(module: nn.Module) -> bool:
    """Whether somebody has written its weights in place since it was copied: a reference that is never updated is not
    evaluated for what was trained."""
    return any(p._version > 0 for p in module.parameters() if p.dim() > 1)
