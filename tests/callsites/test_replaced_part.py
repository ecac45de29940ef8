"""Where a model was given another part."""

from __future__ import annotations

from torch import nn

from debugtracer.callsites.replaced_part import replaced_at


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.tail = nn.Linear(2, 2), nn.Linear(2, 3), nn.Linear(3, 1)

    def reset(self):
        self.head = nn.Linear(2, 5)


def test_a_method_that_puts_in_a_new_layer():
    frame = replaced_at(Net(), "head", None)
    assert frame is not None
    assert frame.code == "self.head = nn.Linear(2, 5)"


def test_the_program_that_does(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("net = make()\nnet.tail = nn.Linear(3, 9)\n")
    frame = replaced_at(Net(), "tail", str(script))
    assert frame is not None
    assert (frame.line, frame.code) == (2, "net.tail = nn.Linear(3, 9)")


def test_none_where_nothing_does():
    assert replaced_at(Net(), "body", None) is None
    assert replaced_at(Net(), "nowhere.at", None) is None
