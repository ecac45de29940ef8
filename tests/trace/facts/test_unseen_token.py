"""Ids of an evaluation: each root is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.unseen_token import UnseenToken
from tests.checks.optimizer.seen import at


def test_its_key_tells_roots_apart():
    fact = UnseenToken(
        ref=at(1), root="Net", number=0, token=1, share=0.3, trained=0.0, tokens=600, trained_tokens=900, inside=0.7,
        columns=6, column_share=0.2,
    )  # fmt: skip
    assert msgspec.structs.replace(fact, root="Other").key() != fact.key()
    assert msgspec.structs.replace(fact, number=1).key() == fact.key()
