"""Numbers that are used as places."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from debugtracer.callsites.origins.index_origin import index_origin
from debugtracer.trace.birth import Frame

PROGRAM = """\
import numpy as np
import torch
def levels(wave):
    steps = np.digitize(wave, np.linspace(-1, 1, 8))
    return steps
class Waves:
    def __init__(self, waves):
        self.waves = []
        for wave in waves:
            self.waves.append(levels(wave))
    def __getitem__(self, i):
        if i < 3:
            part = self.waves[i][:9]
        else:
            first, second = self.waves[i][4:], self.waves[i + 1][:4]
            part = np.concatenate((first, second))
        part = torch.from_numpy(part)
        return torch.zeros(8, 9).scatter_(0, part[:9].unsqueeze(0), 1.0)
def picked(scores, names, rows):
    places = names - 1
    chosen = torch.gather(scores, 1, places[:, None])
    return chosen[rows[0], names], scores[places]
def mixed(scores, table):
    places = torch.cat([table.argmax(1), scores.argsort(1)])
    return scores[places]
def keyed(batch, k):
    return batch["x"][0, 3:9][:k], batch["y"]
def twice(said, wanted, rows):
    places = rows + 1
    return said[places] == wanted[places]
"""


@pytest.fixture
def at(tmp_path: Path):
    file = tmp_path / "waves.py"
    file.write_text(PROGRAM)
    return lambda line: index_origin([Frame(str(file), line)])


def test_through_a_join_of_parts_of_one_source_to_the_line_that_computed_them(at):
    node, links = at(18)
    assert ast.unparse(node) == "part[:9].unsqueeze(0)"
    assert [link.frame.line for link in links] == [17, 16, 15, 10, 4]


def test_a_function_of_torch_takes_the_tensor_first(at):
    node, links = at(21)
    assert ast.unparse(node) == "places[:, None]"
    assert [(link.frame.line, link.kind) for link in links] == [(20, "made")]


def test_parts_that_come_from_several_lines_end_at_the_join(at):
    assert [link.frame.line for link in at(25)[1]] == [24]


@pytest.mark.parametrize("line", [22, 27, 1])
def test_several_or_none_say_nothing(at, line):
    assert at(line) == (None, ())


def test_nothing_without_a_line():
    assert index_origin(()) == (None, ())


def test_one_index_that_is_used_twice_is_one(at):
    node, links = at(PROGRAM[: PROGRAM.index("said[places]")].count("\n") + 1)
    assert node is not None
    assert ast.unparse(node) == "places"
    assert links[0].frame.code == "places = rows + 1"
