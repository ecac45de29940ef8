"""How many optimizers of a line are seen whole."""

from __future__ import annotations

import torch
from torch.optim import SGD, Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.hooks.events.built_lines import MOST, WHOLE, BuiltLines
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.identity import ById


class Lines(BuiltLines):
    def __init__(self) -> None:
        super().__init__(RunState(), ById())
        self.kept: list[Optimizer] = []

    def built(self, raw: RawFrames | None) -> bool:
        optimizer = SGD([torch.zeros(1, requires_grad=True)])
        self.kept.append(optimizer)
        if raw is not None:
            self.state.optimizers[optimizer] = raw
        known = self.knows(optimizer)
        assert known == (optimizer in self.known)
        return known


def test_the_first_of_each_line_are_seen_whole() -> None:
    lines, here = Lines(), raw_frames()
    assert not any(lines.built(here) for _ in range(WHOLE))
    assert lines.built(here)
    assert not lines.built((*here, *here)), "another line"
    lines.reset()
    assert not lines.built(here)


def test_without_a_line_and_beyond_the_lines_that_are_followed_each_is_seen() -> None:
    lines, here = Lines(), raw_frames()
    assert not any(lines.built(raw) for _ in range(2 * WHOLE) for raw in (None, ()))
    for more in range(2 * MOST):
        lines.built(here * (more + 1))
    assert len(lines.counts) == MOST
    assert not any(lines.built(here * (2 * MOST)) for _ in range(2 * WHOLE))
