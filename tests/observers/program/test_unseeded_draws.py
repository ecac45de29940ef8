"""A generator that was drawn from without a seed."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from debugtracer.observers.program.generator_state import GeneratorState
from debugtracer.observers.program.unseeded_draws import SEEDED, SOURCES, has_random, is_a_few
from debugtracer.source.program import parse
from tests.forked import programs

TRAIN = """
import random
import numpy as np
BEFORE
import torch
torch.manual_seed(0)
AFTER
x = torch.ones(2, 4)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    EACH
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
"""


def seeds_table(run_watched, tmp_path, before="", after="", each="pass"):
    script = tmp_path / "train.py"
    script.write_text(TRAIN.replace("BEFORE", before).replace("AFTER", after).replace("EACH", each))
    watched = run_watched(script)
    shown = subprocess.run(
        [*programs().tool, "report", str(watched.run), "--seeds"], capture_output=True, text=True, check=True
    )
    said = [f["message"] for f in watched.report["findings"] if f["check"] == "data/seed-chain"]
    return {line.split()[0]: line for line in shown.stdout.splitlines()[2:]}, said


@pytest.mark.parametrize(("source", "each"), [("numpy", "np.random.rand(3)"), ("python", "random.random()")])
def test_drawn_without_a_seed_a_rerun_differs(run_watched, tmp_path, source, each):
    rows, said = seeds_table(run_watched, tmp_path, each=each)
    assert rows[source].endswith("was drawn from without a seed: a rerun differs")
    assert rows["python" if source == "numpy" else "numpy"].endswith("none")
    assert len(said) == 1 and f"{source} was drawn from without a seed: a rerun differs; expected a seed" in said[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "np.random.seed(3); random.seed(3)"), ("np.random.seed(3); random.seed(3)", "")],
    ids=["after torch was imported", "before we listened"],
)
def test_silent_when_it_was_seeded(run_watched, tmp_path, before, after):
    rows, said = seeds_table(run_watched, tmp_path, before, after, each="np.random.rand(3); random.random()")
    assert rows["numpy"].endswith("none") and rows["python"].endswith("none")
    assert said == []


def test_what_counts_as_a_seeding_call_of_the_program():
    assert SEEDED["python"].search("import random\nrandom.seed(0)") and SEEDED["python"].search(
        "from random import choice, seed"
    )
    assert not SEEDED["python"].search("np.random.seed(0)") and not SEEDED["python"].search("import random")
    assert SEEDED["numpy"].search("numpy.random.seed(0)") and SEEDED["numpy"].search("from numpy.random import seed")
    assert not SEEDED["numpy"].search("random.seed(0)")


LIBRARY = """
import random
WORDS = random.getrandbits(24)
def draw():
    return random.random()
"""


@pytest.mark.parametrize(("each", "told"), [("pass", 0), ("library.draw()", 1)])
def test_a_library_that_draws_where_it_is_imported_is_no_draw_of_the_program(run_watched, tmp_path, each, told):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "library.py").write_text(LIBRARY)
    script = tmp_path / "train.py"
    begin = f"import sys; sys.path.insert(0, {str(folder)!r})"
    text = TRAIN.replace("import random\n", "").replace("BEFORE", begin).replace("AFTER", "import library")
    script.write_text(text.replace("EACH", each))
    found = [f for f in run_watched(script).report["findings"] if f["check"] == "data/seed-chain"]
    assert len(found) == told


@pytest.mark.parametrize(("draws", "few"), [(1, True), (2, True), (3, False), (700, False)])
def test_a_few_numbers_are_those_of_an_import(draws, few):
    def state():
        return GeneratorState(0, None, drawn.getstate()[1])

    drawn = random.Random(5)
    before = state()
    for _ in range(draws):
        drawn.getrandbits(24)
    assert is_a_few(before, state()) is few


@pytest.mark.parametrize(
    ("code", "sources"),
    [
        ("import random", []),
        ("import random as r\nr.choice([1])", ["python"]),
        ("from random import choice\nchoice([1])", ["python"]),
        ("import numpy as np\nrng = np.random.default_rng(0)", ["numpy"]),
        ("from numpy import random\nrandom.rand()", ["numpy"]),
        ("import numpy.random\nnumpy.random.rand()", ["numpy"]),
        ("import numpy as np\nx = np.zeros(3)", []),
    ],
)
def test_a_generator_is_named_by_its_own_module(code, sources):
    program = parse(Path("train.py"), code.encode())
    assert program is not None
    assert [source for source in SOURCES if has_random(program, source)] == sources
