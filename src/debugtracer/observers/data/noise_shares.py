"""Follows data and noise that are added up, each times a factor for its row out of a cumulated product, as a diffusion
model does: do the squares of the factors add up to 1?"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.bootstrap_masks import ADDS
from debugtracer.observers.loss.drawn_targets import DRAWS
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.noise_share import NoiseShare
from debugtracer.trace.number import number

FEWEST, LARGEST = 4, 4096  # rows (ours: fewer say little of a schedule)
MOST = 32  # products of a step that are followed (ours)
SIGNALS = 256  # tensors made of a schedule that are followed (ours)
LOOKS = 8  # inspected steps (ours)


class ScaledRows(NamedTuple):
    """A product of rows with a factor each; `signal`: the factor comes from a cumulated product."""

    factor: Tensor
    noise: bool
    signal: bool


class NoiseSharesObserver(Observer):
    """Keeps one column of factors for each product until the step ends; one wait for the device for each mixture."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.draws: ById[Tensor, bool] = ById()
        self.scaled: ById[Tensor, ScaledRows] = ById()
        self.signals: ById[Tensor, bool] = ById()
        """Cumulated products, the shares of the signal that are left, and what was made of them."""
        self.looks = 0

    def reset(self) -> None:
        self.draws.data.clear()
        self.scaled.data.clear()
        self.signals.data.clear()
        self.looks = 0

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step; the schedule is known after some."""
        self.draws.data.clear()
        self.scaled.data.clear()
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.step_closed)

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a draw, a product with one factor a row, and the sum of two of these."""
        name = getattr(function, "__name__", "")
        begins = name == "cumprod" or name in DRAWS or name in PRODUCTS or name in ADDS
        if not begins and not self.signals.data:
            return
        if not isinstance(output, Tensor) or output.requires_grad or not is_dense(output):
            return
        known = name == "cumprod" or any(isinstance(value, Tensor) and value in self.signals for value in args)
        if known and output.is_floating_point() and len(self.signals) < SIGNALS:
            self.signals[output] = True
        if output.dim() < 2:
            return
        if name in DRAWS:
            self.draws[output] = True
        elif name in PRODUCTS and len(args) == 2 and len(self.scaled) < MOST:
            self.product(args, output)
        elif name in ADDS and len(args) == 2 and all(isinstance(value, Tensor) for value in args):
            parts = [self.scaled.get(value) for value in args]
            if parts[0] is not None and parts[1] is not None and parts[0].noise != parts[1].noise:
                noise, data = sorted(parts, key=lambda one: one is not None and not one.noise)
                self.tell(data, noise)

    def product(self, args: tuple[Any, ...], output: Tensor) -> None:
        """Note rows times a column."""
        rows = next((v for v in args if isinstance(v, Tensor) and v.shape == output.shape), None)
        factor = next((v for v in args if isinstance(v, Tensor) and v is not rows), None)
        if rows is None or factor is None or not FEWEST <= len(output) <= LARGEST or not is_dense(factor):
            return
        if factor.numel() == len(output) == factor.shape[0] and factor.is_floating_point():
            self.scaled[output] = ScaledRows(
                factor.detach().flatten().clone(), rows in self.draws, factor in self.signals
            )

    def tell(self, data: ScaledRows | None, noise: ScaledRows | None) -> None:
        """Emit how far the factors are from what they may be."""
        if data is None or noise is None or len(data.factor) != len(noise.factor) or not (data.signal and noise.signal):
            return
        raw = raw_frames(2)
        with torch.no_grad(), torch._C.DisableTorchFunction():
            s, n = data.factor.double(), noise.factor.double()
            sums = [s**2 + n**2, s**2 + n, s + n**2, s + n]
            off = torch.stack([*((one - 1).abs().max() for one in sums), n.min(), n.max()]).tolist()
        squares, plain_noise, plain_data, straight, low, high = map(number, off)
        self.run.emit(
            NoiseShare(
                ref=self.run.ref("forward"), rows=len(s), squares=squares, plain_noise=plain_noise,
                plain_data=plain_data, straight=straight, low=low, high=high, frame=first(raw),
            )
        )  # fmt: skip
