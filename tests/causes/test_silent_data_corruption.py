"""Finite when executed again."""

from __future__ import annotations

from debugtracer.testing import a_birth, signs_of, some_facts
from debugtracer.trace.incident import ReplayFacts

NOT_REPRODUCED = ReplayFacts(mechanism="tape", reproduced=False, parity="not reproduced")


def test_is_a_suspicion_when_the_tape_does_not_show_the_fault():
    signs = signs_of("silent-data-corruption", some_facts(None, replay=NOT_REPRODUCED))
    assert signs is not None
    assert signs.confidence == 0.3
    assert signs.against


def test_stays_silent_when_nothing_was_executed_again_or_a_birth_was_found():
    assert signs_of("silent-data-corruption", some_facts(None, replay=None)) is None
    not_replayed = ReplayFacts(mechanism="tape", reproduced=False, parity="not replayed: batch gone")
    assert signs_of("silent-data-corruption", some_facts(None, replay=not_replayed)) is None
    assert signs_of("silent-data-corruption", some_facts(a_birth("aten::log"), replay=NOT_REPRODUCED)) is None
