"""A mean that is drowned by a sum."""

from __future__ import annotations

from debugtracer.checks.model.term_drowned import TermDrowned
from debugtracer.trace.facts.loss_terms import LossTerms, Term
from tests.checks.facts_at import judged, line, ref

COLLAPSED = [(0.699, 4.09), (0.69, 2.6), (0.494, 0.006), (0.487, 0.0037), (0.492, 0.0022)]


def looks(values, weights=(1 / 6400, 0.5), kinds=("mean", "sum"), spreads=(None,) * 5):
    return [
        LossTerms(
            ref=ref(step * 100),
            frame=line(39),
            terms=tuple(
                Term(
                    value=value,
                    frame=line(at),
                    reduction=kind,
                    elements=size,
                    weight=weight,
                    spread=spread,
                    target_spread=spread and 0.5,
                )
                for value, at, kind, size, weight in zip(pair, (36, 38), kinds, (6400, 512), weights, strict=True)
            ),
        )
        for step, (pair, spread) in enumerate(zip(values, spreads, strict=True))
    ]


def test_a_sum_that_is_gone_and_a_mean_that_stands_are_told_once():
    (finding,) = judged(TermDrowned(), looks([*COLLAPSED, COLLAPSED[-1]], spreads=(None,) * 6))
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_misuse", line(36))
    assert finding.message == (
        "step 400, rank 0: an element of the mean (train.py:36, over 6400) weighs 3200 times less in the loss than one "
        "of the sum (train.py:38, over 512); the sum has gone from 4.09 to 0.0022 and the mean stands at 0.492 (at "
        "first 0.699); expected both to be reduced alike. Give both the same reduction."
    )


def test_factors_that_make_up_for_it_are_silent():
    assert judged(TermDrowned(), looks(COLLAPSED, weights=(1 / 6400, 0.1))) == []
    assert judged(TermDrowned(), looks(COLLAPSED, weights=(None, 0.5))) == []


def test_two_sums_and_two_means_are_silent():
    for kind in ("sum", "mean", ""):
        assert judged(TermDrowned(), looks(COLLAPSED, kinds=(kind, kind))) == []


def test_a_mean_that_learns_and_a_constraint_that_is_met_are_silent():
    learns = [(a * factor, b) for (a, b), factor in zip(COLLAPSED, (1, 0.9, 0.5, 0.3, 0.1), strict=True)]
    assert judged(TermDrowned(), looks(learns)) == []
    assert judged(TermDrowned(), looks([(a, b * (n < 2)) for n, (a, b) in enumerate(COLLAPSED)])) == []


ROWS = {"weights": (1 / 6400, 0.005)}  # 32 times apart
WANDERS = [(0.9, 0.03), (0.7, 0.02), (0.5, 0.0004), (0.4, 0.0003), (0.46, 0.0002)]
SAME = (0.2, 0.05, 0.002, 0.001, 0.001)


def test_the_same_answer_for_every_row_is_told_at_a_smaller_ratio():
    (finding,) = judged(TermDrowned(), looks(WANDERS, **ROWS, spreads=SAME))
    assert "weighs 32 times less in the loss" in finding.message
    assert "(at first 0.9); its answers vary over the rows by 0.002 of what the targets do; exp" in finding.message


def test_answers_that_vary_a_sum_that_stays_and_a_chosen_factor_are_silent():
    assert judged(TermDrowned(), looks(WANDERS, **ROWS)) == []
    assert judged(TermDrowned(), looks(WANDERS, **ROWS, spreads=(0.2, 0.05, 0.001, 0.02, 0.001))) == []
    stays = [(a, 0.03) for a, _ in WANDERS]
    assert judged(TermDrowned(), looks(stays, **ROWS, spreads=SAME)) == []
    assert judged(TermDrowned(), looks(WANDERS, weights=(1 / 6400, 9 / 6400), spreads=SAME)) == []


def test_two_looks_are_enough_where_they_lie_far_apart():
    short = [WANDERS[0], *WANDERS[2:4]]
    (finding,) = judged(TermDrowned(), looks(short, **ROWS, spreads=(0.2, 0.001, 0.001)))
    assert finding.message.startswith("step 200,")
    assert judged(TermDrowned(apart_steps=101), looks(short, **ROWS, spreads=(0.2, 0.001, 0.001))) == []
    assert judged(TermDrowned(), looks(short[:2], **ROWS, spreads=(0.2, 0.001))) == []


def test_a_factor_that_grows_from_nothing_is_silent():
    grows = [(a, b * (n > 0)) for n, (a, b) in enumerate(WANDERS)]
    assert judged(TermDrowned(), looks(grows, **ROWS, spreads=SAME)) == []


def test_a_sum_that_began_with_next_to_nothing_and_one_that_is_not_gone_are_silent():
    for first, last in ((0.0179, 0.0002), (0.03, 0.00061)):
        values = [(0.9, first), *WANDERS[1:2], *((a, last) for a, _ in WANDERS[2:])]
        assert judged(TermDrowned(), looks(values, **ROWS, spreads=SAME)) == []
    for first, last in ((0.0181, 0.0002), (0.03, 0.00059)):
        values = [(0.9, first), *WANDERS[1:2], *((a, last) for a, _ in WANDERS[2:])]
        assert len(judged(TermDrowned(), looks(values, **ROWS, spreads=SAME))) == 1
