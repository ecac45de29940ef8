"""Checks that an update changes what it should, by a sample of each parameter before and after."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.line import first
from debugtracer.observers.numerics.even_sample import matrices, strided
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.effects import Effect

FIRST = 3  # updates of each optimizer (docs/rationale/checks.md#effect-invariants); then those of inspected steps
AGAIN = 2  # further updates that are looked at once one look found that nothing moves any more (ours)
SAMPLE = 256  # elements of a parameter that are compared (ours)
NAMED = 4  # unchanged parameters named as evidence
SQUARES = ("exp_avg_sq", "square_avg", "sum", "max_exp_avg_sq")  # what torch's optimizers divide by the root of
MARGIN = 8.0  # an update this many times the spacing of floats at the weight must show (ours)


class EffectObserver(Observer):
    """Copies small samples; on a device it waits once per inspected step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.updates: ById[Optimizer, tuple[int, int]] = ById()
        self.count = 0
        self.before: list[tuple[list[Tensor], Tensor, Tensor]] = []
        self.again: ById[Optimizer, int] = ById()
        """Updates of an optimizer that are looked at now: one look found that it stopped."""
        self.moved: ById[Optimizer, int] = ById()
        """The last update of which all that was to move did."""
        self.witnesses: ById[Optimizer, WeakRef[Tensor] | None] = ById()
        """A parameter of each optimizer whose writes are counted in steps that are not looked at; None where it is
        written past the counter."""
        self.written: tuple[Tensor, int] | None = None
        """That of the step in flight, and how often it was written before."""

    def reset(self) -> None:
        self.updates.clear()
        self.before.clear()
        self.again.clear()
        self.moved.clear()
        self.witnesses.clear()
        self.written = None
        self.count = 0

    def step_begins(self, optimizer: Optimizer) -> None:
        """Take samples of the parameters that the update must change."""
        self.before = []
        number, done = self.updates.setdefault(optimizer, (self.count, 0))
        self.count += number == self.count
        looks = done < FIRST or self.run.inspecting or self.again.get(optimizer)
        self.written = None
        if isinstance(optimizer, torch.optim.LBFGS):
            return
        if not looks:
            reference = self.witnesses.get(optimizer)
            held = reference() if reference is not None else None
            if held is not None and held.grad is not None:
                self.written = held, held._version  # no values are read
            return
        with torch.no_grad():
            for group in optimizer.param_groups:
                lr = group.get("lr")
                if isinstance(lr, (int, float)) and lr > 0:
                    self.before += sampled([p for p in group["params"] if comparable(p)], float(lr))

    def step_ended(self, optimizer: Optimizer) -> None:
        """Compare the same samples after the update."""
        before, self.before = self.before, []
        number, done = self.updates.setdefault(optimizer, (self.count, 0))
        self.updates[optimizer] = (number, done + 1)
        if not before:
            if self.written is not None and self.written[0]._version == self.written[1]:
                self.look_again(optimizer)
            return
        with torch.no_grad():
            flags = [flag for held, old, must in before for flag in zip(held, *moved(held, old, must), strict=True)]
            expected = [(p, moved) for p, due, moved in flags if due and (moved or not outweighed(optimizer, p))]
        still = [p for p, moved in expected if not moved]
        names = self.run.names() if still else {}
        stopped = self.stopped(optimizer, done, len(expected), len(still))
        self.run.emit(
            Effect(
                ref=self.run.ref("update", self.run.iteration - 1),
                optimizer=number,
                kind=type(optimizer).__name__,
                frame=self.built_at(optimizer),
                by_torch=type(optimizer).__module__.startswith("torch.optim"),
                number=done,
                expected=len(expected),
                unchanged=tuple(names.get(id(p), f"parameter of shape {tuple(p.shape)}") for p in still[:NAMED]),
                unchanged_count=len(still),
                stopped=stopped,
                called=self.run.here() if stopped is not None else None,
            )
        )

    def stopped(self, optimizer: Optimizer, done: int, expected: int, still: int) -> int | None:
        """The last update that was seen to move everything, of an optimizer that now moves nothing; looks again at
        once."""
        if not expected:
            return None
        if not still:
            self.moved[optimizer] = done
            self.choose_witness(optimizer)
        moved = self.moved.get(optimizer)
        if moved is None or still < expected:
            if self.again.pop(optimizer, None) is not None and not still:
                self.witnesses[optimizer] = None
            return None
        left = self.again.get(optimizer)
        self.again[optimizer] = AGAIN if left is None else max(0, left - 1)
        return moved

    def choose_witness(self, optimizer: Optimizer) -> None:
        """Take the first parameter that was just updated, and that torch counts the writes of."""
        held = next((p for group in optimizer.param_groups for p in group["params"] if comparable(p)), None)
        if held is not None and optimizer not in self.witnesses and not held.is_inference():
            self.witnesses[optimizer] = WeakRef(held)

    def look_again(self, optimizer: Optimizer) -> None:
        """Look closely at the next updates, for this one wrote nothing; a witness that is written past the counter
        (`p.data`) is dropped with the first look that finds it moved."""
        if self.again.get(optimizer) is None:
            self.again[optimizer] = AGAIN + 1

    def built_at(self, optimizer: Optimizer) -> Frame | None:
        """Where the user built it; the constructor of an optimizer of their own is not that place."""
        raw = self.run.optimizers.get(optimizer)
        outside = tuple(pair for pair in raw or () if pair[0].co_name != "__init__")
        return first(outside)


