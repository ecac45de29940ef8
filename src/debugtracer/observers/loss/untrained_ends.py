"""Counts which tokens of a text are ever a target: does the loss ask for the one that ends it?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.token_trials import next_token, texts
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.untrained_end import UntrainedEnd

ELEMENTS = 2**20  # targets that are looked at (ours)
MOST_ROWS = 0.9  # share of the texts that must end alike (ours)
CALLS = 4  # calls of models and of losses that are noted in a step (ours)
LOOKS = 16  # inspected steps (ours)


class UntrainedEndsObserver(Observer):
    """Keeps ids of one step until its backward, nothing with a graph. On a device each tensor of ids is copied to the
    host once in an inspected step, in LOOKS of them at the most."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.given: list[tuple[Tensor, list[Tensor], list[Tensor]]] = []
        """Tokens of a model with what may be its masks and its labels."""
        self.targets: list[tuple[str, Tensor, int, tuple[Frame, ...]]] = []
        self.looks = 0
        self.denied = False
        """A batch of texts was seen that does not end so: without a mask nothing is said any more."""

    def reset(self) -> None:
        """Drop the ids of the step in flight."""
        self.given.clear()
        self.targets.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the targets of a loss over classes."""
        name = getattr(function, "__name__", "")
        if name not in INDEXED or not torch.is_grad_enabled() or len(self.targets) >= CALLS:
            return
        given = arguments(name, args, kwargs)
        target = given["target"]
        if not target.is_floating_point() and 0 < target.numel() <= ELEMENTS:
            self.targets.append((name, target.detach(), int(given["ignore_index"]), user_frames()))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the tokens of a model, and what came with them."""
        if not torch.is_grad_enabled() or len(self.given) >= CALLS:
            return
        values = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor) and not v.is_floating_point()]
        for tokens in texts(args, kwargs):
            alike = [v for v in values if v is not tokens and v.shape == tokens.shape]
            labels = [v for name, v in kwargs.items() if "label" in name and isinstance(v, Tensor)]
            self.given.append((tokens, alike, labels))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit texts whose end is no target."""
        given = [(tokens.cpu(), [v.cpu() for v in alike], labels) for tokens, alike, labels in self.given]
        targets = self.targets[:]
        self.reset()
        self.looks += bool(targets)
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.left, self.backward_begins)
        for name, target, ignored, stack in targets:
            on_host = target.cpu()
            for tokens, alike, labels in given:
                whole, wanted = joined(tokens, on_host, ignored)
                counted = next_token(whole, wanted)
                if counted is None:
                    continue
                found = untrained_end(whole, counted, alike)
                self.denied |= found is None
                if found is not None and (found[2] or not self.denied):
                    self.tell(name, stack, found, [*labels, target])
                    return

    def tell(
        self, name: str, stack: tuple[Frame, ...], found: tuple[int, int, bool, int], labels: list[Tensor]
    ) -> None:
        """Emit one batch, with the lines that wrote its labels."""
        token, rows, attended, width = found
        known = next((hit for v in labels if (hit := self.run.batches.find(v)) is not None), None)
        if known is not None:
            made = known[0].loader.made(known[1])
        else:
            made = made_first(argument_origin(stack, INDEXED, "target", 1), cut=True)
        self.run.emit(
            UntrainedEnd(
                ref=self.run.ref(), token=token, rows=rows, attended=attended, width=width, loss=name,
                frame=stack[0] if stack else None, made=made,
            )
        )  # fmt: skip


def joined(tokens: Tensor, target: Tensor, ignored: int) -> tuple[Tensor, Tensor]:
    """The tokens with the last one, where the targets alone have it, and the targets with -100 for those ignored."""
    wanted = target.masked_fill(target == ignored, -100)
    if target.numel() == tokens.numel():
        rows = target.reshape(tokens.shape)
        if torch.equal(rows[:, :-1], tokens[:, 1:]):
            return torch.cat([tokens, rows[:, -1:]], 1), wanted
    return tokens, wanted


def untrained_end(tokens: Tensor, counted: Tensor, alike: list[Tensor]) -> tuple[int, int, bool, int] | None:
    """The id that ends the texts and is never a target, the rows, whether a mask says that it belongs to them, and the
    length of the longest; None where the end is a target, or not known. `counted`: the next token is a target."""
    asked = counted.roll(1, 1)
    asked[:, 0] = False
    places = torch.arange(tokens.shape[1])
    end = (asked * places).amax(1) + 1
    rows = asked.any(1).nonzero().flatten()
    inside = rows[end[rows] < tokens.shape[1]]
    if len(inside) < 2 or len(inside) < MOST_ROWS * len(rows):
        return None
    ends = tokens[inside, end[inside]]
    token = int(ends.mode().values)
    rest = places >= end[inside, None]
    if bool((tokens[inside][rest] != token).any()) or bool((tokens[asked] == token).any()):
        return None
    width = int(end[inside].max()) + 1
    masks = [v for v in alike if v.shape == tokens.shape and is_mask(v) and not torch.equal(v != 0, tokens != token)]
    for mask in masks:
        kept = mask[inside, end[inside]] != 0
        after = (mask[inside] != 0) & (places > end[inside, None])
        padded = width < tokens.shape[1] or bool((end[inside] + 1 < tokens.shape[1]).any())
        if padded and not bool(after.any()):
            return (token, len(inside), True, width) if float(kept.float().mean()) >= MOST_ROWS else None
    before = tokens[inside, end[inside] - 1]
    ended = (
        float((before == before.mode().values).float().mean()) >= MOST_ROWS
    )  # by an id of its own: the rest is padding
    longest = width == tokens.shape[1] and len(inside) == len(rows)
    return (token, len(inside), False, width) if longest and not ended else None


def is_mask(value: Tensor) -> bool:
    """Whether it holds zeros and ones alone, and both."""
    ones = int((value == 1).sum())
    return 0 < ones < value.numel() and ones + int((value == 0).sum()) == value.numel()
