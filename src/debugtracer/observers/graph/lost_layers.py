"""The parameters from which no loss hangs: for how many looks the same ones, whether they kept their values, where
their layer was made."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import CodeType
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.definitions import assigned_at
from debugtracer.callsites.frames import RawFrames
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES, leaves
from debugtracer.observers.weights.weight_samples import WeightSamples
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.birth import Frame

MOST = 64  # results of layers that are kept in mind in a step (ours)


class LostLayers:
    """Follows the lost parameters of each optimizer from look to look; keeps samples of their values."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[frozenset[int], int, WeightSamples]] = {}
        self.given: set[int] = set()
        """ids of parameters that one of several outputs of a model hangs on, or a value whose derivative was taken."""
        self.results: list[tuple[WeakRef[Tensor], tuple[CodeType, int], frozenset[int]]] = []
        """Results of layers that the program's own functions called, the line that did, and their parameters."""
        self.collected: set[tuple[CodeType, int]] = set()
        """Lines that keep each of several results."""

    def returned(self, output: object) -> None:
        """Note what a model gave, called with a graph."""
        self.given |= leaves(given_beside(output)).keys()

    def differentiated(self, function: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note what hangs on a derivative with a graph: what is only added before it, as the last bias of an energy is,
        has no part in it."""
        outputs = args[0] if args else kwargs.get("outputs")
        if function is torch.autograd.grad and (kwargs.get("create_graph") or args[4:5] == (True,)):
            self.given |= leaves(list(tensors(outputs)), MOST_PART_NODES).keys()

    def made_by(self, layer: nn.Module, output: object, callers: RawFrames) -> None:
        """Note what a layer gave to the line that called it. One that is still alive when that line is given the second
        after it is kept in a list: a name would hold the last one alone."""
        held = frozenset(map(id, layer.parameters()))
        if not isinstance(output, Tensor) or output.grad_fn is None or output.numel() < 2:
            return
        if not held or not callers or len(self.results) >= MOST:
            return
        before = [result for result, place, _ in self.results if place == callers[0]]
        if any(result() is not None for result in before[:-1]):
            self.collected.add(callers[0])
        self.results.append((WeakRef(output), callers[0], held))

    def handed_out(self, stack: RawFrames, reached: Collection[int]) -> None:
        """Take in what the loop was given, when the backward begins, whose callers are `stack`: results that were
        collected, or are still alive though the function that asked for them is over. Where the loss hangs on some of
        them, the others are beside it, as heads of other tasks are in a `forward` called by name."""
        running = {code for code, _ in stack}
        given = [
            (place[0], held)
            for result, place, held in self.results
            if place in self.collected or (place[0] not in running and result() is not None)
        ]
        used = {code for code, held in given if not held.isdisjoint(reached)}
        for code, held in given:
            if code in used and held.isdisjoint(reached):
                self.given |= held
        self.results.clear()
        self.collected.clear()

    def follow(self, number: int, lost: Sequence[Tensor]) -> tuple[int, bool]:
        """Count the looks in a row with the same ones lost; also whether they have the values of the first."""
        if not lost:
            self.known.pop(number, None)
            return 0, False
        ids = frozenset(map(id, lost))
        same, looks, first = self.known.get(number, (ids, 0, None))
        if first is None or same != ids:
            self.known[number] = ids, 1, WeightSamples(lost)
            return 1, True
        self.known[number] = ids, looks + 1, first
        return looks + 1, first.stand()


def spare(
    lost: Sequence[Tensor], reached: Sequence[Tensor], names: Mapping[int, str], given: Collection[int] = ()
) -> bool:
    """Whether each lost parameter is of a numbered block of which other parts have a gradient, as the same part of the
    block before has: what the last of equal blocks makes beside its result is used by no block after it. Or whether it
    is behind one of several outputs, `given`, of which the loss takes others (heads of other tasks)."""
    known = {names.get(id(parameter), "?") for parameter in reached}
    return bool(lost) and all(id(one) in given or is_spare(names.get(id(one), "?"), known) for one in lost)


def given_beside(output: object) -> list[Tensor]:
    """The tensors with a graph that a model returns, where it returns more than one, and none is a loss."""
    values = list(output.values()) if isinstance(output, dict) else output
    if not isinstance(values, (list, tuple)):
        return []
    flat = [v for one in values for v in (one if isinstance(one, (list, tuple)) else (one,))]
    found = [v for v in flat if isinstance(v, Tensor) and v.grad_fn is not None]
    return found if len(found) > 1 and all(v.numel() > 1 for v in found) else []


def is_spare(name: str, reached: Collection[str]) -> bool:
    """Whether the same part of the block before is reached, and another part of its own block."""
    for number in re.finditer(r"(?<!\d)\d+(?=\.)", name):  # `layers.2.`, also `gcl_2.`
        head, rest = name[: number.start()], name[number.end() :]
        before, block = f"{head}{int(number.group()) - 1}{rest}", f"{head}{number.group()}."
        if before in reached and any(other.startswith(block) for other in reached):
            return True
    return False


def made_at(modules: Sequence[nn.Module], name: str) -> Frame | None:
    """The line that assigns the layer of a parameter, or the container it is in; None where no source says it."""
    for root in modules:
        owner: object = root
        frame = None
        for part in name.split(".")[:-1]:
            frame = assigned_at(type(owner), part) or frame
            owner = getattr(owner, part, None)
        if isinstance(owner, nn.Module) and hasattr(owner, name.rpartition(".")[2]):
            return frame
    return None
