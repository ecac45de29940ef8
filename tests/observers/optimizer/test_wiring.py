"""Parameters, optimizers and gradients by identity."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.wiring import Wiring
from tests.observers.told import facts, findings
from tests.watching import under_watch


def run(out, model, optimizer, steps=2):
    with under_watch(out):
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
    return facts(out, Wiring)


def test_a_head_replaced_after_the_optimizer_was_built(tmp_path):
    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model[1] = nn.Linear(8, 2)
    (wiring, *_) = run(tmp_path, model, optimizer)
    assert {(p.name, p.held, p.has_grad) for p in wiring.params} == {
        ("0.weight", 1, True),
        ("0.bias", 1, True),
        ("1.weight", 0, True),
        ("1.bias", 0, True),
    }
    assert (wiring.optimizers[0].strangers, wiring.optimizers[0].stranger_shapes) == (2, ((5, 8), (5,)))
    (finding,) = findings(tmp_path, "missing-params")
    assert (finding.severity, finding.place.param) == ("error", "1.weight")


def test_a_head_replaced_in_a_second_phase_is_told_at_its_first_step_where_all_rests(tmp_path):
    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 5))
    with under_watch(tmp_path, cost=0.0):
        for phase in range(2):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            if phase:
                model[1] = nn.Linear(8, 2)
            for _ in range(30):
                optimizer.zero_grad()
                model(torch.randn(6, 4)).square().mean().backward()
                optimizer.step()
    (finding,) = findings(tmp_path, "missing-params")
    assert (finding.severity, finding.place.param, finding.step) == ("error", "1.weight", 30)


def test_parts_in_two_optimizers_are_all_held(tmp_path):
    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
    other = torch.optim.SGD(model[1].parameters(), lr=0.1)
    with under_watch(tmp_path):
        ours = torch.optim.SGD(model[0].parameters(), lr=0.1)
        theirs = torch.optim.SGD(model[1].parameters(), lr=0.1)
        for _ in range(2):
            model(torch.randn(6, 4)).square().mean().backward()
            ours.step()
            theirs.step()
    assert other.param_groups
    assert all(p.held == 1 for p in facts(tmp_path, Wiring)[-1].params)
    assert not findings(tmp_path, "missing-params")


def test_later_steps_say_nothing_new(tmp_path):
    model = nn.Linear(4, 2)
    assert len(run(tmp_path, model, torch.optim.SGD(model.parameters(), lr=0.1), steps=6)) == 1


def test_master_copies_that_have_gradients_are_in_use(tmp_path):
    model = nn.Linear(4, 2).bfloat16()
    masters = [p.detach().float().clone().requires_grad_() for p in model.parameters()]
    optimizer = torch.optim.SGD(masters, lr=0.1)
    with under_watch(tmp_path):
        for _ in range(2):
            model.zero_grad()
            model(torch.randn(6, 4, dtype=torch.bfloat16)).square().mean().backward()
            for mine, theirs in zip(masters, model.parameters(), strict=True):
                mine.grad = theirs.grad.float()
            optimizer.step()
            with torch.no_grad():
                for mine, theirs in zip(masters, model.parameters(), strict=True):
                    theirs.copy_(mine)
    assert not [finding for finding in findings(tmp_path, "missing-params") if finding.severity == "error"]


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.head = nn.Linear(4, 16), nn.Linear(16, 8)

    def forward(self, x):
        return self.head(torch.tanh(self.trunk(x)))


def test_a_new_head_that_nobody_updates_is_a_warning(tmp_path):
    model = Two()
    run(tmp_path, model, torch.optim.SGD(model.trunk.parameters(), lr=0.1), steps=4)
    finding = findings(tmp_path, "missing-params")[-1]
    assert (finding.severity, finding.place.param) == ("warning", "head.weight")
    assert (
        "receive gradients and no optimizer holds them, and some of them are spread as the weights of a new layer are; "
        "expected"
    ) in finding.message


def test_a_trained_part_left_out_on_purpose_is_a_note(tmp_path):
    model = Two()
    with torch.no_grad():
        model.trunk.weight.mul_(1.5)
    run(tmp_path, model, torch.optim.SGD(model.head.parameters(), lr=0.1), steps=4)
    assert {finding.severity for finding in findings(tmp_path, "missing-params")} == {"note"}


def test_what_a_hand_written_update_changes_is_a_note(tmp_path):
    model = Two()
    optimizer = torch.optim.SGD(model.trunk.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(5):
            model.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
            for p in model.head.parameters():
                p.data -= 0.1 * p.grad
    assert {finding.severity for finding in findings(tmp_path, "missing-params")} == {"note"}


def test_several_models_are_named_as_the_program_names_them(tmp_path):
    netG, netD = nn.Sequential(nn.Linear(2, 3)), nn.Sequential(nn.Linear(3, 1))
    with under_watch(tmp_path):
        ours = torch.optim.SGD(netD.parameters(), lr=0.1)
        groups = [*netD.parameters()]
        theirs = torch.optim.SGD(groups, lr=0.1)
        for _ in range(2):
            netD(netG(torch.randn(6, 2))).square().mean().backward()
            ours.step()
            theirs.step()
    told = facts(tmp_path, Wiring)[-1]
    assert {(p.model, p.name) for p in told.params} == {
        (model, f"0.{kind}") for model in ("netG", "netD") for kind in ("weight", "bias")
    }
    assert [(o.shared, o.models) for o in told.optimizers] == [(2, ("netD",)), (2, ("netD",))]
    unheld_gradients = [[o.unheld_gradients for o in fact.optimizers] for fact in facts(tmp_path, Wiring)]
    assert unheld_gradients[0] == [False, False]  # nothing to compare with yet
    assert [True, False] in unheld_gradients
    assert [False, True] not in unheld_gradients
    assert [o.groups.code if o.groups else None for o in told.optimizers] == [None, "groups = [*netD.parameters()]"]


def test_one_model_needs_no_name(tmp_path):
    model = nn.Linear(4, 2)
    (told,) = run(tmp_path, model, torch.optim.SGD(model.parameters(), lr=0.1))
    assert {p.model for p in told.params} == {""}


def test_an_optimizer_of_frozen_parameters_is_idle(tmp_path):
    model, head = nn.Linear(4, 3).requires_grad_(False), nn.Linear(3, 1)
    with under_watch(tmp_path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            head(model(torch.randn(6, 4))).mean().backward()
            optimizer.step()
    assert all(o.idle for told in facts(tmp_path, Wiring) for o in told.optimizers)
    (finding,) = [f for f in findings(tmp_path, "frozen-held") if f.severity == "error"]
    assert "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)" in finding.place.frame.code


@pytest.mark.parametrize("teaches", [False, True])
def test_a_model_whose_training_is_over_has_no_gradient_that_nobody_takes(tmp_path, teaches):
    def trained(model, teacher=None):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            with torch.no_grad():
                wanted = teacher(torch.ones(2, 4)) if teacher is not None else 0.0
            (model(torch.ones(2, 4)) - wanted).square().mean().backward()
            optimizer.step()

    first, second = nn.Linear(4, 3), nn.Linear(4, 3)
    with under_watch(tmp_path, inspect_steps=1):
        trained(first)  # its gradients stay, its optimizer goes
        trained(second, first if teaches else None)
    assert findings(tmp_path, "missing-params") == []


class Ranker(nn.Linear):
    pass


def test_a_model_made_twice_is_told_with_the_line(tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text("net = Ranker(4, 2)\noptimizer = SGD(net.parameters())\nnet = Ranker(4, 2)\n")
    monkeypatch.setattr("debugtracer.observers.optimizer.wiring.program_files", lambda: [str(script)])
    first = Ranker(4, 2)
    (wiring, *_) = run(tmp_path, Ranker(4, 2), torch.optim.SGD(first.parameters(), lr=0.1))
    assert wiring.second is not None
    assert wiring.second.line == 3
    other = nn.Linear(4, 3)  # of another shape: it is no model of that line
    (wiring, *_) = run(tmp_path / "other", Ranker(4, 2), torch.optim.SGD(other.parameters(), lr=0.1))
    assert wiring.second is None


STAGES = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def train(parameters, steps):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(6, 4)).square().mean().backward()
        optimizer.step()


train(model[2].parameters(), 4)
train(model[PART].parameters(), 4)
"""


@pytest.mark.parametrize(("part", "told"), [("0", 0), ("2", 1)])
def test_parts_that_are_trained_in_turns_are_told_only_where_one_never_is(run_watched, tmp_path, part, told):
    script = tmp_path / "train.py"
    script.write_text(STAGES.replace("PART", part))
    findings = [f for f in run_watched(script).report["findings"] if f["check"] == "optimizer/missing-params"]
    assert len(findings) == told
    assert all("0.weight and 1 more" in f["message"] for f in findings)


class Placed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.places = nn.Parameter(torch.zeros(4), requires_grad=False)
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(x + self.places)


def test_parameters_that_a_module_of_the_programs_own_holds_are_tables(tmp_path):
    model = Placed()
    (wiring, *_) = run(tmp_path, model, torch.optim.SGD(model.parameters(), lr=0.1))
    assert {p.name: p.table for p in wiring.params} == {"places": True, "head.weight": False, "head.bias": False}
    assert findings(tmp_path, "frozen-held") == []
