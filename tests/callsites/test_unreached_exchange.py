"""The exchange between ranks that a program never comes to."""

from __future__ import annotations

import pytest

from debugtracer.callsites import unreached_exchange as module
from debugtracer.callsites.unreached_exchange import unreached_exchange

GUARDED = """
def share(model):
    for p in model.parameters():
        if p.grad.requires_grad:
            dist.all_reduce(p.grad)
"""
SKIPPED = """
def share(model):
    for p in model.parameters():
        if p.grad is not None:
            continue
        print(p)
        dist.all_reduce(p.grad)
"""
PLAIN = """
def share(grad):
    dist.all_reduce(grad)
"""
LOGGED = """
def shown(loss):
    dist.all_reduce(loss)
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A program that was imported, and nothing else."""

    def write(text):
        file = tmp_path / "sharing.py"
        file.write_text(text)
        monkeypatch.setattr(module, "imported_files", lambda: [str(file)])
        return str(file)

    return write


@pytest.mark.parametrize(("text", "line"), [(GUARDED, 4), (SKIPPED, 4), (PLAIN, 3)])
def test_the_condition_over_it_else_its_own_line(written, text, line):
    file = written(text)
    found = unreached_exchange(set())
    assert (found.file, found.line, found.function) == (file, line, "share")


def test_what_was_reached_is_not_it(written):
    file = written(PLAIN + LOGGED)
    assert unreached_exchange({(file, 6)}).line == 3
    assert unreached_exchange({(file, 3), (file, 6)}) is None


def test_two_functions_are_not_told_apart(written):
    written(PLAIN + LOGGED)
    assert unreached_exchange(set()) is None
