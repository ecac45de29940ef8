"""Follows a ratio and its clamped self, each times the same advantage, into the min or max of the two: which of them
does the loss take?"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import node_of
from debugtracer.observers.graph.term_signs import signs_of
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.policy_term import PolicyTerm

CLAMPS = frozenset({"clamp", "clip"})
CHOICES = {"max": "larger", "maximum": "larger", "min": "smaller", "minimum": "smaller"}
WIDEST = 10.0  # above which a clamp guards against overflow (ours: PPO has 1.1 to 1.3)
LARGEST = 1_000_000  # numbers compared, or read of a mask (ours)
MOST = 64  # tensors followed in a step (ours)


class ScaledRatio(NamedTuple):
    """A ratio, or its clamped self, times something."""

    ratio: WeakRef[Tensor]
    """It lives as long as both products are made."""
    clamped: bool
    weight: Tensor


class ClippedSurrogatesObserver(Observer):
    """Compares identities in inspected steps where a ratio is clamped around 1; reads the graph of such a loss."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.clamps: ById[Tensor, WeakRef[Tensor]] = ById()
        """The ratio of each that was clamped."""
        self.terms: ById[Tensor, ScaledRatio] = ById()
        self.choices: dict[int, tuple[str, RawFrames]] = {}
        self.weighted: set[int] = set()
        """Numbers of the nodes that leave rows out."""

    def reset(self) -> None:
        self.clamps.data.clear()
        self.terms.data.clear()
        self.choices.clear()
        self.weighted.clear()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.reset()

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow a clamp, a product, a choice of two."""
        name = getattr(function, "__name__", "")
        if not isinstance(output, Tensor) or not output.requires_grad or not args:
            return
        if name in CLAMPS:
            if is_around_one(args, kwargs) and len(self.clamps) < MOST:
                self.clamps[output] = WeakRef(args[0])
        elif name in PRODUCTS and len(args) == 2:
            self.multiplied(args[0], args[1], output)
        elif name in CHOICES and len(args) == 2 and len(self.terms) > 1:
            self.chosen(name, args[0], args[1], output)

    def multiplied(self, one: Any, other: Any, output: Tensor) -> None:
        """Note a product of a tensor with a graph and one without; after a choice, one that may leave rows out."""
        if not isinstance(one, Tensor) or not isinstance(other, Tensor) or one.requires_grad == other.requires_grad:
            return
        ratio, weight = (one, other) if one.requires_grad else (other, one)
        if self.choices:
            node = node_of(output)
            if node is not None and is_dense(weight) and weight.numel() <= LARGEST and bool((weight >= 0).all()):
                self.weighted.add(int(node._sequence_nr()))
        elif len(self.terms) < MOST:
            was = self.clamps.get(ratio)
            self.terms[output] = ScaledRatio(WeakRef(ratio) if was is None else was, was is not None, weight.detach())

    def chosen(self, name: str, one: Any, other: Any, output: Tensor) -> None:
        """Note the choice of two that differ in the clamp alone."""
        pair = [self.terms.get(value) for value in (one, other) if isinstance(value, Tensor)]
        terms = [term for term in pair if term is not None]
        node = node_of(output)
        if len(terms) != 2 or node is None or terms[0].clamped == terms[1].clamped:
            return
        ratio = terms[0].ratio()
        if ratio is not None and ratio is terms[1].ratio() and is_same(terms[0].weight, terms[1].weight):
            self.choices[int(node._sequence_nr())] = CHOICES[name], raw_frames(3)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit a loss that takes the lower of the two."""
        if self.choices and not any(g.get("maximize") for o in self.run.optimizers for g in o.param_groups):
            signs = signs_of(losses, self.choices.keys(), self.weighted)
            for node, (which, raw) in self.choices.items():
                if signs.get(node) == (-1 if which == "larger" else 1):
                    self.run.emit(
                        PolicyTerm(
                            ref=self.run.ref("backward"), term="surrogate", taken=which, frame=first(raw),
                            made=first(raw),
                        )
                    )  # fmt: skip
                    break
        self.reset()


def is_around_one(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call keeps a tensor with a graph within bounds around 1."""
    low = kwargs.get("min", args[1] if len(args) > 1 else None)
    high = kwargs.get("max", args[2] if len(args) > 2 else None)
    if not isinstance(low, (int, float)) or not isinstance(high, (int, float)):
        return False
    return 0 <= low < 1 < high <= WIDEST and isinstance(args[0], Tensor) and args[0].requires_grad


def is_same(one: Tensor, other: Tensor) -> bool:
    """Whether two weights hold the same numbers."""
    if one.shape != other.shape or one.device != other.device or not (is_dense(one) and is_dense(other)):
        return False
    return one.data_ptr() == other.data_ptr() or (one.numel() <= LARGEST and torch.equal(one, other))
