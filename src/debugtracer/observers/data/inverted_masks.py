"""Compares the tokens of a model with the targets of its loss: does the loss count what is masked, or the rest?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.token_trials import texts
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.inverted_mask import InvertedMask
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.number import number

FEWEST, MOST = 0.02, 0.6  # share of masked positions (ours: 15 % is usual)
SCATTERED = 0.5  # share of rows with a masked position before one that counts (ours: padding ends a row)
ELEMENTS = 2**20  # targets that are looked at (ours)


class InvertedMasksObserver(Observer):
    """Keeps ids of one step until its backward; nothing with a graph."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.tokens: list[Tensor] = []
        self.targets: list[tuple[str, Tensor, int, tuple[Frame, ...]]] = []

    def reset(self) -> None:
        self.tokens.clear()
        self.targets.clear()

    @of_functions(INDEXED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the targets of a loss over classes."""
        name = getattr(function, "__name__", "")
        if name not in INDEXED or not torch.is_grad_enabled() or len(self.targets) > 2:
            return
        given = arguments(name, args, kwargs)
        target = given["target"]
        if not target.is_floating_point() and 0 < target.numel() <= ELEMENTS:
            self.targets.append((name, target.detach(), int(given["ignore_index"]), user_frames()))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the tokens of a model."""
        if torch.is_grad_enabled() and len(self.tokens) < 4:
            self.tokens += texts(args, kwargs)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit targets that count only where the input shows them."""
        tokens, targets = self.tokens[:], self.targets[:]
        self.reset()
        for name, target, ignored, stack in targets:
            found = next((f for one in tokens if (f := inverted(one, target, ignored)) is not None), None)
            if found is not None:
                self.run.emit(
                    InvertedMask(
                        ref=self.run.ref(), mask=found[0], ignored=number(found[1]), loss=name,
                        frame=stack[0] if stack else None, made=written(stack),
                    )
                )  # fmt: skip


def written(stack: tuple[Frame, ...]) -> Frame | None:
    """The line that made the targets first, as the source of these lines says."""
    made = made_first(argument_origin(stack, INDEXED, "target", 1), cut=True)
    return made[0] if made else None


def inverted(tokens: Tensor, target: Tensor, ignored: int) -> tuple[int, float] | None:
    """The id at the ignored positions and their share; None where the targets are something else."""
    if target.numel() != tokens.numel():
        return None
    wanted = target.reshape(tokens.shape).to(tokens.device)
    masked = wanted == ignored
    share = float(masked.float().mean())
    if not FEWEST <= share <= MOST:
        return None
    shown, hidden = tokens[~masked], tokens[masked]
    mask = int(hidden[0])
    if not torch.equal(wanted[~masked], shown) or bool((hidden != mask).any()) or bool((shown == mask).any()):
        return None
    before_one = masked & (~masked).flip(1).cumsum(1).flip(1).bool()
    rows = masked.any(1)
    return (mask, share) if float((before_one.any(1) & rows).sum()) >= SCATTERED * float(rows.sum()) else None
