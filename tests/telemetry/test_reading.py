"""A reading says what decides whether a word to the run would be obeyed."""

from __future__ import annotations

import pytest

from debugtracer.server.word import refusal
from debugtracer.telemetry.reading import Reading


@pytest.mark.parametrize(
    ("reading", "why"),
    [
        (Reading("a", "prod"), ""),
        (Reading("a", "prod", "paused"), ""),
        (Reading("a", "dev"), "mode dev takes no word"),
        (Reading("a", "prod", "ended"), "the run is over"),
        (Reading("a", "prod", ranks=2), "several ranks"),
    ],
)
def test_its_state_is_what_a_word_is_refused_by(reading: Reading, why: str) -> None:
    assert why in refusal(reading.state)
    assert bool(refusal(reading.state)) == bool(why)
