"""Copies of weights on two ranks that no wrapper keeps."""

from __future__ import annotations

from debugtracer.checks.device.rank_weight_drift import RankWeightDrift
from debugtracer.trace.facts.data_group import DataGroup
from debugtracer.trace.facts.rank_weights import RankWeights
from tests.checks.windows import LOADER, ref, told

NAMES = ("up.weight", "up.bias", "head.weight", "head.bias")
LOOKS = (0, 1, 2, 50, 100)


OTHER = (1.5, 2.2, 3.0, 4.0)  # gradients on other data


def looks(rank, before, grads=(1.0, 2.0, 3.0, 4.0), collectives=lambda step: step, elements=None, unreached=None):
    """One look for each step: `before` gives the checksums at a step."""
    return [
        RankWeights(
            ref=ref(step, rank), optimizer="SGD", built=LOADER, number=0, names=NAMES, before=before(step),
            grads_l2=grads, collectives=collectives(step), held=40, unreached=unreached,
            calls=collectives(step) if elements else 0, elements=elements(step) if elements else 0,
        )
        for step in LOOKS
    ]  # fmt: skip


def moving(step):
    return step + 1, step + 2, step + 3, 9  # the last one is frozen


def judged(mine, theirs):
    reduced = DataGroup(ref=ref(0), how="all_reduce", group=(0, 1), at=LOADER)
    return list(RankWeightDrift().judge_ranks({0: told(reduced, *mine, rank=0), 1: told(*theirs, rank=1)}))


def test_copies_that_part_later_are_told_with_the_look_before():
    parted = looks(1, lambda step: moving(step) if step < 50 else (7, *moving(step)[1:]))
    (one,) = judged(looks(0, moving), parted)
    assert one.message == (
        "step 50, rank 0: up.weight was equal on ranks 0 and 1 in 3 looks up to step 2 and differs at step 50 (1 of 4 "
        f"parameters); expected equal weights where updates are averaged ({LOADER.file.rpartition('/')[2]}:"
        f"{LOADER.line}). Look for what reduces or changes gradients on one rank alone."
    )
    assert (one.severity, one.kind, one.place.param, one.place.frame) == (
        "error", "ddp_replica_drift", "up.weight", LOADER,
    )  # fmt: skip


def test_a_frozen_copy_that_is_thawed_on_one_rank_counts():
    (one,) = judged(looks(0, moving), looks(1, lambda step: (*moving(step)[:3], 9 if step < 100 else 8)))
    assert "head.bias was equal on ranks 0 and 1 in 4 looks up to step 50 and differs at step 100" in one.message


def test_equal_copies_parts_of_one_tensor_and_local_updates_are_silent():
    assert judged(looks(0, moving), looks(1, moving)) == []
    shards = looks(1, lambda step: (step + 70, *moving(step)[1:]))  # tensor parallel: differs from the start
    assert judged(looks(0, moving), shards) == []
    local = looks(1, lambda step: moving(step) if step == 0 else (70, 71, 72, 9))  # equal at the start alone
    assert judged(looks(0, moving), local) == []


def apart(step):
    return moving(step) if step == 0 else tuple(70 + n + step for n in range(4))


def two(mine=moving, theirs=apart, grads=OTHER, **more):
    return judged(looks(0, mine, **more), looks(1, theirs, grads, **more))


def test_ranks_that_exchange_nothing_train_models_of_their_own():
    (one,) = two(collectives=lambda _: 2)
    assert one.message == (
        "step 0, rank 0: ranks 0 and 1 began with equal weights, called no collective from step 0 to 100, and differ "
        "in all 4 parameters since the first update; expected gradients that are averaged before it. Look for the "
        "average that is never reached."
    )
    for unknown in (lambda step: step, lambda _: -1):  # something was exchanged; not known
        assert two(collectives=unknown) == []
    assert two(collectives=lambda _: 2, grads=(1.0, 2.0, 3.0, 4.0)) == []  # one batch, other settings: a sweep


def test_a_loss_that_is_logged_is_no_average_and_the_line_that_was_meant_is_told():
    (one,) = two(collectives=lambda step: step, elements=lambda step: step // 2, unreached=LOADER)
    assert "began with equal weights, exchanged 50 elements from step 0 to 100, and differ" in one.message
    line = f"{LOADER.file.rpartition('/')[2]}:{LOADER.line}"
    assert one.message.endswith(f"The exchange that {line} leads to is never reached.")
    assert one.place.frame == LOADER


def test_weights_averaged_now_and_then_are_meant():
    assert two(collectives=lambda step: step // 100, elements=lambda step: 40 * (step // 100)) == []
    assert len(two(collectives=lambda step: step // 100, elements=lambda step: 39 * (step // 100))) == 1


def test_ranks_of_two_launches_have_no_look_in_common():
    first = looks(0, moving)
    later = [fact for fact in looks(1, moving) if fact.ref.step > 100]
    assert judged(first, later) == []


def test_weights_that_never_moved_prove_nothing():
    parted = looks(1, lambda step: (1, 2, 3, 4) if step < 50 else (5, 2, 3, 4))
    assert judged(looks(0, lambda step: (1, 2, 3, 4) if step < 50 else (6, 2, 3, 4)), parted) == []


def test_one_gradient_that_one_rank_scales_is_told_at_once():
    (one,) = judged(looks(0, moving), looks(1, moving, grads=(2.0, 4.0, 6.0, 8.0)))
    assert one.message == (
        "step 0, rank 0: ranks 0 and 1 hold equal weights in 4 of 4 parameters, and their gradients on rank 0 are 0.5 "
        "times those on rank 1; expected equal gradients. Clip or scale them on all ranks alike."
    )


def test_other_gradients_are_no_scaled_ones():
    assert judged(looks(0, moving), looks(1, moving, grads=(2.0, 4.0, 6.3, 8.0))) == []
    assert judged(looks(0, moving), looks(1, moving, grads=(1.001, 2.002, 3.003, 4.004))) == []
    assert judged(looks(0, moving), looks(1, moving, grads=(2.0, 4.0, -1.0, -1.0))) == []  # two are too few


def others(step):
    return tuple(value + 70 for value in moving(step))


def test_models_that_began_apart_and_get_one_average_are_told():
    (one,) = judged(looks(0, moving), looks(1, others))
    assert one.message == (
        "step 0, rank 0: up.weight differs on ranks 0 and 1 in the first 3 looks though its gradients are the same "
        f"there (4 of 4 parameters); expected equal weights where gradients are averaged "
        f"({LOADER.file.rpartition('/')[2]}:{LOADER.line}). Broadcast the weights from rank 0 before the first update."
    )
    assert one.remedy[0] == "broadcast the weights from rank 0 to make them equal again"


def test_models_apart_with_gradients_of_their_own_are_local_updates():
    assert judged(looks(0, moving), looks(1, others, grads=(1.0, 2.0, 3.0, 4.1))) == []
    assert judged(looks(0, moving, grads=(-1.0,) * 4), looks(1, others, grads=(-1.0,) * 4)) == []
