from __future__ import annotations

from debugtracer.checks.data.epoch_order import EpochOrder
from tests.checks.data.passes import a_pass
from tests.checks.windows import told


def found(*passes):
    memories: dict = {}
    return [finding for one in passes for finding in EpochOrder().judge(told(one, memories=memories))]


def test_a_sampler_whose_epoch_stands_still_is_a_note_then_a_warning():
    first, second = found(a_pass(0), a_pass(1), a_pass(2), a_pass(3))
    assert (first.severity, second.severity) == ("note", "warning")
    assert second.message == (
        "step 29, rank 0: passes 0, 1 and 2 over the loader (train.py:20) draw the same order, and "
        "DistributedSampler.epoch stays 0; expected a new order "
        "in each. Call sampler.set_epoch(epoch) before each pass."
    )


def test_new_orders_are_silent():
    assert (
        found(
            a_pass(0, (1, 2, 3), sampler_epoch=0),
            a_pass(1, (3, 2, 1), sampler_epoch=1),
            a_pass(2, (2, 1, 3), sampler_epoch=2),
        )
        == []
    )


def test_no_shuffling_by_intent_is_silent():
    assert (
        found(
            *(
                a_pass(n, ascending=True, shuffles=False, sampler_epoch=None, sampler="SequentialSampler")
                for n in range(4)
            )
        )
        == []
    )


def test_an_order_fixed_by_a_generator_is_a_note_only():
    assert [
        one.severity for one in found(*(a_pass(n, sampler_epoch=None, sampler="RandomSampler") for n in range(5)))
    ] == ["note"]


def test_one_batch_has_no_order_and_an_evaluation_may_keep_its_own():
    assert found(*(a_pass(n, (4,)) for n in range(4))) == []
    assert found(*(a_pass(n, trains=False) for n in range(4))) == []
