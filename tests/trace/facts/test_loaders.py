"""A loader as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.data.test_loader_bound import SEEN


def test_it_is_one_of_several_and_survives_the_disk():
    assert SEEN.key() == 0
    assert from_plain("loaders/LoaderSeen", to_plain(SEEN)) == SEEN
