"""This rank without the others."""

from __future__ import annotations

import torch

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


def test_one_rank_has_nobody_to_be_without(monkeypatch, tmp_path):
    assert (
        trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "one-rank-alone").refused
        == "the program runs on one rank"
    )


def test_a_group_of_one_is_one_rank_too(monkeypatch, tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    try:
        score = trial(monkeypatch, tmp_path / "runs", lambda: fit(Chain(HandNorm()), data()), "one-rank-alone")
    finally:
        torch.distributed.destroy_process_group()
    assert score.refused == "the program runs on one rank"
