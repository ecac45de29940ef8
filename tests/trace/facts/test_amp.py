"""Scalers as values."""

from __future__ import annotations

from debugtracer.trace.facts.amp import AutocastSeen, ScalerRefused, ScalerSetup
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.optimizer.seen import at


def test_news_are_told_apart_and_survive_the_disk():
    setup = ScalerSetup(
        ref=at(0),
        scaler=1,
        frame=None,
        enabled=True,
        init_scale=2.0,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=9,
    )
    cast = AutocastSeen(ref=at(0), device="cpu", dtype="float16", frame=None, scaled=True)
    assert (setup.key(), cast.key()) == (1, ("cpu", "float16"))
    refused = ScalerRefused(ref=at(0), what="unscaled twice", frame=None)
    assert from_plain("amp/ScalerRefused", to_plain(refused)) == refused
