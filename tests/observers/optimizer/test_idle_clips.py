"""Clips of loops that write their weights themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.clipping import ClippedNothing
from tests.observers.loops import data, mse, net
from tests.observers.observing import observed
from tests.watching import under_watch


def by_hand(place: str, limit: float = 1.0) -> None:
    """Five updates by hand; the clip comes at that place."""
    model = net()
    for number, (x, y) in enumerate(data(5)):
        model.zero_grad(set_to_none=place != "zeros")
        if place in ("before", "zeros") or (place == "once" and number == 2):
            nn.utils.clip_grad_norm_(model.parameters(), limit)
        mse(model(x), y).backward()
        if place == "behind":
            nn.utils.clip_grad_norm_(model.parameters(), limit)
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.01 * p.grad


@pytest.mark.parametrize("place", ["before", "zeros"])
def test_a_clip_between_zero_grad_and_backward_is_told_once_with_its_line(tmp_path: Path, place: str):
    (fact,) = observed(tmp_path / "runs", lambda: by_hand(place), ClippedNothing)
    assert fact.limit == 1.0
    assert fact.frame is not None
    assert fact.frame.code == "nn.utils.clip_grad_norm_(model.parameters(), limit)"


@pytest.mark.parametrize("place", ["behind", "once"])
def test_a_clip_that_finds_gradients_and_one_of_a_single_update_are_none(tmp_path: Path, place: str):
    assert observed(tmp_path / "runs", lambda: by_hand(place), ClippedNothing) == []


def test_the_loop_of_an_optimizer_is_not_its_business(tmp_path: Path):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in data(4):
            optimizer.zero_grad()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            mse(model(x), y).backward()
            optimizer.step()

    assert len(observed(tmp_path / "runs", loop, ClippedNothing)) == 0


def test_a_clip_after_steps_that_were_not_seen_counts_anew(tmp_path: Path):
    with under_watch(tmp_path / "runs") as session:
        observer, model = session.dispatcher.observers["idle-clips"], net()
        for x, y in data(2):
            model.zero_grad()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if observer.idle:
                session.dispatcher.missed()
            mse(model(x), y).backward()
    assert (observer.fresh, observer.idle) == (True, 0)
