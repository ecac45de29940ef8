"""One process asks nobody; several act only where all are known to see the same. Two ranks: test_ranks.py."""

from __future__ import annotations

import pytest

import debugtracer.responses.rank_agreement as module
from debugtracer.recorder.gate.rank_vote import RankVote
from debugtracer.recorder.run_state import RunState
from debugtracer.responses.rank_agreement import RankAgreement
from tests.responses.steps import a_bad_step

ORDER = ("skip-update", "roll-back", "stop")


@pytest.fixture
def alone() -> RankAgreement:
    return RankAgreement(RunState(), RankVote())


def test_one_process_decides_for_itself(alone: RankAgreement) -> None:
    assert alone.refuses(a_bad_step(loss=1.0)) == ""
    assert alone.farthest("skip-update", ORDER) == "skip-update"


def test_ranks_without_a_common_model_do_not_act(alone: RankAgreement, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "several_ranks", lambda: True)
    assert "no common model" in alone.refuses(a_bad_step(gradient=True))


def test_a_good_reduced_gradient_is_left_alone_but_where_the_gate_has_asked_for_each_part(
    alone: RankAgreement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "several_ranks", lambda: True)
    monkeypatch.setattr(module, "trains_together", lambda roots: True)
    assert alone.refuses(a_bad_step(gradient=True)) == ""
    assert "no bad gradient was reduced here" in alone.refuses(a_bad_step(loss=1.0))
    alone.state.roots.sharded = True
    assert alone.refuses(a_bad_step(reported=True)) == alone.refuses(a_bad_step(loss=1.0)) == ""


@pytest.mark.parametrize(
    ("votes", "taken"),
    [((2, 0, 0), "skip-update"), ((1, 1, 0), "roll-back"), ((1, 0, 1), "stop"), ((0, 0, 0), "skip-update")],
)
def test_all_take_what_the_rank_in_the_worst_case_needs(
    alone: RankAgreement, monkeypatch: pytest.MonkeyPatch, votes: tuple[int, ...], taken: str
) -> None:
    monkeypatch.setattr(module, "several_ranks", lambda: True)
    monkeypatch.setattr(alone.vote, "ask", lambda bits: votes)
    assert alone.farthest("skip-update", ORDER) == taken


def test_an_answer_that_does_not_come_ends_it(alone: RankAgreement, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "several_ranks", lambda: True)
    assert alone.farthest("skip-update", ORDER) is None  # there is no store to ask
    assert "did not answer" in alone.off
