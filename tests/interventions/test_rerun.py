"""What an intervention can ask of the step."""

from __future__ import annotations

import pytest
from torch import nn

from debugtracer.interventions.rerun import Rerun
from debugtracer.trace.birth import Birth, Frame


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))])
        self.last = nn.Linear(2, 2)


def rerun(path: str | None, root: nn.Module) -> Rerun:
    birth = Birth(op="aten::div", direction="forward", kind="0/0", module=path, frames=(Frame("/a/b/model.py", 88),))
    return Rerun("nan_loss", [], [root], [], birth=birth)


@pytest.mark.parametrize("path", ["blocks.0.1", "network.blocks.0.1", "0.1"])
def test_the_module_of_birth_is_found_from_above_the_root_and_from_below(path):
    net = Net()
    assert rerun(path, net).module() is net.blocks[0][1]


def test_the_root_itself_and_none_and_what_is_not_there():
    net = Net()
    assert rerun("", net).module() is net
    assert rerun(None, net).module() is None
    assert rerun("elsewhere.head", net).module() is None
    assert rerun("last", net).module_name() == "last (Linear)"


def test_the_place_is_the_file_and_the_line():
    assert rerun("last", Net()).place() == "model.py:88"
    assert Rerun("nan_loss", [], [], []).place() == "the step"
