"""A tape executed again with one thing changed; the whole path is in tests/replay/trials/test_history_trials.py and
tests/interventions."""

import contextlib

import torch

from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.replay_plan import ReplayPlan
from debugtracer.replay.trials.changed import ChangedExecution


def a_tape(*entries):
    segment = Segment(0)
    for number, entry in enumerate(entries):
        entry.index, entry.outputs = number, 1
        segment.entries.append(entry)
    return ReplayPlan([segment])


def changed(plan, **changes):
    rerun = Rerun("nan_loss", plan.entries, [], [], **changes)
    run = ChangedExecution(plan, torch.autograd.backward, rerun)
    run.run()
    return run


def test_an_exchanged_input_reaches_every_call_and_stays_itself():
    leaf = Leaf(torch.tensor([1.0, 2.0]))
    plan = a_tape(Entry("fn", torch.neg, (leaf,), {}, ()), Entry("fn", torch.add, (Slot(0, 0, 0), leaf), {}, ()))
    other = torch.tensor([10.0, 20.0])
    run = changed(plan, inputs={id(leaf): other})
    assert run.values[0, 0][0].tolist() == [-10.0, -20.0]
    assert run.values[0, 1][0].tolist() == [0.0, 0.0]
    assert other.tolist() == [10.0, 20.0]
    assert leaf.tensor.tolist() == [1.0, 2.0]


def test_an_exchanged_input_that_a_call_writes_is_not_the_one_given():
    leaf = Leaf(torch.zeros(2))
    other = torch.ones(2)
    changed(a_tape(Entry("fn", torch.Tensor.add_, (leaf, 5.0), {}, ())), inputs={id(leaf): other})
    assert other.tolist() == [1.0, 1.0]


def overwritten(*entries, leaf):
    run = changed(a_tape(*entries), inputs={id(leaf): torch.ones(2, 2)})
    return run.rerun.overwritten


WRITE = torch.Tensor.__setitem__


def test_a_write_into_an_exchanged_input_into_its_view_or_into_what_was_computed_from_it_is_told():
    leaf = Leaf(torch.zeros(2, 2))
    said = "the step itself writes into this batch, so it overwrites whatever is put in its place"
    assert overwritten(Entry("fn", WRITE, (leaf, (1, 0), -5.0), {}, ()), leaf=leaf) == said
    view = Entry("fn", torch.Tensor.__getitem__, (leaf, 1), {}, ())
    assert overwritten(view, Entry("fn", torch.Tensor.mul_, (Slot(0, 0, 0), 12.0), {}, ()), leaf=leaf) == said
    shifted = Entry("fn", torch.add, (leaf, 0.1), {}, ())
    assert overwritten(shifted, Entry("fn", WRITE, (Slot(0, 0, 0), (1, 0), -5.0), {}, ()), leaf=leaf) == said
    assert overwritten(Entry("fn", torch.neg, (leaf,), {"out": leaf}, ()), leaf=leaf) == said


def test_a_write_elsewhere_leaves_the_trial_standing():
    leaf, weight, total = Leaf(torch.zeros(2, 2)), Leaf(torch.ones(2, requires_grad=True)), Leaf(torch.zeros(()))
    mean = Entry("fn", torch.mean, (leaf,), {}, ())
    kept = Entry("fn", torch.Tensor.add_, (total, Slot(0, 0, 0)), {}, ())
    assert overwritten(mean, kept, Entry("fn", torch.Tensor.add_, (total, 1.0), {}, ()), leaf=leaf) == ""
    scores = Entry("fn", torch.mul, (leaf, weight), {}, ())
    assert overwritten(scores, Entry("fn", WRITE, (Slot(0, 0, 0), (1, 0), -5.0), {}, ()), leaf=leaf) == ""


def test_another_seed_draws_other_numbers_and_the_same_ones_again():
    def drawn(seed):
        entry = Entry("fn", torch.nn.functional.dropout, (Leaf(torch.ones(64)),), {"p": 0.5}, ())
        torch.manual_seed(3)
        entry.rng = RngState(torch_only=True)
        return changed(a_tape(entry), seed=seed).values[0, 0][0]

    assert torch.equal(drawn(None), drawn(None))
    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(None), drawn(1))


def test_contexts_stand_around_each_call():
    seen = []

    @contextlib.contextmanager
    def around(entry):
        seen.append(entry.index)
        yield

    leaf = Leaf(torch.ones(1))
    changed(a_tape(Entry("fn", torch.neg, (leaf,), {}, ()), Entry("fn", torch.neg, (leaf,), {}, ())), around=[around])
    assert seen == [0, 1]


def test_a_kind_that_is_left_out_does_not_run():
    leaf = Leaf(torch.ones(1))
    calls = []
    changed(
        a_tape(Entry("zero_grad", lambda: calls.append(1), (), {}, ()), Entry("fn", torch.neg, (leaf,), {}, ())),
        left_out={"zero_grad"},
    )
    assert calls == []


def test_an_update_has_the_settings_of_its_time_and_then_the_changed_ones():
    parameter = torch.nn.Parameter(torch.zeros(1))
    parameter.grad = torch.ones(1)
    optimizer = torch.optim.SGD([parameter], lr=100.0)
    entry = Entry("step", torch.optim.SGD.step, (optimizer,), {}, ())
    entry.settings = [{"lr": 0.5}]
    run = ChangedExecution(
        a_tape(entry),
        torch.autograd.backward,
        Rerun(
            "nan_loss",
            [entry],
            [],
            [optimizer],
            on_update=[lambda o: o.param_groups[0].update(lr=o.param_groups[0]["lr"] / 10)],
        ),
    )
    run.run()
    assert parameter.item() == -0.05000000074505806
