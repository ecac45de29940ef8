from __future__ import annotations

from debugtracer.checks.data.worker_rng import WorkerRng
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.worker_draws import DrawnBy, WorkerDraws
from tests.checks.windows import LOADER, ref, told

MADE = Frame("/home/someone/train.py", 11, "Data.__init__", "self.rng = default_rng(1)")


def drawn(*states: int, after: int = 9, draws: bool = True) -> tuple[DrawnBy, ...]:
    return tuple(DrawnBy(worker=i, before=state, after=after, draws=draws) for i, state in enumerate(states))


def fact(drawn: tuple[DrawnBy, ...], epoch: int = 0, **more: object) -> WorkerDraws:
    known: dict[str, object] = {
        "path": "dataset.rng",
        "kind": "Generator",
        "made": MADE,
        "stream": False,
        "persistent": False,
        "worker_init": None,
    }
    known |= {"trains": True} | more
    return WorkerDraws(ref=ref(32 * epoch), loader=0, frame=LOADER, epoch=epoch, drawn=drawn, **known)  # type: ignore[arg-type]


def found(*facts: WorkerDraws):
    memories: dict = {}
    return [finding for one in facts for finding in WorkerRng().judge(told(one, memories=memories))]


def test_equal_copies_in_two_workers_are_a_proof():
    (one,) = found(fact(drawn(7, 7)))
    assert (one.severity, one.kind, one.exact, one.place.frame, one.place.symptom_frame) == (
        "error",
        "worker_rng_duplicate",
        True,
        MADE,
        LOADER,
    )
    assert one.message == (
        "step 0, rank 0: dataset.rng (Generator) begins in the same state in 2 of 2 workers and each draws from it; "
        "expected a state of its own in each "
        "worker. Seed it in worker_init_fn from torch.initial_seed()."
    )


def test_states_of_their_own_are_right():
    assert found(fact(drawn(7, 8)), fact(drawn(17, 18), epoch=1)) == []


def test_a_generator_that_may_have_been_seeded_by_the_sample_is_no_proof():
    reseeded = (DrawnBy(worker=0, before=7, after=1, draws=False), DrawnBy(worker=1, before=7, after=2, draws=False))
    assert found(fact(reseeded)) == []


def test_the_same_way_from_the_same_state_is_a_proof_even_where_the_way_is_not_known():
    assert len(found(fact(drawn(7, 7, draws=False)))) == 1


def test_a_pass_that_repeats_the_last_is_a_warning_and_no_proof():
    (one,) = found(fact(drawn(7)), fact(drawn(7), epoch=1))
    assert (one.severity, one.exact, one.step) == ("warning", False, 32)


def test_workers_that_live_on_go_on():
    assert found(fact(drawn(7), persistent=True), fact(drawn(7), epoch=1, persistent=True)) == []


def test_an_evaluation_may_repeat_its_noise_and_a_stream_its_order():
    assert found(fact(drawn(7, 7), trains=False), fact(drawn(7, 7), epoch=1, trains=False)) == []
    assert [one.severity for one in found(fact(drawn(7, 7), stream=True))] == ["note"]
