"""What trials of one step and of several have in common: a run that fails is refused with its error, and leaving them
restores the world."""

from __future__ import annotations

import pytest
import torch

from debugtracer import session
from debugtracer.interventions.intervention import interventions
from debugtracer.replay.trials.trials import replaying
from tests.replay.pasts import Loop, looked_into, trained


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def sgd(p):
    return torch.optim.SGD(p, lr=0.05)


def test_a_run_that_raises_is_refused_with_its_error(tmp_path) -> None:
    loop = Loop(sgd)
    with looked_into(tmp_path, loop) as trials:
        loop.model.forward = lambda x: 1 / 0  # type: ignore[method-assign]
        score = trials.run(interventions()["unchanged"])
        del loop.model.forward
    assert "ZeroDivisionError: division by zero" in score.refused
    assert score.loss is None


def test_an_input_of_the_batch_has_one_row_for_each_sample(tmp_path) -> None:
    with looked_into(tmp_path, Loop(sgd)) as trials:
        batch = [leaf for leaf in trials.inputs() if trials.is_batch(leaf)]
        assert trials.rows == 8 and [leaf.tensor.shape[0] for leaf in batch] == [8] * len(batch) and batch
        assert not any(trials.is_batch(leaf) for leaf in trials.inputs() if isinstance(leaf.tensor, torch.nn.Parameter))


def test_nothing_is_recorded_while_steps_are_replayed(tmp_path) -> None:
    with trained(tmp_path, Loop(sgd)) as (watching, _, context):
        recorded = watching.tape.current.entries
        before = len(recorded)
        with replaying(context):
            torch.ones(2, requires_grad=True).sum()
        assert len(recorded) == before
