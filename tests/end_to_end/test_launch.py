"""Programs that know nothing of debug-tracer, started in every way: their output and status are their own, and each
rank leaves a folder."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENV = dict(os.environ, PYTHONPATH=str(ROOT / "src"), OMP_NUM_THREADS="1", DEBUG_TRACER_STRICT="1")
TRAIN = """
import os, sys, torch
def train(i=0, steps=3):
    m = torch.nn.Linear(4, 1)
    o = torch.optim.SGD(m.parameters(), lr=0.1)
    for step in range(steps):
        o.zero_grad()
        x = torch.ones(2, 4)
        if "bad" in sys.argv and step == 1: x[0, 0] = float("nan")
        m(x).mean().backward()
        o.step()
"""
MAIN = TRAIN + "train()\nprint('done', sys.argv[1:])\n"
SPAWN = (
    TRAIN
    + """
def rank(i):
    train()
    if i == 1 and "crash" in sys.argv: raise KeyError("mine")
if __name__ == "__main__":
    torch.multiprocessing.start_processes(rank, nprocs=2, start_method=METHOD)
"""
)
LOADER = (
    TRAIN
    + """
class D(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, i):
        from debugtracer import session
        return torch.tensor(float(session.active() is not None))
if __name__ == "__main__":
    for method in ("fork", "spawn"):
        print(method, [float(b) for b in torch.utils.data.DataLoader(D(), num_workers=1, \
multiprocessing_context=method)])
    train()
