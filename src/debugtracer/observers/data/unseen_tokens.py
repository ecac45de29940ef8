"""Counts the ids that training hands to a model and looks for others in its evaluations."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.bound_names import bound_name
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.unseen_token import UnseenToken

TRAINING, EVALUATIONS = 64, 16  # calls of a root that are counted, and looked at (ours)
LARGEST = 1_000_000  # ids of a table (ours)
RARE = 1e-3  # share in training below which an id is hardly used (ours)
LEAST = 0.05  # share of an evaluation from which an id is emitted (ours)


class TokenCounts:
    """What training has handed to one root."""

    def __init__(self) -> None:
        self.counts = torch.zeros(0, dtype=torch.long)
        self.calls = self.evaluations = 0

    def add(self, ids: Tensor) -> None:
        """Count the ids of one training call."""
        self.calls += 1
        now = torch.bincount(ids.flatten(), minlength=len(self.counts))
        now[: len(self.counts)] += self.counts
        self.counts = now


class UnseenTokensObserver(Observer):
    """Hears outermost calls while a model with ids is new; one count of the ids a call, on the CPU alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.roots: ById[nn.Module, TokenCounts] = ById()
        self.asked = 0
        """Training calls of models without ids."""

    def reset(self) -> None:
        self.roots.clear()

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count a training call; look at one of an evaluation."""
        known = self.roots.get(module)
        training = torch.is_grad_enabled() and module.training
        if known is None and not training:
            return
        if known is not None and (known.calls >= TRAINING if training else known.evaluations >= EVALUATIONS):
            return
        ids = first_ids((*args, *kwargs.values()))
        if ids is None:
            self.asked += training and known is None
            if self.asked >= TRAINING and not self.roots:
                self.run.unsubscribe(self.left)
            return
        if training:
            if known is None:
                known = self.roots[module] = TokenCounts()
            known.add(ids)
        elif known is not None and not torch.is_grad_enabled() and not module.training:
            self.evaluated(module, known, ids)

    def evaluated(self, module: nn.Module, known: TokenCounts, ids: Tensor) -> None:
        """Emit the id of this call that training has hardly used, where it is frequent."""
        known.evaluations += 1
        counts = torch.bincount(ids.flatten(), minlength=len(known.counts))
        trained = torch.zeros_like(counts)
        trained[: len(known.counts)] = known.counts
        total = int(trained.sum())
        token = int((counts * (trained <= RARE * total)).argmax())
        share = int(counts[token]) / ids.numel()
        if share < LEAST or int(trained[token]) > RARE * total:
            return
        inside, columns, column_share = places(ids, token)
        frames = user_frames()
        self.run.emit(
            UnseenToken(
                ref=self.run.ref("forward", self.run.iteration - 1),
                root=type(module).__name__,
                number=known.evaluations - 1,
                token=token,
                share=share,
                trained=int(trained[token]) / max(total, 1),
                tokens=ids.numel(),
                trained_tokens=total,
                inside=inside,
                columns=columns,
                column_share=column_share,
                frame=frames[0] if frames else None,
                made=maker(frames, bound_name(module)),
            )
        )


def first_ids(values: tuple[Any, ...]) -> Tensor | None:
    """The first argument that holds rows of ids; None where there is none, or on a device."""
    for value in values:
        if isinstance(value, Tensor) and value.dtype in (torch.int64, torch.int32) and value.dim() == 2:
            plain = type(value) is Tensor and value.device.type == "cpu" and value.shape[1] > 1 and value.numel() > 0
            if not plain:
                return None
            low, high = (int(v) for v in value.aminmax())
            return value.detach() if low >= 0 and high < LARGEST and high > 1 else None
    return None


def places(ids: Tensor, token: int) -> tuple[float, int, float]:
    """The share of its places with another id before it and behind it in the row, at how many positions it stands, and
    the share of the most frequent of them."""
    here = ids == token
    leading = here.long().cumprod(1).bool()
    trailing = here.flip(1).long().cumprod(1).flip(1).bool()
    inside = here & ~leading & ~trailing
    by_column = here.sum(0)
    total = max(int(here.sum()), 1)
    return int(inside.sum()) / total, int((by_column > 0).sum()), int(by_column.max()) / total


def maker(frames: tuple[Frame, ...], name: str) -> Frame | None:
    """The line that made the first argument of the model's call."""
    made = made_first(argument_origin(frames, (name,), "", 0))
    return made[0] if made else None