def comparable(parameter: Tensor) -> bool:
    """True for a dense float parameter with a dense gradient."""
    grad = parameter.grad
    dense = grad is not None and grad.layout is torch.strided and parameter.layout is torch.strided
    return dense and parameter.is_floating_point() and parameter.numel() > 0


def part(tensor: Tensor) -> Tensor:
    """Select elements spread evenly over a tensor."""
    flat = tensor.detach().reshape(-1) if tensor.is_contiguous() else tensor.detach().flatten()
    return strided(flat, SAMPLE)


def sampled(held: list[Tensor], lr: float) -> Iterator[tuple[list[Tensor], Tensor, Tensor]]:
    """Yield parameters whose samples are equally long, a copy of those as rows, and which elements a healthy update
    changes."""
    for places, old in matrices([part(p) for p in held]):
        chosen = [held[place] for place in places]
        slope = torch.stack([part(p.grad) for p in chosen if p.grad is not None]).abs().float()
        spacing = old.abs().float() * torch.finfo(old.dtype).eps
        must = torch.isfinite(slope) & (slope > 0) & ((slope.clamp(max=1.0) * lr) > MARGIN * spacing)
        yield chosen, old.clone() if len(chosen) == 1 else old, must


def moved(held: list[Tensor], old: Tensor, must: Tensor) -> tuple[list[bool], list[bool]]:
    """Compare again: which parameters had to change, and which of them did."""
    now = torch.stack([part(p) for p in held])
    due, done = torch.stack((must.any(dim=1), ((now != old) & must).any(dim=1))).tolist()
    return due, done


def outweighed(optimizer: Optimizer, parameter: Tensor) -> bool:
    """Whether squares of former gradients, by whose root the optimizer divides, leave no update that would show: of a
    loss that ran away they stay large, or are infinite. Waits for a device."""
    state = optimizer.state.get(parameter, {})
    squares = [
        held for name in SQUARES if isinstance(held := state.get(name), Tensor) and held.shape == parameter.shape
    ]
    lr = next((group["lr"] for group in optimizer.param_groups if any(p is parameter for p in group["params"])), None)
    slope = state.get("exp_avg", parameter.grad)
    if not squares or not isinstance(lr, (int, float)) or not isinstance(slope, Tensor):
        return False
    update = lr * part(slope).abs().float() / part(squares[-1]).float().sqrt()
    spacing = part(parameter).abs().float() * torch.finfo(parameter.dtype).eps
    return not bool((update > MARGIN * spacing).any())
