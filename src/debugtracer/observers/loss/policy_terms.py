"""Follows log-probabilities and entropies of torch.distributions into a loss: which way does it push an entropy, and
does the advantage hang on its graph?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import OUR_HOME, TORCH_HOME, RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import leaves, node_of, numbers
from debugtracer.observers.graph.straight_through import DISTRIBUTIONS
from debugtracer.observers.graph.term_signs import signs_of
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.policy_term import PolicyTerm

BETWEEN = OUR_HOME, os.path.join(TORCH_HOME, "overrides.py"), os.path.join(TORCH_HOME, "_tensor.py")
"""Files that stand between a function of torch and who called it."""
DEEP = 12  # frames between a function of torch and who called it (ours)
LAST = frozenset({"gather", "squeeze", "sub", "neg", "add", "sum", "mul", "div"})
"""What a method of a distribution ends with."""
SUMS = frozenset({"add", "__add__", "__radd__", "__iadd__", "sub", "__sub__", "__rsub__", "rsub"})
# what leaves a term a term
CARRIES = PRODUCTS | {
    "sum", "mean", "neg", "__neg__", "squeeze", "unsqueeze", "view", "reshape", "flatten", "stack", "cat", "div",
    "__truediv__", "exp", "clamp", "min", "minimum", "__getitem__", "float",
}  # fmt: skip
MOST = 512  # tensors followed in a step (ours)


class PolicyPart(NamedTuple):
    """A tensor, and what it is: a log-probability, an entropy or a difference."""

    tensor: Callable[[], Tensor | None]
    what: str
    raw: RawFrames


class Product(NamedTuple):
    """A log-probability times something, by the number of its node."""

    node: int
    log: Callable[[], Tensor | None]
    advantage: Callable[[], Tensor | None] | None
    """Where it is a difference that hangs on a graph."""
    raw: RawFrames
    made: RawFrames


class PolicyTermsObserver(Observer):
    """Reads graphs in inspected steps where torch.distributions made a term; no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: dict[int, PolicyPart] = {}
        self.products: list[Product] = []
        self.roots: dict[str, set[int]] = {"log": set(), "entropy": set()}
        """Numbers of the nodes that a distribution made."""
        self.added: RawFrames = ()
        self.asked: RawFrames = ()

    def reset(self) -> None:
        self.known.clear()
        self.products.clear()
        for nodes in self.roots.values():
            nodes.clear()
        self.added = self.asked = ()

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow what one function made of what."""
        name = getattr(function, "__name__", "")
        if not isinstance(output, Tensor) or not output.requires_grad or not args or len(self.known) >= MOST:
            return
        what = method_of(name)
        if what:
            self.made(what, output)
        elif self.known or name in DIFFERENCES:
            self.passed(name, args, output)

    def made(self, what: str, output: Tensor) -> None:
        """Remember what a distribution made."""
        node = node_of(output)
        if node is not None:
            self.roots[what].add(int(node._sequence_nr()))
            self.follow(output, what)
            if what == "entropy":
                self.asked = raw_frames(3)

    def passed(self, name: str, args: tuple[Any, ...], output: Tensor) -> None:
        """Follow a term, a difference or a product of the two."""
        parts = args[0] if isinstance(args[0], (list, tuple)) else args
        given = [(one, self.find(one)) for one in parts if isinstance(one, Tensor)]
        kinds = {held.what: held for _, held in given if held is not None}
        if "log" in kinds:
            if name in PRODUCTS and len(given) == 2:
                self.multiplied(given, output)
            if name in CARRIES or name in DIFFERENCES:
                self.follow(output, "log")
        elif "entropy" in kinds:
            if name in SUMS and any(held is None for _, held in given):
                self.added = raw_frames(3)
            elif name in CARRIES:
                self.follow(output, "entropy")
        elif name in DIFFERENCES and len(given) == 2:
            self.follow(output, "difference")
        elif "difference" in kinds and name in CARRIES - PRODUCTS:
            self.follow(output, "difference", kinds["difference"].raw)

    def multiplied(self, given: list[tuple[Tensor, PolicyPart | None]], output: Tensor) -> None:
        """Note a product of a log-probability with what is none."""
        logs = [one for one, held in given if held is not None and held.what == "log"]
        others = [(one, held) for one, held in given if held is None or held.what != "log"]
        node = node_of(output)
        if len(logs) != 1 or len(others) != 1 or node is None:
            return
        other, held = others[0]
        hangs = held is not None and held.what == "difference" and other.requires_grad
        self.products.append(
            Product(
                int(node._sequence_nr()), WeakRef(logs[0]), WeakRef(other) if hangs else None, raw_frames(4),
                held.raw if held is not None else (),
            )
        )  # fmt: skip

    def find(self, value: Tensor) -> PolicyPart | None:
        """What is known of a tensor."""
        held = self.known.get(id(value))
        return held if held is not None and held.tensor() is value else None

    def follow(self, value: Tensor, what: str, raw: RawFrames = ()) -> None:
        """Remember a tensor, with the line that made it."""
        self.known[id(value)] = PolicyPart(WeakRef(value), what, raw or raw_frames(4))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Read the graph of the loss."""
        if self.products and not any(g.get("maximize") for o in self.run.optimizers for g in o.param_groups):
            self.read_advantages(losses)
            self.read_entropy(losses)
        self.reset()

    def read_advantages(self, losses: list[Tensor]) -> None:
        """Emit an advantage by which a policy trains what another term of the loss trains."""
        hanging = [one for one in self.products if one.advantage is not None]
        if not hanging:
            return
        by_other_terms = leaves(losses, without={one.node for one in self.products})
        inside = numbers(losses)
        for one in hanging[:4]:
            log, advantage = one.log(), one.advantage() if one.advantage is not None else None
            if log is None or advantage is None or one.node not in inside:
                continue
            reached = set(leaves([advantage])) - set(leaves([log]))
            trained = reached & by_other_terms.keys()
            if trained:
                self.run.emit(
                    PolicyTerm(
                        ref=self.run.ref("backward"), term="advantage", parameters=len(trained), frame=first(one.raw),
                        made=first(one.made),
                    )
                )  # fmt: skip
                return

    def read_entropy(self, losses: list[Tensor]) -> None:
        """Emit an entropy that the loss adds, where it subtracts the log-probabilities."""
        if not self.roots["entropy"]:
            return
        signs = signs_of(losses, self.roots["log"] | self.roots["entropy"], {one.node for one in self.products})
        logs = {signs[node] for node in self.roots["log"] if node in signs}
        entropies = {signs[node] for node in self.roots["entropy"] if node in signs}
        if logs == {-1} and entropies == {1}:
            self.run.emit(
                PolicyTerm(
                    ref=self.run.ref("backward"), term="entropy", frame=first(self.added or self.asked),
                    made=first(self.asked),
                )
            )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.reset()


def method_of(name: str) -> str:
    """What the method of a distribution that calls a function gives: a log-probability or an entropy; else nothing."""
    if name not in LAST:
        return ""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(DEEP):
        if frame is None:
            return ""
        file = frame.f_code.co_filename
        if file.startswith(DISTRIBUTIONS):
            return {"log_prob": "log", "entropy": "entropy"}.get(frame.f_code.co_name, "")
        if not file.startswith(BETWEEN):
            return ""
        frame = frame.f_back
    return ""
