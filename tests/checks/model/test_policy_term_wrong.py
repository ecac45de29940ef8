"""What is said of terms of a policy's loss."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.model.policy_term_wrong import PolicyTermWrong
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_policy_term import term


def judged(*more: dict[str, Any]) -> list[Finding]:
    known = [term(**one) for one in more]
    kind = type(term())
    return list(PolicyTermWrong().judge(Window(term().ref, facts={kind: known}, came={kind: len(known)})))


def test_it_fires_on_an_entropy_that_is_added():
    (finding,) = judged({})
    assert finding.message.endswith(
        "the loss adds the entropy of the policy (train.py:31) and subtracts the log-probabilities of its actions: "
        "each update lowers the entropy, so the policy stops exploring; expected it subtracted. Write - c * entropy."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "loss_misuse", 31)
    assert finding.place.symptom_frame.line == 30


def test_it_fires_on_an_advantage_with_a_graph():
    (finding,) = judged({"term": "advantage", "parameters": 4})
    assert finding.message.endswith(
        "the log-probabilities are multiplied (train.py:31) with a difference, made at train.py:30, that hangs on the "
        "graph: the loss of the policy also moves 4 tensors of weights that make the values, which another term of the "
        "loss fits; expected a number. Use advantage.detach() there."
    )


def test_it_tells_a_line_once():
    assert len(judged({}, {})) == 1


def test_it_stays_silent_without_a_fact():
    assert judged() == []


def test_it_fires_on_the_wrong_one_of_two_terms():
    (finding,) = judged({"term": "surrogate", "taken": "larger"})
    assert finding.message.endswith(
        "the loss subtracts the larger of the clipped and the unclipped term (train.py:31): the clip holds nothing "
        "where the policy goes too far; expected the one that makes the loss larger. Use torch.min there."
    )
    (other,) = judged({"term": "surrogate", "taken": "smaller"})
    assert "the loss adds the smaller" in other.message and "Use torch.max, or a minus, there." in other.message


def test_it_fires_on_a_target_with_a_graph():
    (finding,) = judged({"term": "target", "parameters": 4})
    assert finding.message.endswith(
        "the target, rewards plus values of next states (train.py:31), hangs on the graph of 4 tensors of weights that "
        "are fitted to it (train.py:30): each update moves the target as well; expected a number. Make it under "
        "torch.no_grad()."
    )
