"""What surrounds a line."""

from __future__ import annotations

import pytest

from debugtracer.causes.rewrite.scope import last_return, optimizer_at, training_loop

LOOP = """\
def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    plan = torch.optim.lr_scheduler.StepLR(opt, 3)
    for epoch in range(3):
        for x, y in loader:
            loss = f(model(x), y)
            loss.backward()
            opt.step()
            plan.step()
        model.eval()
    return model


def other(first, second):
    first.step()
    second.step()
"""


def test_the_optimizer_is_the_only_one_that_steps_and_no_scheduler():
    assert optimizer_at(LOOP, 7) == "opt"
    assert optimizer_at(LOOP, 15) == ""
    assert optimizer_at("def f(:", 1) == ""


@pytest.mark.parametrize(("scaler", "name"), [("torch.amp.GradScaler()", "opt"), ("Thing()", "")])
def test_a_scaler_steps_the_optimizer_that_it_is_given(scaler, name):
    assert optimizer_at(f"s = {scaler}\nloss.backward()\ns.step(opt)\n", 2) == name


def test_the_loop_that_trains_is_the_innermost_around_the_backward():
    assert training_loop(LOOP, 10) == 5
    assert training_loop(LOOP.replace("        model.eval()", "            model.eval()"), 10) == 6
    assert training_loop(LOOP, 15) is None


def test_a_return_that_only_hands_over_is_where_an_evaluation_ends():
    code = "def accuracy():\n    model.eval()\n    right = model(x).mean()\n    return right\n"
    assert last_return(code, 2) == 4
    assert last_return(code.replace("return right", "return model(x)"), 2) is None
    assert last_return("model.eval()\n", 1) is None
