"""What calls give."""

from __future__ import annotations

from tests.source.reading import last_value


def test_the_same_function_in_three_spellings():
    for text in ("torch.sigmoid(x)", "x.sigmoid()", "act = nn.Sigmoid()\nact(x)", "torch.special.expit(x)"):
        value = last_value(text)
        assert value.exactly(0.0) is not None and value.tensor, text


def test_numpy_and_math_give_no_tensors():
    assert last_value("np.log(x)").tensor is False and last_value("math.sqrt(2)").tensor is False
    assert last_value("v = np.ones(3)\nv.std()").tensor is False


def test_a_word_of_torch_alone_proves_a_tensor():
    assert last_value("x.std(dim=0)").tensor and last_value("x.norm()").tensor
    assert last_value("x.std(0)").tensor is None and last_value("x.std(axis=0)").tensor is None


def test_builtins():
    assert last_value("max(x, 1)").low == 1.0 and last_value("min(x, 3)").high == 3.0
    assert last_value("float('inf')").constant == float("inf")
    assert last_value("len(x)").tensor is False and last_value("float(torch.sigmoid(x))").tensor is False


def test_arithmetic_as_functions():
    assert last_value("torch.add(torch.sigmoid(x), 1)").low == 1.0
    assert last_value("torch.div(torch.sigmoid(x), 2)").high == 0.5
    assert last_value("torch.where(c, torch.sigmoid(x), torch.sigmoid(y))").exactly(0.0) is not None
    assert last_value("torch.where(c, torch.sigmoid(x), 1.0)").exactly(0.0) is None


def test_drawn_numbers_and_starred_arguments():
    assert last_value("dist.rsample()").form == "nonzero"
    assert last_value("torch.sigmoid(*x)").tensor
