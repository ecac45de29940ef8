"""Which processes are watched."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from debugtracer import session
from debugtracer.integrations.begin import begin, is_launcher, made_old
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.json_report import ends


@pytest.mark.parametrize(
    ("words", "launches"),
    [
        (["/venv/bin/torchrun", "train.py"], True),
        (["-m", "torch.distributed.run", "train.py"], True),
        (["-u", "-W", "ignore", "-m", "accelerate.commands.launch"], True),
        (["-mdebugtracer", "run"], True),
        (["train.py", "torchrun"], False),
        (["-m", "package.train"], False),
        (["-c", "import torch", "torchrun"], False),
        (["-X", "torchrun", "train.py"], False),
        ([], False),
    ],
)
def test_a_launcher_is_told_by_the_program_python_runs(words, launches):
    assert is_launcher(words) is launches


def test_a_wrong_variable_is_one_line_and_the_program_goes_on_unwatched(monkeypatch, capsys):
    monkeypatch.setattr(sys, "orig_argv", ["python", "train.py"])
    monkeypatch.setenv("DEBUG_TRACER_MODE", "fast")
    begin()
    assert session.active() is None
    assert (
        capsys.readouterr().err
        == "debug-tracer: DEBUG_TRACER_MODE is 'fast'; expected observe, dev, val, prod; this process is not watched.\n"
    )


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_after_the_start_as_before_it(collects, monkeypatch):
    monkeypatch.setattr(sys, "orig_argv", ["python", "train.py"])
    monkeypatch.setenv("DEBUG_TRACER_MODE", "fast")
    if not collects:
        gc.disable()
    try:
        with made_old():
            assert not gc.isenabled()
        begin()
        assert gc.isenabled() is collects
    finally:
        gc.enable()


def test_what_the_start_made_counts_as_old_and_what_the_program_froze_stays_so():
    gc.unfreeze()  # what the server froze from which tests are forked
    with made_old():
        made = [[] for _ in range(2000)]
    young = {id(thing) for thing in gc.get_objects(generation=0) + gc.get_objects(generation=1)}
    assert not any(id(thing) in young for thing in made)
    assert gc.get_freeze_count() == 0
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with made_old():
            pass
        assert gc.get_freeze_count() > frozen / 2  # some of it may have died
    finally:
        gc.unfreeze()


def test_a_run_without_an_incident_imports_nothing_that_only_an_incident_needs(tmp_path):
    program = (
        "import sys, torch\n"
        "weight = torch.nn.Linear(2, 1)\n"
        "update = torch.optim.SGD(weight.parameters(), lr=0.01)\n"
        "for _ in range(5):\n"
        "    update.zero_grad(); weight(torch.ones(1, 2)).sum().backward(); update.step()\n"
        "rooms = 'safetensors', 'responses', 'causes', 'interventions', 'recorder.capsule', 'replay.op_trace'\n"
        "print([name for name in sys.modules if name.removeprefix('debugtracer.').startswith(rooms)])\n"
    )
    environment = os.environ | {"DEBUG_TRACER": "1", "DEBUG_TRACER_OUT": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_the_start_is_counted_as_ours(tmp_path):
    program = (
        "import time, torch\n"
        "from debugtracer import session\n"
        "weight = torch.nn.Linear(2, 1)\n"
        "weight(torch.ones(1, 2)).sum().backward()\n"
        "print(session.active().state.start_s, time.process_time())\n"
    )
    environment = os.environ | {"DEBUG_TRACER": "1", "DEBUG_TRACER_OUT": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    start_s, whole_s = map(float, done.stdout.split())
    assert 0.02 < start_s < whole_s
    (last,) = ends(open_trace(tmp_path))
    assert start_s < last.own_s < last.wall_s
