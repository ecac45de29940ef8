"""Generators that push the scores of what they make the way their critic does."""

from __future__ import annotations

from debugtracer.checks.optimizer.adversary_agrees import AdversaryAgrees
from debugtracer.trace.facts.score_gradient import ScoreGradient
from tests.checks.optimizer.seen import at, found, line


def push(number: int, by_critic: bool, up: float, rest: float | None = None) -> ScoreGradient:
    return ScoreGradient(
        ref=at(number), critic=1, generator=0, by_critic=by_critic, number=number, generated_raised=up,
        real_raised=rest, kind="Adam", built=line(13 if by_critic else 12), called=line(20 if by_critic else 30),
        backward=line(21 if by_critic else 31),
    )  # fmt: skip


def game(made: float, rest: float | None, generator: float) -> list[ScoreGradient]:
    """Two updates of each."""
    return [p for n in (0, 2) for p in (push(n, True, made, rest), push(n + 1, False, generator))]


def test_a_generator_that_agrees_with_its_critic():
    (finding,) = found(AdversaryAgrees(), game(0.0, 1.0, 0.0))
    assert finding.message == (
        "step 1, rank 0: Adam (train.py:12) lowers 100 % of the scores that line 30 asks for of what it made, as the "
        "critic of Adam (train.py:13) does (100 %), which raises those of the rest, in 2 updates of each; expected the "
        "other way. Give the loss of line 31 the other sign, or the target of real samples."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (line(30), line(31))


def test_the_other_way_round():
    (finding,) = found(AdversaryAgrees(), game(1.0, 0.0, 0.97))
    assert "raises 97 % of the scores" in finding.message and "lowers those of the rest" in finding.message


def test_a_generator_that_works_against_its_critic_is_silent():
    assert found(AdversaryAgrees(), game(0.0, 1.0, 1.0)) == []


def test_a_network_that_tells_nothing_apart_is_no_critic():
    assert found(AdversaryAgrees(), game(0.0, 0.0, 0.0)) == []
    assert found(AdversaryAgrees(), game(0.0, None, 0.0)) == []
    assert found(AdversaryAgrees(), game(0.3, 0.9, 0.0)) == []


def test_one_update_of_each_is_silent():
    assert found(AdversaryAgrees(), game(0.0, 1.0, 0.0)[:2]) == []
