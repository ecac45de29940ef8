"""What a birth is searched for from, and the names of inputs."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import nn

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.capsule.program import Program
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.roots import Roots
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.replay_plan import ReplayPlan
from debugtracer.replay.targets import find_targets, label_inputs, loss_of, outputs_of
from tests.replay.taping import a_tape, call


@dataclass
class Known:
    """What targets need of a scene."""

    roots: Roots
    batches: BatchLog = field(default_factory=BatchLog)
    parameters: object = parameters


def a_run():
    tape, model = a_tape(), nn.Linear(2, 1)
    roots = Roots()
    roots.add(model, None)
    out, _ = call(tape, model, torch.ones(3, 2), kind="module")
    loss, _ = call(tape, torch.mean, out)
    loss.backward()
    run = Reexecution(ReplayPlan([tape.current]), torch.autograd.backward)
    run.run()
    return tape, model, loss, run, Known(roots)


def test_a_bad_loss_is_looked_up_by_its_slot_and_else_is_the_last_number_made():
    tape, _, loss, run, context = a_run()
    alarm = Alarm("nan_loss", tape.current, 0, 0, slot=tape.slot(loss))
    assert [(t.name, torch.equal(t.tensor, loss)) for t in find_targets(alarm, run, context)] == [("loss", True)]
    alarm.slot = None
    assert torch.equal(loss_of(alarm, run), loss)


def test_a_bad_output_is_that_of_the_module_that_raised_the_alarm():
    tape, model, _, run, context = a_run()
    alarm = Alarm("nan_output", tape.current, 0, 0, module=model)
    assert [(t.name, tuple(t.tensor.shape)) for t in find_targets(alarm, run, context)] == [("output", (3, 1))]
    alarm.module = nn.Linear(2, 1)
    assert outputs_of(alarm, run) == []


def test_gradients_and_parameters_have_the_names_of_their_module():
    tape, model, _, run, context = a_run()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    gradients, updates = (
        find_targets(Alarm(s, tape.current, 0, 0, optimizer=optimizer), run, context)
        for s in ("inf_grad", "bad_update")
    )
    assert [t.name for t in gradients] == ["gradient weight", "gradient bias"]
    assert [t.tensor is p for t, p in zip(updates, model.parameters(), strict=True)] == [True, True]
    model.bias.grad = None
    assert len(find_targets(Alarm("inf_grad", tape.current, 0, 0, optimizer=optimizer), run, context)) == 1


def test_inputs_carry_their_names_into_ledger_and_program():
    _, model, _, run, context = a_run()
    ledger, program = OpTracker(), Program()
    label_inputs(OpTracer(observers=[ledger]), program, run.plan, context)
    assert ledger.memory.name_of(model.weight) == "parameter weight"


def test_a_bad_input_without_a_loader_has_a_name_where_this_step_alone_has_it_and_it_is_no_mask():
    def name(value, previous=False):
        tape, model, x = a_tape(), nn.Linear(2, 1), torch.ones(3, 2)
        x[1, 0] = value
        roots, ledger = Roots(), OpTracker()
        roots.add(model, None)
        call(tape, model, x, kind="module")
        label_inputs(
            OpTracer(observers=[ledger]),
            None,
            ReplayPlan([tape.current]),
            Known(roots),
            tape.current if previous else None,
        )
        return ledger.memory.name_of(x)

    assert [name(v) for v in (float("inf"), float("nan"), float("-inf"), 1.0)] == [
        "input 0 of the model",
        "input 0 of the model",
        "",
        "",
    ]
    assert name(float("inf"), previous=True) == ""


def test_what_a_loop_trains_itself_is_named_and_what_the_step_made_is_that_of_the_replay():
    tape, model = a_tape(), nn.Linear(2, 1, bias=False)
    made, _ = call(tape, torch.ones, 1, 2)
    new = made.clone().requires_grad_()
    tape.close(tape.open("fn", torch.clone, (made,), {}), new)
    entry = tape.open("module", model, (torch.ones(1, 2),), {})
    entry.swapped = tape.encode({"weight": new})
    tape.close(entry, torch.ones(1, 1))
    own, slot = torch.ones(1, requires_grad=True), tape.slot(new)
    run = Reexecution(ReplayPlan([tape.current]), torch.autograd.backward)
    assert slot is not None
    again = torch.zeros(1, 2)
    run.values[slot.segment, slot.entry] = [again]
    again.grad, own.grad = torch.full((1, 2), 2.0), torch.full((1,), 5.0)
    alarm = Alarm("inf_grad", tape.current, 0, 0, trained=(new, own))
    found = [(t.name, t.tensor.flatten().tolist()) for t in find_targets(alarm, run, Known(Roots()))]
    assert found == [("gradient weight", [2.0, 2.0]), ("gradient parameter 1", [5.0])]
