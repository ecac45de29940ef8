"""The anomaly message: the node, and the forward line before it."""

from __future__ import annotations

import pytest

from debugtracer.logs.anomaly import judge_anomaly
from debugtracer.logs.candidate import Case
from debugtracer.logs.exceptions import Raised
from debugtracer.logs.facts import Anomaly
from debugtracer.trace.birth import Frame


def first(node: str, code: str) -> str:
    case = Case()
    forward = Raised(begin=1, frames=[Frame("train.py", 7, "forward", code)], node=node)
    judge_anomaly(Anomaly(node, 0, 9, forward if code else None), case)
    return case.ranked()[0].kind


@pytest.mark.parametrize(
    ("node", "code", "kind"),
    [
        ("LogBackward0", "return -torch.log(p)", "log_domain"),
        ("PowBackward0", "d = torch.sqrt((a - b).pow(2).sum(1))", "backward_nan_op"),
        ("PowBackward0", "y = x ** 0.5", "pow_domain"),
        ("MulBackward0", "loss = (e * mask).sum() / mask.sum()", "zero_division"),
        ("SqrtBackward0", "d = s.sqrt()", "backward_nan_op"),
        ("MyOpBackward", "y = MyOp.apply(x)", "custom_backward_wrong"),
        ("SqrtBackward", "d = torch.sqrt(d)", "backward_nan_op"),
        ("SoftmaxBackward0", "a = scores.softmax(-1)", "masked_softmax_all_masked"),
        ("DivBackward0", "", "zero_division"),
    ],
)
def test_node_and_line_name_the_class(node, code, kind):
    assert first(node, code) == kind


def test_words_in_strings_and_comments_are_no_calls():
    assert first("PowBackward0", "y = (x ** 2)  # sqrt(x)") == first("PowBackward0", "y = (x ** 2)")


def test_a_node_that_only_passes_on_says_that_the_value_was_bad_before():
    case = Case()
    judge_anomaly(Anomaly("PowBackward0", 0, 9, Raised(begin=1, frames=[Frame("t.py", 1, "f", "z = x ** 2")])), case)
    assert [one.kind for one in case.ranked()] == ["nonfinite_loss"]
    assert case.ranked()[0].evidence[0].endswith("a value was NaN or infinite before, in the forward")


def test_compiled_and_checkpointed_nodes_are_not_the_users_functions():
    assert first("CompiledFunctionBackward", "") == "nonfinite_loss"
    assert first("CheckpointFunctionBackward", "") == "nonfinite_loss"
