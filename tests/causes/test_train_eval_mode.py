"""Training goes on in evaluation mode, or evaluation in training mode."""

from __future__ import annotations

from debugtracer.causes.cause import causes
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.trace.birth import Frame
from tests.causes.listening import guess, hears, is_silent, told


def test_hears_eval_mode_left():
    finding = told("model/eval-mode-left")
    evidence = hears("train-eval-mode", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("call model.train() at th")


def test_what_else_was_seen_counts():
    finding = guess(told("model/eval-mode-left"))
    alone = hears("train-eval-mode", finding).confidence
    assert hears("train-eval-mode", finding, told("optimizer/validation-gap")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("train-eval-mode", told("data/loader-bound"), told("optimizer/validation-gap"))


def test_the_change_wakes_the_model_before_the_loop_that_trains(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("for epoch in range(3):\n    for x in loader:\n        net(x).backward()\n    net.eval()\n")
    made = causes()["train-eval-mode"].change(FindingEvidence(()), Frame(str(file), 4, "", "net.eval()"))
    assert made is not None
    assert (made.line, made.after) == (2, ("net.train()", "for x in loader:"))
    assert causes()["train-eval-mode"].change(FindingEvidence(()), Frame(str(file), 3, "", "net(x).backward()")) is None


def test_the_change_wakes_the_model_at_the_end_of_a_function_that_evaluates(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("def accuracy():\n    net.eval()\n    right = net(x)\n    return right\n")
    made = causes()["train-eval-mode"].change(FindingEvidence(()), Frame(str(file), 2, "", "net.eval()"))
    assert made is not None
    assert (made.line, made.after) == (4, ("net.train()", "return right"))


def test_the_change_takes_the_place_of_a_flag_set_by_hand(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("def learn():\n    net.training = True\n\ndef accuracy():\n    net.eval()\n    return net(x)\n")
    made = causes()["train-eval-mode"].change(FindingEvidence(()), Frame(str(file), 5, "", "net.eval()"))
    assert made is not None
    assert (made.line, made.before, made.after) == (2, "net.training = True", ("net.train()",))
