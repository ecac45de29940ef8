from __future__ import annotations

from debugtracer.checks.device.rank_overlap import RankOverlap
from debugtracer.trace.facts.data_group import DataGroup
from tests.checks.device.replicas import a_batch, a_replica
from tests.checks.windows import LOADER, ref, told


def ranks(mine, theirs, **more):
    return {0: told(*mine, a_replica(**more), rank=0), 1: told(*theirs, a_replica(rank=1, **more), rank=1)}


def batches(rank: int, shift: int = 0, distinct: bool = True, **more):
    return [
        a_batch(step, rank, (step + shift, step + 1 + shift), (100 + (step if distinct else 0) + shift,), **more)
        for step in range(5)
    ]


def test_equal_batches_on_two_ranks_are_a_proof():
    (one,) = RankOverlap().judge_ranks(ranks(batches(0), batches(1)))
    assert (one.severity, one.kind, one.exact, one.place.frame, one.iteration) == (
        "error",
        "ddp_duplicate_data",
        True,
        LOADER,
        0,
    )
    assert one.message == (
        "step 0, rank 0: ranks 0 and 1 train on the same batches in 5 of 5 iterations compared (iteration 0: samples "
        "0, 1, ...); expected different samples "
        "on each rank. Give the DataLoader sampler=DistributedSampler(dataset)."
    )


def test_a_sampler_that_deals_to_one_rank_alone_is_to_be_mended_not_added():
    fields = {"sampler": "DistributedSampler", "shards": True}
    (one,) = RankOverlap().judge_ranks(ranks(batches(0, **fields), batches(1, **fields)))
    assert "Leave num_replicas and rank of its DistributedSampler out: it asks the process group." in one.message
    assert "without num_replicas and rank" in one.remedy[0]


def test_parts_of_their_own_are_silent_also_when_padding_repeats_a_sample():
    mine, theirs = batches(0), batches(1, shift=50)
    theirs[4] = a_batch(4, 1, mine[0].indices, mine[0].digests)  # DistributedSampler fills up with the first samples
    assert list(RankOverlap().judge_ranks(ranks(mine, theirs))) == []


def test_shards_with_equal_indices_hold_other_values():
    theirs = [a_batch(fact.ref.step, 1, fact.indices, (fact.digests[0] + 1,)) for fact in batches(0)]
    assert list(RankOverlap().judge_ranks(ranks(batches(0), theirs))) == []


def test_tensor_parallel_ranks_must_share():
    windows = {0: told(*batches(0), a_replica(group=(0,))), 1: told(*batches(1), a_replica(rank=1, group=(1,)), rank=1)}
    assert list(RankOverlap().judge_ranks(windows)) == []
    assert list(RankOverlap().judge_ranks({0: told(*batches(0)), 1: told(*batches(1), rank=1)})) == []  # no wrapper


def test_an_overfit_test_repeats_its_one_batch():
    assert list(RankOverlap().judge_ranks(ranks(batches(0, distinct=False), batches(1, distinct=False)))) == []


def test_one_rank_alone_says_nothing():
    assert list(RankOverlap().judge(told(*batches(0)))) == []


def test_one_iteration_of_their_own_is_enough_to_be_silent():
    theirs = batches(1)
    theirs[2] = a_batch(2, 1, (70, 71), (170,))
    assert list(RankOverlap().judge_ranks(ranks(batches(0), theirs))) == []


def grouped(how, group=(0, 1), **more):
    return {
        rank: told(*batches(rank, **more), DataGroup(ref=ref(0, rank), how=how, group=group), rank=rank)
        for rank in (0, 1)
    }


def test_ranks_that_shard_one_model_are_compared_like_copies():
    (one,) = RankOverlap().judge_ranks(grouped("fully_shard"))
    assert one.exact
    assert list(RankOverlap().judge_ranks(grouped("fully_shard", group=(0, 2)))) == []


def test_gradients_averaged_by_hand_are_no_proof():
    (one,) = RankOverlap().judge_ranks(grouped("all_reduce", loader=None))
    assert (one.exact, one.confidence) == (False, 0.85)
    assert one.message.endswith("Let each rank take rows of its own: order[rank::world_size].")
    assert one.remedy[0].startswith("let each rank take rows of its own")
