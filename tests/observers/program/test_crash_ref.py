"""The iteration an exception belongs to."""

from __future__ import annotations

from types import SimpleNamespace

from debugtracer.observers.program.crash_ref import crash_ref


def run(fetched_at):
    state = SimpleNamespace(iteration=8, iteration_in_flight=7, step=5, fetched_at=fetched_at)
    return SimpleNamespace(state=state, iteration=8)


def test_while_a_loader_fetches_it_is_the_next_iteration():
    ref = crash_ref(run(fetched_at=3), fetching=True)
    assert (ref.iteration, ref.step, ref.phase) == (8, 5, "load")


def test_a_batch_that_came_since_the_last_backward_belongs_to_the_next_one():
    assert crash_ref(run(fetched_at=8), fetching=False).iteration == 8
    ref = crash_ref(run(fetched_at=7), fetching=False)
    assert (ref.iteration, ref.phase) == (7, "forward")
