"""What modules make of their input."""

from __future__ import annotations

import pytest

from tests.source.reading import last_value

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
        self.out = nn.Softmax(dim=1)
    def forward(self, x):
        return self.out(self.body(x))
"""


@pytest.mark.parametrize(
    "made", ["Net()", "Net().to(device)", "nn.DataParallel(Net())", "torch.compile(Net())", "Net().cuda().train()"]
)
def test_a_class_of_the_file_through_its_wrappers(made):
    assert last_value(f"{NET}\nmodel = {made}\nmodel(x)").form == "softmax"


def test_torch_layers():
    assert last_value("nn.Linear(2, 3)(x)").free == "Linear gives any real number"
    assert last_value("nn.Sequential(nn.Linear(2, 3), nn.Sigmoid())(x)").form == "sigmoid"
    assert last_value("nn.Sequential(nn.Sigmoid(), Mine())(x)").form == ""
    assert last_value("act = nn.Softplus()\nact(x)").low > 0


def test_an_attribute_that_is_set_twice_is_unknown():
    text = NET.replace("self.out = nn.Softmax(dim=1)", "self.out = nn.Softmax(dim=1)\n        self.out = nn.Identity()")
    assert last_value(f"{text}\nmodel = Net()\nmodel(x)").form == ""
