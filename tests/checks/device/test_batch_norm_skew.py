from __future__ import annotations

from debugtracer.checks.device.batch_norm_skew import BatchNormSkew
from debugtracer.trace.facts.norm_statistics import LayerStatistics, NormStatistics
from tests.checks.device.replicas import a_batch
from tests.checks.windows import LOADER, ref, told

NOISE = (0.02, -0.01, 0.015, -0.03)


def statistics(
    step: int, rank: int, shift: float, broadcast: bool = True, group: tuple[int, ...] = (0, 1)
) -> NormStatistics:
    """Two channels of standard deviation 1; `shift` is how far the data of rank 1 lies off."""
    own = (shift + NOISE[step]) * (0.1 if broadcast else 1.0) * rank
    layer = LayerStatistics(name="1", kind="BatchNorm1d", momentum=0.1, mean=(0.5 + own, 0.7 + own), var=(1.0, 1.0))
    return NormStatistics(ref=ref(step, rank), group=group, broadcast=broadcast, layers=(layer,))


def found(shift: float, steps: int = 3, **more: object):
    return list(
        BatchNormSkew().judge_ranks(
            {r: told(a_batch(0, r), *(statistics(n, r, shift, **more) for n in range(steps)), rank=r) for r in (0, 1)}
        )
    )


def test_shards_of_unlike_data_are_told_at_the_loader():
    (one,) = found(2.0)
    assert (one.severity, one.kind, one.rank, one.place.frame, one.place.module) == (
        "warning",
        "ddp_rank_skew",
        1,
        LOADER,
        "1",
    )
    assert one.message == (
        "step 0, rank 1: 1 (BatchNorm1d) sees data on rank 1 whose mean is 2 standard deviations from that on rank 0 "
        "(median of 2 channels, 3 steps); expected "
        "like data on all ranks, for evaluation uses the running statistics of rank 0 alone. "
        "Use torch.nn.SyncBatchNorm.convert_sync_batchnorm(model) or GroupNorm, or shuffle before the data is divided."
    )


def test_buffers_of_their_own_are_told_as_such():
    (one,) = found(2.0, broadcast=False)
    assert "for each rank keeps running statistics of its own" in one.message


def test_like_data_is_silent():
    assert found(0.0) == []
    assert found(0.9) == []


def test_at_the_threshold():
    assert found(1.0 + 1e-6 - sum(NOISE[:3]) / 3) != []
    assert found(1.0 - 1e-6 - sum(NOISE[:3]) / 3) == []


def test_two_steps_are_too_few_and_other_groups_are_not_compared():
    assert found(2.0, steps=2) == []
    assert found(2.0, group=(0,)) == []


def test_a_difference_that_changes_its_sign_is_noise():
    rows = {r: told(*(statistics(n, r, (-1) ** n * 3.0 + 1.5) for n in range(4)), rank=r) for r in (0, 1)}
    assert list(BatchNormSkew().judge_ranks(rows)) == []
    assert list(BatchNormSkew().judge(rows[0])) == []


def test_statistics_of_a_rank_that_broke_are_not_compared():
    assert found(float("nan")) == []
    assert found(float("inf")) == []
