"""Where the argument of a call was written."""

from __future__ import annotations

from debugtracer.callsites.origins.argument_origin import argument_origin, copied_at, object_built
from debugtracer.trace.birth import Frame

TEXT = """\
import torch.nn as nn
import torch.nn.functional as F
criterion = nn.BCELoss()
y = x[1:] + 1
loss = F.cross_entropy(model(x), y)
loss = criterion(model(x), target=y)
"""


def test_the_argument_of_the_named_call_by_place_and_by_name(tmp_path):
    file = tmp_path / "train.py"
    file.write_text(TEXT)
    for line in (5, 6):
        found = argument_origin([Frame(str(file), line)], ("cross_entropy",), "target", 1)
        assert [link.frame.line for link in found] == [4]
    assert argument_origin([], ("cross_entropy",), "target", 1) == ()
    assert argument_origin([Frame(str(file), 5)], ("cross_entropy",), "weight", 2) == ()


def test_the_object_a_line_calls_is_where_its_class_was_called(tmp_path):
    file = tmp_path / "train.py"
    file.write_text(TEXT)
    built = object_built([Frame(str(file), 6)], "BCELoss")
    assert built is not None
    assert built.line == 3
    assert object_built([Frame(str(file), 5)], "BCELoss") is None
    assert object_built([], "BCELoss") is None


def test_the_line_that_takes_the_target_as_a_copy_of_another_value(tmp_path):
    file = tmp_path / "train.py"
    file.write_text(
        "def batch():\n    ids = torch.stack(rows) + 1\n    return ids, ids.clone()\n"
        "x, y = batch()\nloss = F.cross_entropy(model(x), y)\n"
    )
    links = argument_origin([Frame(str(file), 5)], ("cross_entropy",), "target", 1)
    found = copied_at(links)
    assert found is not None
    assert found.line == 3
    assert copied_at(links[:1]) is None
