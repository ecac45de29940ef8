"""Facts about what the user's forward and hooks fill: put back, in the same objects."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import Any

import torch
from torch import nn

from debugtracer.replay.user_state import UserStateGuard

LOG: list[float] = []
COUNTS: defaultdict[str, int] = defaultdict(int)


class Filling(nn.Module):
    seen: list[int] = []

    def __init__(self) -> None:
        super().__init__()
        self.queue: deque[float] = deque(maxlen=2)
        self.nested: dict[str, list[int]] = {"k": []}
        self.counter: Counter[str] = Counter()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.queue.append(1.0)
        self.nested["k"].append(1)
        self.counter["n"] += 1
        Filling.seen.append(1)
        LOG.append(1.0)
        COUNTS["n"] += 1
        return x


def state(model: Filling) -> list[Any]:
    return [
        list(model.queue),
        {k: list(v) for k, v in model.nested.items()},
        dict(model.counter),
        list(Filling.seen),
        list(LOG),
        dict(COUNTS),
    ]


def test_attributes_class_attributes_and_globals_come_back() -> None:
    model = Filling()
    model(torch.ones(1))
    before, objects = state(model), (model.queue, model.nested["k"], model.counter, Filling.seen, LOG, COUNTS)
    kept = UserStateGuard([model], [])
    model(torch.ones(1))
    assert state(model) != before
    kept.restore()
    assert state(model) == before
    now = (model.queue, model.nested["k"], model.counter, Filling.seen, LOG, COUNTS)
    assert all(a is b for a, b in zip(now, objects, strict=True))


def test_what_a_hook_closes_over_comes_back() -> None:
    model, norms = nn.Linear(2, 1), [0.5]
    model.register_forward_hook(lambda module, args, out: norms.append(out.sum().item()))
    kept = UserStateGuard([model], [])
    model(torch.ones(1, 2))
    assert len(norms) == 2
    kept.restore()
    assert norms == [0.5]


def test_defaults_and_the_object_of_a_method_come_back() -> None:
    class Logger:
        def __init__(self) -> None:
            self.lines: list[int] = []

        def write(self) -> None:
            self.lines.append(1)

    def remember(x: int, past: list[int] = []) -> None:  # noqa: B006
        past.append(x)

    logger = Logger()
    kept = UserStateGuard([], [logger.write, remember])
    logger.write()
    remember(3)
    kept.restore()
    assert (logger.lines, remember.__defaults__) == ([], ([],))
