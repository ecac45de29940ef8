"""Gathers what the binary losses of an inspected step ask of one output layer, by the graph that its optimizer's
backward walked."""

from __future__ import annotations

from collections import deque
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, calling_place, frames_of, raw_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.observers.graph.graph_walk import leaves, numbers
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.facts.loss_call import BINARY
from debugtracer.trace.facts.single_target import SingleTarget
from debugtracer.trace.number import number

MOST = 32  # calls noted in a step (ours)
NEAR = 64  # nodes walked from the scores to the nearest parameter (ours)


class Asked:
    """One call of a binary loss on scores that have a graph."""

    def __init__(self, name: str, node: int, nearest: int, low: float, high: float, raw: RawFrames) -> None:
        self.name, self.node, self.nearest, self.raw = name, node, nearest, raw
        self.place = raw, calling_place()  # two calls may stand on one line
        self.value = low if low == high else None
        self.reached: frozenset[int] | None = None
        """Leaves of the backward that came through it."""


class SingleTargetsObserver(Observer):
    """Reads the range of targets that the loop made itself; keeps no tensor."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.asked: list[Asked] = []

    def reset(self) -> None:
        self.asked.clear()

    def missed(self) -> None:
        """Forget the calls of a step that was not seen to its end."""
        self.asked.clear()

    @of_functions(BINARY)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a binary loss and the range of its targets."""
        name = getattr(function, "__name__", "")
        if name not in BINARY or not torch.is_grad_enabled() or len(self.asked) >= MOST:
            return
        given = arguments(name, args, kwargs)
        scores, target = given["input"], given["target"]
        near = nearest(scores) if isinstance(output, Tensor) and output.grad_fn is not None else None
        if near is None or not target.numel():
            return
        low, high = torch.stack(torch.aminmax(target.detach())).tolist()
        if self.run.batches.find(target) is not None:  # labels: rare classes may lack in a batch
            low, high = 0.0, 1.0
        node = int(output.grad_fn._sequence_nr())
        self.asked.append(Asked(name, node, near, low, high, raw_frames(1)))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note which of them this backward goes through, and what else it reaches."""
        if self.asked:
            hanging = [loss for loss in losses if loss.grad_fn is not None]
            found, below = numbers(hanging), frozenset(leaves(hanging))
            for one in self.asked:
                if one.node in found:
                    one.reached = below

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit what was asked of the parameters of this optimizer by losses that train it alone."""
        asked, self.asked = self.asked, []
        if not any(one.reached for one in asked):
            return
        own = {id(p) for p in parameters(optimizer)}
        others = {id(p) for one in self.run.optimizers if one is not optimizer for p in parameters(one)} - own
        mine = [one for one in asked if one.reached and one.nearest in own and not one.reached & others]
        for near in dict.fromkeys(one.nearest for one in mine):
            self.emit([one for one in mine if one.nearest == near])

    def emit(self, some: list[Asked]) -> None:
        """Write down the calls of one parameter."""
        values = {one.value for one in some}
        last = frames_of(some[-1].raw)
        made = made_first(argument_origin(last, tuple(BINARY), "target", 1)) if len(values) == 1 else ()
        value = values.pop() if len(values) == 1 else None
        self.run.emit(
            SingleTarget(
                ref=self.run.ref(), param=self.run.names().get(some[0].nearest, "?"), loss=some[-1].name,
                calls=len(some),
                places=len({one.place for one in some}),
                asked=None if value is None else number(value), frame=last[0] if last else None,
                made=made[0] if made else None,
            )
        )  # fmt: skip


def nearest(scores: Any) -> int | None:
    """The id of the first leaf on the way down the graph of scores."""
    queue: deque[Any] = deque([scores.grad_fn] if isinstance(scores, Tensor) and scores.grad_fn is not None else [])
    for _ in range(NEAR):
        if not queue:
            return None
        node = queue.popleft()
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, Tensor):
            return id(leaf)
        queue.extend(child for child, _ in node.next_functions if child is not None)
    return None
