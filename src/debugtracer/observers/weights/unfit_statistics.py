"""Looks at evaluations of averaged weights: are their batch norms given what the running statistics say?"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.weights.fitting_statistics import Statistics, share_unfit
from debugtracer.observers.weights.fresh_statistics import (
    AFTER,
    MOST_CALLS,
    OFF,
    has_counted,
    is_equal,
    is_near,
    is_new,
    is_twin,
    norms_of,
    statistics_of,
    was_written,
)
from debugtracer.observers.weights.weight_samples import WeightSamples
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.unfit_statistics import UnfitStatistics
from debugtracer.trace.number import number

CALM = 0.1  # share of the channels of the trained network that may be off on the same batch (ours)
MOST = 4  # evaluations that are measured (ours: each is two forwards of copies)

How = Literal["averaged", "loaded", "written", "exchanged"]


class OwnEvaluation(NamedTuple):
    """The trained network, as it was at the first call of an evaluation."""

    step: int
    weights: WeightSamples
    statistics: list[Statistics]
    off: float | None
    """Of the first evaluation that was measured."""


class UnfitStatisticsObserver(Observer):
    """Forwards of deep copies at a few evaluations; hears nothing more in a program without batch norms."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.loaded: ById[nn.Module, tuple[bool, Frame | None]] = ById()
        """Networks that were loaded: not with what a trained one has at that time, and the line."""
        self.looked: ById[nn.Module, int] = ById()
        """Copies -> the step from which they are measured again."""
        self.own: ById[nn.Module, OwnEvaluation] = ById()
        self.calls = self.measured = self.asked = 0
        self.fresh = True
        """A pass over a loader has begun, or weights were loaded, since the trained network was looked at."""

    def reset(self) -> None:
        """Drop what is known of networks."""
        self.loaded.clear()
        self.looked.clear()
        self.own.clear()
        self.calls = self.measured = self.asked = 0
        self.fresh = True

    def restored(self, word: str, owner: Any) -> None:
        """Note what a network was loaded with: a plain copy of a trained one has statistics that fit it."""
        if word != "weights" or not isinstance(owner, nn.Module) or not norms_of(owner):
            return
        self.fresh = True
        mine = statistics_of(owner)
        others = [m for m in self.run.modules() if type(m) is type(owner) and m is not owner]
        plain = any(is_equal(mine, statistics_of(other)) for other in others)
        self.loaded[owner] = not plain, self.run.here()

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Look at the trained network at the next call."""
        self.fresh = True

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at a call without a graph of a network in evaluation mode."""
        if torch.is_grad_enabled() or module.training or self.run.step < AFTER:
            return
        copy: nn.Module = module.module if isinstance(module, AveragedModel) else module
        if not norms_of(copy):
            return
        held = {id(p) for optimizer in self.run.optimizers for p in parameters(optimizer)}
        if any(id(p) in held for p in copy.parameters()):
            return self.trained(copy, args, kwargs)
        alike = [m for m in self.run.modules() if m is not copy and type(m) is type(copy) and is_twin(m, copy, held)]
        trained = next((m for m in alike if norms_of(m) and has_counted(m)), None)
        self.calls += trained is not None
        if self.calls >= MOST_CALLS or self.measured >= MOST:
            self.run.unsubscribe(self.left, self.restored, self.loader_iterated)
        how = self.how(module, copy, trained) if trained is not None else None
        if trained is not None and how is not None and self.run.step >= self.looked.get(copy, 0):
            self.looked[copy] = 2 * self.run.step
            self.compare(copy, trained, how, args, kwargs)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Listen no more where no network has a batch norm."""
        if self.run.step < AFTER:
            return
        self.run.unsubscribe(self.backward_ended)
        if not any(norms_of(module) for module in self.run.modules()):
            self.run.unsubscribe(self.left, self.restored, self.loader_iterated)

    def how(self, module: nn.Module, copy: nn.Module, trained: nn.Module) -> How | None:
        """The way in which a network is an average; None where it is another one, or a copy as it was."""
        if isinstance(module, AveragedModel):
            return "averaged" if int(module.n_averaged) > 0 else None
        if all(is_new(norm) for _, norm in norms_of(copy)):
            return None  # told by optimizer/copy-statistics
        own, _ = self.loaded.get(copy, (was_written(copy), None))
        if not own or not is_near(copy, trained):
            return None
        return "loaded" if copy in self.loaded else "written"

    def compare(
        self, copy: nn.Module, trained: nn.Module, how: How, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Emit a copy whose statistics do not fit on a batch on which those of the trained network do."""
        self.measured += 1
        off = share_unfit(self.run, copy, args, kwargs)
        if off is None or off < OFF:
            return
        other = share_unfit(self.run, trained, args, kwargs)
        if other is not None and other <= CALM:
            self.tell(copy, how, off, other)

    def trained(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Look at the trained network itself: between two calls of one step other weights may have come into it."""
        known, step = self.own.get(module), self.run.step
        if known is None or known.step != step:
            off = share_unfit(self.run, module, args, kwargs) if known is None else known.off
            self.own[module] = OwnEvaluation(step, WeightSamples(list(module.parameters())), statistics_of(module), off)
            self.fresh = False
            return
        if known.off is None or known.off > CALM or (not self.fresh and self.run.batches.last() is not None):
            return
        self.fresh, self.asked = False, self.asked + 1
        if self.asked > MOST_CALLS or known.weights.stand():
            return
        if self.run.step >= self.looked.get(module, 0) and is_equal(known.statistics, statistics_of(module)):
            self.looked[module] = 2 * self.run.step
            self.measured += 1
            off = share_unfit(self.run, module, args, kwargs)
            if off is not None and off >= OFF:
                self.tell(module, "exchanged", off, known.off)

    def tell(self, copy: nn.Module, how: How, off: float, trained: float) -> None:
        """Emit a network, once."""
        self.run.unsubscribe(self.left, self.restored, self.backward_ended, self.loader_iterated)
        norms = norms_of(copy)
        self.run.emit(
            UnfitStatistics(
                ref=self.run.ref("update", self.run.iteration - 1), kind=type(copy).__name__, how=how,
                norms=len(norms), module=norms[0][0], off=number(off), trained=number(trained),
                frame=self.run.here(), loaded=self.loaded.get(copy, (False, None))[1],
            )
        )  # fmt: skip
