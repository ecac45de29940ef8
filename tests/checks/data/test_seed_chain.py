from __future__ import annotations

from debugtracer.checks.data.seed_chain import SeedChain
from debugtracer.trace.facts.module_modes import ModuleModes
from debugtracer.trace.facts.seeds import SeedRow, Seeds
from tests.checks.data.passes import a_pass
from tests.checks.device.replicas import a_replica
from tests.checks.windows import LOADER, ref, told


def messages(*facts) -> list[str]:
    memories: dict = {}
    found = [finding for fact in facts for finding in SeedChain().judge(told(fact, memories=memories))]
    assert {one.severity for one in found} <= {"note"}
    return [one.message for one in found]


def a_table(*rows: SeedRow, shared: tuple[str, ...] = ()) -> Seeds:
    return Seeds(ref=ref(), rows=rows, shared=shared)


def test_a_seed_from_the_clock():
    row = SeedRow(
        source="torch",
        seeded=True,
        value=1714060800,
        frame=LOADER,
        calls=1,
        risk="taken from the clock: write it down to repeat the run",
    )
    assert messages(a_table(row), a_table(row)) == [
        "step 0, rank 0: torch was seeded with 1714060800 at train.py:20, taken from "
        "the clock: write it down to repeat the run; expected a seed that is "
        "recorded. Set one seed first of all "
        'and derive the others from it: debugtracer.derive_seed(base, "augmentation").'
    ]


def test_a_seed_that_is_recorded_is_silent_and_so_is_a_generator_nobody_draws_from():
    assert (
        messages(a_table(SeedRow(source="torch", seeded=True, value=0, calls=1), SeedRow(source="numpy", seeded=False)))
        == []
    )


def test_one_generator_for_two_augmentations():
    (message,) = messages(a_table(shared=("dataset.crop.rng", "dataset.flip.rng")))
    assert "dataset.crop.rng and dataset.flip.rng are one generator; expected one for each" in message


def test_an_evaluation_that_changes_is_told_once():
    passes = [a_pass(n, loader=1, trains=False, content=(n,)) for n in range(4)]
    (message,) = messages(*passes)
    assert (
        "the batches of the evaluation (train.py:20) differ between pass 1 and 2; expected the same ones each time"
        in message
    )
    assert messages(*(a_pass(n, loader=1, trains=False, content=(5,)) for n in range(4))) == []


def test_two_data_sets_that_take_turns_are_no_change():
    assert messages(*(a_pass(n, loader=1, trains=False, content=(n % 2,)) for n in range(6))) == []
    assert messages(*(a_pass(n, loader=1, trains=False, content=(n,)) for n in range(2))) == [], "two may be two sets"


def test_all_samples_in_another_order_are_the_same_evaluation_and_a_part_of_them_is_not():
    def passes(seen: int, order=lambda n: (n,)):
        more = {"loader": 1, "trains": False, "sampler": "RandomSampler", "batches": seen, "expected": 10}
        return [a_pass(n, content=(n,), order=order(n), **more) for n in range(3)]

    assert messages(*passes(10)) == []
    assert len(messages(*passes(3))) == 1  # the first three batches of ten
    assert len(messages(*passes(10, lambda n: (1,)))) == 1  # the same samples with other values


def test_a_sampler_of_the_programs_own_draws_other_samples_on_purpose():
    def passes(order):
        more = {"loader": 1, "trains": False, "sampler": "SequentialSampler", "batches": 20, "expected": 20}
        return [a_pass(n, content=(n,), order=order(n), **more) for n in range(3)]

    assert messages(*passes(lambda n: (n,))) == []
    assert len(messages(*passes(lambda n: (1,)))) == 1


def test_a_loader_of_another_fold_may_give_others_unless_it_shuffles():
    folds = [a_pass(n, loader=1, trains=False, content=(n // 2,), renewed=n == 2, shuffles=False) for n in range(4)]
    assert messages(*folds) == []
    drawn = [a_pass(n, loader=1, trains=False, content=(n // 2,), renewed=n == 2, shuffles=True) for n in range(4)]
    assert len(messages(*drawn)) == 1


def test_a_loader_that_neither_trains_nor_evaluates_is_no_evaluation():
    """As the one of two loaders of training whose batches the loop fetches first."""
    assert messages(*(a_pass(n, loader=1, trains=False, evaluates=False, content=(n,)) for n in range(4))) == []


def test_equal_seeds_of_replicas_are_a_note():
    def rank(number: int, seed: int, drops: int = 2):
        modes = ModuleModes(ref=ref(), root="Net", total=3, drops=drops, training=3)
        table = a_table(SeedRow(source="torch", seeded=True, value=seed))
        return told(table, a_replica(rank=number), modes, rank=number)

    (one,) = SeedChain().judge_ranks({0: rank(0, 7), 1: rank(1, 7)})
    assert one.severity == "note"
    assert "torch has the seed 7 on all 2 ranks" in one.message
    assert list(SeedChain().judge_ranks({0: rank(0, 7), 1: rank(1, 8)})) == []
    assert list(SeedChain().judge_ranks({0: rank(0, 7, drops=0), 1: rank(1, 7, drops=0)})) == []  # nothing is dropped
