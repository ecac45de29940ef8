"""One source line and its parts."""

from __future__ import annotations

import pytest

from debugtracer.causes.rewrite.line import NotUnderstood, operand, parsed


@pytest.mark.parametrize("code", ["x = torch.log(", "lr=0.1, eps=", "else:", "", "a = 1; b = 2", "  x = 1", "for x in"])
def test_what_is_no_whole_statement_is_not_understood(code):
    with pytest.raises(NotUnderstood):
        parsed(code)


@pytest.mark.parametrize(
    "code", ["for x in loader:  # all", "return x / y", "with torch.no_grad():", "if x.log() > 0:", "y = 1  # log(x)"]
)
def test_statements_and_the_heads_of_compound_ones_are_understood(code):
    assert parsed(code).code == code


def test_a_part_is_replaced_and_the_rest_stays_also_behind_letters_of_several_bytes():
    line = parsed('maß = {"größe":  torch.log( prüf )}  # ä')
    assert line.replaced({operand(line.call("log")): "p"}) == ('maß = {"größe":  torch.log( p )}  # ä',)


def test_parts_inside_each_other_are_not_replaced():
    line = parsed("x.log().log()")
    outer, inner = sorted(line.calls("log"), key=lambda call: -(call.end_col_offset or 0))
    with pytest.raises(NotUnderstood, match="inside"):
        line.replaced({outer: "a", inner: "b"})


@pytest.mark.parametrize(
    "code",
    [
        "torch.softmax(x, 1)",
        "x.softmax(1)",
        "x.softmax(dim=-1)",
        "torch.softmax(input=x, dim=1)",
        "F.softmax(x, dim=1)",
    ],
)
def test_the_tensor_of_a_function_and_of_a_method_is_found(code):
    line = parsed(code)
    assert line.text(operand(line.call("softmax"))) == "x"


def test_calls_of_math_and_numpy_are_no_calls_on_tensors():
    line = parsed("y = math.log(3) + np.log(z) + x.log_()")
    assert [line.text(call) for call in line.calls("log")] == ["x.log_()"]


def test_a_call_that_is_there_twice_is_not_meant():
    with pytest.raises(NotUnderstood, match="2 calls of log"):
        parsed("x.log() + y.log()").call("log")
