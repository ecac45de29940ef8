"""Where a value was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.value_origin import made_first, origin, program_of, written_at
from debugtracer.trace.birth import Frame

LOOP = """\
import numpy as np
import torch
def read(path):
    data = np.load(path)
    x = torch.stack([torch.from_numpy(data[i : i + 4]) for i in range(8)])
    y = x * 2
    return x.float(), y
def scaled(x, spread):
    return (x - x.mean()) / spread
class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mask", torch.ones(size, size).tril(-1))
        self.table = [0] * size
        self.table[3] = 9
    def forward(self, x, target):
        x = x.masked_fill(self.mask == 0, -1.0)
        return torch.nn.functional.mse_loss(x, target)
def step(model, x, target):
    return model(x.to("cpu"), target)
x, y = read("a.npy")
x = scaled(x, 0.0)
y = y.to("cpu")
for turn in range(3):
    loss = step(Net(4), x, target=y)
    kept = loss
"""


@pytest.fixture
def at(tmp_path: Path):
    file = tmp_path / "train.py"
    file.write_text(LOOP)
    return lambda *lines: [Frame(str(file), line) for line in lines]


def lines(links) -> list[tuple[int, str]]:
    return [(link.frame.line, link.kind) for link in links]


def test_a_name_is_followed_through_conversions_and_the_function_that_returned_it(at):
    assert lines(origin("y", at(25))) == [(23, "handed"), (21, "handed"), (6, "made")]


def test_a_value_formed_of_what_was_read_ends_before_the_file(at):
    links = origin("x", at(22))
    assert lines(links) == [(21, "handed"), (5, "formed"), (4, "read")]
    assert [frame.line for frame in made_first(links)] == [5, 21]


def test_a_parameter_is_followed_to_the_caller_of_the_caller(at):
    found = origin("target", at(18, 20, 25))
    assert [link.frame.line for link in found] == [23, 21, 6]


def test_what_a_function_of_the_file_returns_is_the_line_that_computed_it(at):
    first = written_at(origin("x", at(25)))
    assert first is not None
    assert first.line == 9


def test_a_buffer_is_written_where_it_is_registered(at):
    assert lines(origin("self.mask", at(17))) == [(13, "made")]


def test_the_last_write_in_init_counts_also_one_into_a_part(at):
    assert lines(origin("self.table", at(17))) == [(15, "made")]


def test_a_name_written_later_in_the_loop_is_what_the_next_turn_reads(at):
    assert [link.frame.line for link in origin("kept", at(25))][:1] == [26]


@pytest.mark.parametrize("name", ["nothing", "x +", "torch.pi", "self.unknown"])
def test_what_cannot_be_followed_gives_nothing(at, name):
    assert origin(name, at(17)) == ()
    assert written_at(()) is None


def test_a_file_of_a_library_is_not_read():
    import json

    assert origin("s", [Frame(json.__file__, 300)]) == ()


LOOPED = """\
def batches(n):
    ids = torch.tensor([table[word] for word in words])
    return [(text[i], ids[i]) for i in range(n)]
table = {word: i + 1 for i, word in enumerate(names)}
loader = DataLoader(rows)
for number, batch in enumerate(batches(3)):
    x, y = batch
    loss = f(x, y)
for x, y in loader:
    loss = f(x, y)
"""


def test_a_loop_is_followed_into_a_function_of_the_program_and_not_into_a_loader(tmp_path: Path):
    file = tmp_path / "train.py"
    file.write_text(LOOPED)
    assert made_first(origin("y", [Frame(str(file), 8)]))[0].line == 4
    assert origin("y", [Frame(str(file), 10)]) == ()


def test_a_file_is_read_once_however_many_library_files_are_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("rate = 0.1\n")
    program = program_of(str(file))
    assert program is not None
    assert [program_of(f"{Path(pytest.__file__).parent}/{n}.py") for n in range(200)] == [None] * 200
    assert program_of(str(file)) is program
