"""The factors of a mixture as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.noise_share import NoiseShare
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line_and_its_step():
    fact = NoiseShare(
        ref=ref(1), rows=64, squares=0.25, plain_noise=6e-8, plain_data=0.2, straight=0.2, low=0.1, high=0.9,
        frame=LOADER,
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 1)
