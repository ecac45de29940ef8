"""Copies of a model that no line writes again, in the source."""

from __future__ import annotations

import textwrap

import pytest

from debugtracer.callsites import untouched_copy as room
from debugtracer.callsites.untouched_copy import untouched_copy

AGENT = """
class Agent:
    def __init__(self):
        self.online, self.slow = Net(), Net()
        {filled}
        {more}
    def learn(self, s, r):
        wanted = r + 0.9 * self.slow(s).max(1).values
        {after}
for step in range(10):
    agent.learn(s, r)
"""
FILLED = "self.slow.load_state_dict(self.online.state_dict())"


def line(tmp_path, monkeypatch, filled="pass", more="pass", after="pass"):
    file = tmp_path / "agent.py"
    file.write_text(textwrap.dedent(AGENT).format(filled=filled, more=more, after=after))
    monkeypatch.setattr(room, "program_files", lambda: [str(file)])
    found = untouched_copy("slow")
    return found.code if found is not None else ""


def test_the_line_that_builds_it(tmp_path, monkeypatch):
    assert line(tmp_path, monkeypatch) == "self.online, self.slow = Net(), Net()"


@pytest.mark.parametrize(
    "more",
    ["self.slow.eval()", "for p in self.slow.parameters(): p.requires_grad = False", "self.slow.requires_grad_(False)"],
)
def test_what_freezes_it_is_no_write(tmp_path, monkeypatch, more):
    assert line(tmp_path, monkeypatch, filled=FILLED, more=more)


@pytest.mark.parametrize(
    "after",
    [
        FILLED,
        "self.slow = copy.deepcopy(self.online)",
        "follow(self.online, self.slow)",
        "for p, q in zip(self.online.parameters(), self.slow.parameters()): q.data.copy_(p)",
        "for q in self.slow.parameters(): q.data.mul_(0.9)",
        "self.slow.layer.weight.data.copy_(w)",
    ],
)
def test_what_may_write_it_is_left_alone(tmp_path, monkeypatch, after):
    assert line(tmp_path, monkeypatch, filled=FILLED, after=after) == ""


def test_a_name_that_is_not_built_or_has_no_files_has_no_line(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "program_files", lambda: None)
    assert untouched_copy("slow") is None