"""
)


TOOL = [sys.executable, "-m", "debugtracer"]


def words(tmp_path, *command, tool=TOOL):
    return [*tool, "run", "--out", str(tmp_path / "runs"), *command]


def watched(tmp_path, source, *after, before=(), tool=TOOL, **more):
    (tmp_path / "train.py").write_text(source)
    return subprocess.run(
        words(tmp_path, *before, "train.py", *after, tool=tool),
        cwd=tmp_path,
        env=ENV,
        capture_output=True,
        text=True,
        timeout=400,
        **more,
    )


def manifest(tmp_path):
    return json.loads((tmp_path / "runs" / "latest" / "run.json").read_text())


def ranks(tmp_path):
    return sorted(p.name for p in (tmp_path / "runs" / "latest").glob("rank=*"))


def events(tmp_path, rank, kind):
    lines = (tmp_path / "runs" / "latest" / f"rank={rank}" / "events.jsonl").read_text().splitlines()
    return [e for e in map(json.loads, lines) if e["type"] == kind]


def test_everything_after_the_script_is_its_own_and_the_folder_is_the_last_line(tmp_path):
    done = watched(tmp_path, MAIN, "--name", "x", "--lr", "1")
    assert (done.returncode, done.stdout) == (0, "done ['--name', 'x', '--lr', '1']\n"), done.stderr
    assert done.stderr.splitlines()[-1].endswith(str((tmp_path / "runs" / "latest").resolve()))
    assert (manifest(tmp_path)["status"], manifest(tmp_path)["exit_code"], ranks(tmp_path)) == ("ended", 0, ["rank=0"])


def test_a_stop_is_status_3(tmp_path, programs):
    assert watched(tmp_path, MAIN, "bad", tool=programs.tool).returncode == 3
    assert manifest(tmp_path)["stopped_by_tracer"]


@pytest.mark.parametrize(
    "launcher",
    [
        pytest.param(["torchrun"], id="torchrun"),
        pytest.param(["-m", "torch.distributed.launch"], id="launch", marks=pytest.mark.sweep),
    ],
)
def test_each_rank_of_a_launcher_has_a_folder(tmp_path, launcher):
    command = [str(Path(sys.executable).parent / "torchrun")] if launcher == ["torchrun"] else launcher
    done = watched(tmp_path, MAIN, before=(*command, "--nproc-per-node", "2", "--master-port", "29731"))
    assert (done.returncode, ranks(tmp_path)) == (0, ["rank=0", "rank=1"]), done.stderr


@pytest.mark.parametrize("method", [pytest.param("fork", marks=pytest.mark.sweep), "spawn"])
def test_a_crash_in_a_multiprocessing_rank_is_recorded(tmp_path, programs, method):
    done = watched(tmp_path, SPAWN.replace("METHOD", repr(method)), "crash", tool=programs.tool)
    assert done.returncode == 1
    assert "KeyError: 'mine'" in done.stderr
    assert [e["error"] for r in (0, 1) for e in events(tmp_path, r, "crashed")].count("KeyError") == 1


def test_loader_workers_are_inert(tmp_path, programs):
    done = watched(tmp_path, LOADER, tool=programs.tool)
    assert done.stdout == "fork [0.0, 0.0, 0.0, 0.0]\nspawn [0.0, 0.0, 0.0, 0.0]\n", done.stderr
    assert ranks(tmp_path) == ["rank=0"]


def test_a_crash_keeps_its_traceback_and_status(tmp_path, programs):
    done = watched(tmp_path, TRAIN + "train()\nraise ValueError('mine')\n", tool=programs.tool)
    assert (done.returncode, "ValueError: mine" in done.stderr) == (1, True)
    assert events(tmp_path, 0, "crashed")[0]["error"] == "ValueError"


def test_exit_status_and_stdin_are_the_programs(tmp_path):
    done = watched(tmp_path, "import sys; print(sys.stdin.read()); sys.exit(7)", input="typed")
    assert (done.returncode, done.stdout, ranks(tmp_path)) == (7, "typed\n", [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_program_once(tmp_path, number):
    (tmp_path / "train.py").write_text(
        "import signal, time\nfor n in (2, 15): signal.signal(n, lambda n, f: print('got', n, flush=True))\n"
        "print('up', flush=True)\nfor _ in range(8): time.sleep(0.1)\nsignal.signal(15, signal.SIG_DFL); "
        "signal.raise_signal(15)\n"
    )
    child = subprocess.Popen(
        words(tmp_path, "train.py"), cwd=tmp_path, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    child.send_signal(number)
    time.sleep(0.1)
    assert child.communicate(timeout=300)[0] == f"got {int(number)}\n"
    assert (child.returncode, manifest(tmp_path)["exit_code"]) == (143, 143)


def test_an_existing_sitecustomize_is_chained(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import builtins; builtins.chained = __name__")
    (tmp_path / "train.py").write_text("print(chained)")
    env = ENV | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{tmp_path / 'site'}"}
    done = subprocess.run(
        words(tmp_path, "train.py"), cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "sitecustomize\n", done.stderr


@pytest.mark.parametrize(
    "command", [[], ["missing.py"], ["nosuchcommand"], ["--bogus", "x.py"], ["-m"], ["--preset", "x", "y.py"]]
)
def test_wrong_usage_is_one_sentence_and_status_2(tmp_path, command):
    done = subprocess.run(words(tmp_path, *command), cwd=tmp_path, env=ENV, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert not (tmp_path / "runs").exists()


def test_ranks_switched_on_by_the_variable_alone_share_one_run(tmp_path):
    (tmp_path / "train.py").write_text(MAIN)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29732"]
    env = ENV | {"DEBUG_TRACER": "1", "DEBUG_TRACER_OUT": "runs"}
    done = subprocess.run([*torchrun, "train.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=400)
    assert (done.returncode, ranks(tmp_path)) == (0, ["rank=0", "rank=1"]), done.stderr
    assert sorted(p.name for p in (tmp_path / "runs").iterdir() if p.is_dir()) == sorted(
        {(tmp_path / "runs" / "latest").resolve().name, "latest"}
    )


@pytest.mark.parametrize(("word", "status"), [("off", 0), ("error", 3)])
def test_fail_on_makes_a_finding_of_an_observed_run_its_status(tmp_path, programs, word, status):
    before = ("--mode", "observe", "--fail-on", word)
    assert watched(tmp_path, MAIN, "bad", before=before, tool=programs.tool).returncode == status
    assert (manifest(tmp_path)["exit_code"], manifest(tmp_path)["stopped_by_tracer"]) == (status, False)


def test_a_bash_script_is_a_command(tmp_path, programs):
    (tmp_path / "train.py").write_text(MAIN)
    (tmp_path / "job.sh").write_text(f"#!/bin/bash\n{shlex.join(programs.python)} train.py $1\nexit 5\n")
    (tmp_path / "job.sh").chmod(0o755)
    done = subprocess.run(
        words(tmp_path, "./job.sh", "arg"), cwd=tmp_path, env=ENV, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout, ranks(tmp_path)) == (5, "done ['arg']\n", ["rank=0"]), done.stderr


def test_ctrl_c_at_a_terminal_reaches_the_program_once_and_ends_as_without_us(tmp_path):
    (tmp_path / "train.py").write_text(
        TRAIN + "train()\nimport time\ntry:\n  print('up', flush=True)\n  time.sleep(30)\n"
        "except KeyboardInterrupt:\n  time.sleep(1)\n  print('caught', flush=True)\n"
        "time.sleep(0.5)\nprint('end', flush=True)\nsys.exit(9)\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
        os.execve(sys.executable, words(tmp_path, "train.py"), ENV)
    shown = b""
    while b"up" not in shown:
        shown += os.read(terminal, 1024)
    # the program sleeps by now; and it waits before it answers, as ^C flushes what the terminal still holds
    time.sleep(0.5)
    os.write(terminal, b"\x03")
    with contextlib.suppress(OSError):  # EIO: the other side of the terminal is closed
        while more := os.read(terminal, 1024):
            shown += more
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9, shown
    assert (shown.count(b"caught"), shown.count(b"end\r"), manifest(tmp_path)["exit_code"]) == (1, 1, 9)


def test_a_killed_supervisor_leaves_a_manifest_that_says_running(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN + "train()\nprint(os.getpid(), flush=True)\nsys.stdin.read()\n")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen(words(tmp_path, "train.py"), cwd=tmp_path, env=ENV, text=True, **pipes)
    assert child.stdout is not None
    assert child.stdout.readline().strip().isdigit()
    child.kill()
    child.communicate(timeout=300)  # its input ends, so the program ends too
    assert (manifest(tmp_path)["status"], manifest(tmp_path)["exit_code"]) == ("running", None)
    told = subprocess.run(
        [sys.executable, "-m", "debugtracer", "doctor", str(tmp_path / "runs")],
        env=ENV,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "supervisor was killed" in told.stdout


def test_watch_inside_a_supervised_run_joins_it(tmp_path, programs):
    source = "import debugtracer\n" + TRAIN + "with debugtracer.watch(out='elsewhere'):\n    train()\ntrain()\n"
    done = watched(tmp_path, source, tool=programs.tool)
    assert (done.returncode, ranks(tmp_path), (tmp_path / "elsewhere").exists()) == (0, ["rank=0"], False), done.stderr
    assert events(tmp_path, 0, "rank-ended")[-1]["steps"] == 6
