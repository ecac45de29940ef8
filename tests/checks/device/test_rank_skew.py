from __future__ import annotations

from debugtracer.checks.device.rank_skew import RankSkew
from tests.checks.device.replicas import a_batch
from tests.checks.windows import LOADER, told


def ranks(labels=((0, 20),), others=((0, 20),), width=(None, None), mine=None, theirs=None):
    return {
        0: told(*(a_batch(n, 0, labels=labels, width=width[0]) for n in range(12)), rank=0, **(mine or {})),
        1: told(*(a_batch(n, 1, labels=others, width=width[1]) for n in range(12)), rank=1, **(theirs or {})),
    }


def found(**more):
    return list(RankSkew().judge_ranks(ranks(**more)))


def test_ranks_without_a_class_in_common():
    one, other = found(labels=((0, 15), (1, 5)), others=((2, 10), (3, 10)))
    assert (one.severity, one.kind, one.place.frame, other.rank) == ("warning", "ddp_rank_skew", LOADER, 1)
    assert one.message == (
        "step 0, rank 0: the labels of rank 0 differ from those of the other ranks (shares 100 % apart over 240 "
        "labels); expected the same classes on all. "
        "Shuffle before the data is divided."
    )


def test_unlike_shares_are_a_note_and_like_ones_nothing():
    assert {one.severity for one in found(labels=((0, 16), (1, 4)), others=((0, 4), (1, 16)))} == {"note"}
    assert found(labels=((0, 11), (1, 9)), others=((0, 9), (1, 11))) == []


def test_the_loss_of_one_rank():
    low = {"loss": [0.6 + 0.01 * (n % 5) for n in range(120)]}
    high = {"loss": [2.4 + 0.01 * (n % 5) for n in range(120)]}
    assert {one.severity for one in found(mine=low, theirs=high)} == {"note"}
    assert found(mine=low, theirs=low) == []


def test_lengths_and_pace():
    assert len(found(width=(200, 60))) == 1
    slow = {"wait_s": [0.2] * 60}
    assert ["waits for its batches" in one.message for one in found(mine=slow, theirs={"wait_s": [0.01] * 60})] == [
        True
    ]
    assert found(mine=slow, theirs={"wait_s": [0.19] * 60}) == []


def test_ranks_that_train_on_no_batches_of_their_own_are_not_compared():
    assert list(RankSkew().judge_ranks({0: told(loss=[1.0] * 120), 1: told(rank=1, loss=[9.0] * 120)})) == []
    assert list(RankSkew().judge(told())) == []


def test_losses_that_are_not_finite_are_left_out():
    low = [0.6 + 0.01 * (n % 5) for n in range(120)]
    high = [2.4 + 0.01 * (n % 5) for n in range(119)] + [float("nan")]
    assert {one.severity for one in found(mine={"loss": low}, theirs={"loss": high})} == {"note"}
    assert found(mine={"loss": [float("nan")] * 120}, theirs={"loss": low}) == []
