"""At the gate the ranks decide together: who looks into the step, who waits, and that one that has nothing stops with
the others."""

from __future__ import annotations

import types

import pytest

from debugtracer.diagnosis import rank_consensus as council_module
from debugtracer.diagnosis.rank_consensus import Decision, RankConsensus
from debugtracer.errors import ReplayRefused


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


@pytest.mark.parametrize(
    ("together", "sharded", "shards", "off", "expected"),
    [
        (True, True, False, False, True),
        (False, True, False, False, False),
        (True, True, True, False, True),
        (True, False, True, False, False),
        (True, False, False, False, True),
        (True, True, False, True, False),
    ],
)
def test_ranks_meet_where_they_train_together(monkeypatch, together, sharded, shards, off, expected):
    monkeypatch.setattr(council_module, "trains_together", lambda roots: together)
    monkeypatch.setattr(council_module, "holds_shards", lambda roots: shards)
    ranks = RankConsensus(lambda: [object()], sharded=sharded)
    monkeypatch.setattr(ranks.vote, "off", off, raising=False)
    assert ranks.meets() is expected


def test_ranks_with_parts_of_the_weights_meet_unless_they_are_told_not_to(monkeypatch):
    monkeypatch.setattr(council_module, "trains_together", lambda roots: True)
    monkeypatch.setattr(council_module, "holds_shards", lambda roots: True)
    assert RankConsensus(lambda: [object()]).meets() is True


def test_whether_they_meet_is_asked_again_with_another_root(monkeypatch):
    roots, asked = [object()], []
    monkeypatch.setattr(council_module, "trains_together", lambda known: bool(asked.append(len(known)) or True))
    ranks = RankConsensus(lambda: roots)
    assert ranks.meets() and ranks.meets() and asked == [1]
    roots.append(object())
    assert ranks.meets() and asked == [1, 2]


@pytest.mark.parametrize(
    ("bad", "waits", "answer", "asked", "expected"),
    [
        (False, False, (0,), False, False),
        (True, False, (1,), True, True),
        (False, True, (1,), True, True),
        (False, False, None, False, None),
    ],
)
def test_all_are_asked_for_a_bad_loss_or_gradient(ranks, bad, waits, answer, asked, expected):
    assert not waits or ranks.holds(an_alarm())
    ranks.answer = lambda bits: answer
    assert ranks.any_bad(bad) is expected and ranks.said == [(asked,)]


def test_where_an_incident_is_open_no_other_rank_looks(ranks):
    assert ranks.decide(False, is_open=True) == Decision(mine=False, together=True)
    assert ranks.said == [(True, False)]


def test_at_the_gate_no_alarm_waits_for_it(ranks):
    context = types.SimpleNamespace(roots=types.SimpleNamespace(sharded=False))
    with ranks.session(context, 10, Decision(mine=True, together=True)):
        assert ranks.at_gate is True and not ranks.holds(an_alarm())
    assert ranks.at_gate is False and ranks.holds(an_alarm())


@pytest.mark.parametrize(
    ("together", "sharded", "gathered"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_weights_in_parts_are_put_together_for_a_look_where_every_rank_takes_part(
    ranks, monkeypatch, together, sharded, gathered
):
    monkeypatch.setattr(council_module, "UnshardedWeights", lambda roots, most: ("whole", most))
    context = types.SimpleNamespace(roots=types.SimpleNamespace(sharded=sharded))
    with ranks.session(context, 10, Decision(mine=True, together=together)):
        assert ranks.whole == (("whole", 10) if gathered else None)
    assert ranks.whole is None and ranks.refusal == ""


def test_weights_that_cannot_be_put_together_are_refused_with_the_reason(ranks, monkeypatch):
    def too_large(roots, most):
        raise ReplayRefused("too large")

    def broken(roots, most):
        raise ValueError

    swallowed = []
    monkeypatch.setattr(council_module, "swallow", lambda *told: swallowed.append(told[0]))
    for fails, reason in ((too_large, "too large"), (broken, "(ValueError)")):
        monkeypatch.setattr(council_module, "UnshardedWeights", fails)
        ranks.gather(10)
        assert reason in ranks.refusal and ranks.whole is None
    assert swallowed == ["diagnosis.rank_consensus"]


def test_without_an_incident_of_any_rank_none_stops(ranks):
    ranks.answer = lambda bits: (0,)
    assert ranks.any(True, Decision(True, True)) is False
