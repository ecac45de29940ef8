"""At the gate the ranks decide together: who looks into the step, who waits, and that one that has nothing stops with
the others."""

from __future__ import annotations

import types

import pytest

from debugtracer.diagnosis import rank_consensus as council_module
from debugtracer.diagnosis.rank_consensus import Decision, RankConsensus


def an_alarm(symptom="nan_loss", peeked=False):
    return types.SimpleNamespace(symptom=symptom, peeked=peeked)


@pytest.fixture
def ranks(monkeypatch):
    """A council whose other ranks answer as the test says."""
    made = RankConsensus(lambda: [object()])
    monkeypatch.setattr(council_module, "trains_together", lambda roots: True)
    made.said = []
    made.answer = lambda bits: tuple(map(int, bits))
    monkeypatch.setattr(
        made.vote, "ask", lambda bits, *patience: made.said.append(tuple(bits)) or made.answer(tuple(bits))
    )
    monkeypatch.setattr(made.vote, "ask_after_work", made.vote.ask)
    return made


def test_a_bad_loss_waits_for_the_gate_and_a_look_of_the_users_does_not(ranks):
    first = an_alarm()
    assert ranks.holds(first) and ranks.holds(an_alarm())
    assert not ranks.holds(an_alarm(peeked=True)) and not ranks.holds(an_alarm("inf_grad"))
    assert ranks.taken() is first and ranks.taken() is None


def test_the_rank_with_the_bad_loss_looks_and_the_others_wait(ranks):
    assert ranks.holds(an_alarm())
    assert ranks.decide(True) == Decision(mine=True, together=True)
    ranks.taken()
    ranks.answer = lambda bits: (1, 2)
    assert ranks.decide(True) == Decision(mine=False, together=True)


def test_bad_gradients_alone_are_looked_into_by_all_that_have_them(ranks):
    ranks.answer = lambda bits: (0, 2)
    assert ranks.decide(True) == Decision(mine=True, together=True)
    assert ranks.decide(False) == Decision(mine=False, together=True)


def test_a_healthy_gate_decides_nothing(ranks):
    assert ranks.decide(False) is None and ranks.said == [(False, False)]


def test_without_an_answer_a_rank_looks_into_its_own_loss_alone(ranks):
    ranks.answer = lambda bits: None
    assert ranks.decide(True) is None
    assert ranks.holds(an_alarm()) and ranks.decide(False) == Decision(mine=True, together=False)
    assert ranks.any(True, Decision(True, False)) and not ranks.any(False, Decision(True, False))


def test_all_stop_when_one_has_an_incident(ranks):
    ranks.answer = lambda bits: (1,)
    assert ranks.any(False, Decision(False, True)) and ranks.said == [(False,)]


def test_one_process_never_asks(monkeypatch):
    alone = RankConsensus(list)
    assert not alone.meets() and not alone.holds(an_alarm()) and alone.decide(True) is None
