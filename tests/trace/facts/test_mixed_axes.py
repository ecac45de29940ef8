"""Mixed axes as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.mixed_axes import MixedAxes
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = MixedAxes(
        ref=ref(1), function="view", shape=(4, 5, 7), classes=5, frame=LOADER, loss="nll_loss", loss_frame=None
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == LOADER
