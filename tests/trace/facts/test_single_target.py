"""What a binary loss asks for, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.single_target import SingleTarget
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = SingleTarget(
        ref=ref(1),
        param="head.bias",
        loss="binary_cross_entropy",
        calls=2,
        places=2,
        asked=1.0,
        frame=LOADER,
        made=None,
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("head.bias", 1)
