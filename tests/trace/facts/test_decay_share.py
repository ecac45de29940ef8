"""Weight decay beside the gradient as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.decay_share import DecayShare
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = DecayShare(
        ref=ref(1),
        optimizer=0,
        kind="Adam",
        frame=LOADER,
        number=1,
        decay=0.5,
        lr=1e-3,
        decoupled=False,
        adaptive=True,
        decay_l2=4.0,
        grad_l2=0.1,
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (0, 1)
