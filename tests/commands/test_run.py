"""`debug-tracer run` in this process: folder, status, words of options; whole programs are in end_to_end."""

from __future__ import annotations

import inspect
import subprocess

import pytest

from debugtracer.commands.app import status
from debugtracer.commands.run import run
from debugtracer.settings import FLAGS, Settings
from debugtracer.trace.store.manifest import read_manifest


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import os, sys; print(os.environ['DEBUG_TRACER_RUN_DIR']); sys.exit(int(sys.argv[1]))"
    )
    return tmp_path / "runs"


@pytest.mark.parametrize("code", [0, 7])
def test_the_status_is_the_program_s_and_its_folder_is_named_last(out, code, capfd):
    assert status(["run", "--out", str(out), "--name", "a", "train.py", str(code)]) == code
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == (f"{out / 'a'}\n", f"debug-tracer: run folder {out / 'a'}\n")
    assert (read_manifest(out / "a").exit_code, read_manifest(out / "a").status) == (code, "ended")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--mode", "fast"], "--mode fast: expected observe, dev, val, prod"),
        (["--capture", "all"], "--capture all: expected step, canary"),
        (["--fail-on", "x"], "--fail-on x: expected off, note, warning, error"),
        (["--preset", "x"], "there are default, seed"),
        (["--name", "a/b"], "--name a/b: expected"),
    ],
)
def test_a_wrong_word_names_the_right_ones_and_starts_nothing(out, words, says, capfd):
    assert status(["run", "--out", str(out), *words, "train.py", "0"]) == 2
    shown = capfd.readouterr()
    assert says in shown.err and shown.err.count("\n") == 1 and shown.out == ""
    assert not out.exists() or not list(out.iterdir())


def test_the_preset_reaches_the_program(out, capfd):
    (out.parent / "train.py").write_text("from debugtracer.settings import Settings; print(Settings.from_env().preset)")
    assert status(["run", "--out", str(out), "--preset", "seed", "train.py"]) == 0
    assert capfd.readouterr().out == "seed\n"


def test_a_folder_that_cannot_be_made_is_one_sentence(out, capfd):
    out.write_text("a file")
    assert status(["run", "--out", str(out), "train.py", "0"]) == 2
    assert "give another with --out" in capfd.readouterr().err


def test_a_rank_that_was_killed_is_sealed(out, programs):
    code = "import os, signal, torch\np = torch.zeros(3, requires_grad=True)\no = torch.optim.SGD([p], lr=0.1)\n"
    code += (
        "for _ in range(250):\n    o.zero_grad(); p.sum().backward(); o.step()\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (out.parent / "killed.py").write_text(code)
    words = [*programs.tool, "run", "--out", str(out), "killed.py"]
    assert subprocess.run(words, cwd=out.parent, check=False).returncode == 137
    folder = (out / "latest").resolve() / "rank=0"
    assert not list(folder.glob("live-*"))
    assert list(folder.glob("series-*.parquet"))


@pytest.fixture
def told(out):
    """A program that prints one setting, named by its argument, as it reaches it."""
    code = (
        "import sys; from debugtracer.settings import Settings, plain; print(plain(getattr(Settings.from_env(), "
        "sys.argv[1])))"
    )
    (out.parent / "told.py").write_text(code)
    return out.parent / "told.py"


@pytest.mark.parametrize(
    ("variable", "text", "option", "field", "wins"),
    [
        ("MODE", "observe", "val", "mode", "val"),
        ("CAPTURE", "canary", "step", "capture", "step"),
        ("PRESET", "seed", "default", "preset", "default"),
        ("INSPECT_STEPS", "7", "0", "inspect_steps", "0"),
        ("FUNCTION_TESTS", "off", "on", "function_tests", "on"),
        ("FAIL_ON", "error", "off", "fail_on", "off"),
        ("INCIDENTS", "2", None, "incidents", None),
    ],
)
def test_a_variable_reaches_the_program_and_an_option_wins_over_it(
    out, told, variable, text, option, field, wins, capfd, monkeypatch
):
    monkeypatch.setenv(f"DEBUG_TRACER_{variable}", text)
    assert status(["run", "--out", str(out), "told.py", field]) == 0
    assert capfd.readouterr().out == f"{text}\n"
    if option is not None:
        assert status(["run", "--out", str(out), "--" + field.replace("_", "-"), option, "told.py", field]) == 0
        assert capfd.readouterr().out == f"{wins}\n"


def test_the_folder_of_runs_and_the_name_are_variables_too(out, capfd, monkeypatch):
    monkeypatch.setenv("DEBUG_TRACER_OUT", str(out.parent / "elsewhere"))
    monkeypatch.setenv("DEBUG_TRACER_NAME", "b")
    assert status(["run", "train.py", "0"]) == 0
    assert status(["run", "--out", str(out), "--name", "c", "train.py", "0"]) == 0
    assert capfd.readouterr().out.split() == [str(out.parent / "elsewhere" / "b"), str(out / "c")]


def test_inside_a_watched_program_the_name_of_that_run_is_not_ours(out, capfd, monkeypatch):
    monkeypatch.setenv("DEBUG_TRACER_RUN_DIR", str(out / "outer"))
    monkeypatch.setenv("DEBUG_TRACER_NAME", "outer")
    assert status(["run", "--out", str(out), "train.py", "0"]) == 0
    assert capfd.readouterr().out.endswith("-train\n")


@pytest.mark.parametrize(
    ("variable", "text", "says"),
    [
        ("MODE", "fast", "DEBUG_TRACER_MODE is 'fast'; expected observe, dev, val, prod"),
        ("FAIL_ON", "all", "DEBUG_TRACER_FAIL_ON is 'all'; expected off, note, warning, error"),
        ("PRESET", "x", "DEBUG_TRACER_PRESET is 'x'; expected default, seed"),
        ("INSPECT_STEPS", "-1", "DEBUG_TRACER_INSPECT_STEPS is -1; expected 0 or more"),
        ("INSPECT_STEPS", "many", "DEBUG_TRACER_INSPECT_STEPS is 'many'; expected int"),
        ("OUT", "", "DEBUG_TRACER_OUT is ''; expected Path"),
    ],
)
def test_a_wrong_variable_is_one_sentence_and_starts_nothing(out, variable, text, says, capfd, monkeypatch):
    monkeypatch.setenv(f"DEBUG_TRACER_{variable}", text)
    assert status(["run", "train.py", "0"]) == 2
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", f"debug-tracer: {says}\n")


def test_what_made_the_status_3_is_said_in_one_line(out, programs, monkeypatch):
    code = "import torch\np = torch.zeros(3, requires_grad=True)\no = torch.optim.SGD([p], lr=0.1)\n"
    code += "for _ in range(3):\n    o.zero_grad(); p.sum().backward(); o.step()\n"
    (out.parent / "unseeded.py").write_text(code)
    monkeypatch.setenv("DEBUG_TRACER_FAIL_ON", "note")
    done = unseeded(out, programs)
    assert done.returncode == 3
    (line,) = [line for line in done.stderr.splitlines() if "status 3" in line]
    assert line.startswith(
        "debug-tracer: status 3 by fail-on note: note of data/seed-chain: step 0, rank 0: torch cannot be repeated"
    )
    done = unseeded(out, programs, "--fail-on", "warning")
    assert done.returncode == 0
    assert "status 3" not in done.stderr


def unseeded(out, programs, *options):
    words = [*programs.tool, "run", "--out", str(out), *options, "unseeded.py"]
    return subprocess.run(words, cwd=out.parent, capture_output=True, text=True, check=False)


def test_the_options_are_the_settings_that_are_said_to_be_options():
    parameters = [name for name in inspect.signature(run).parameters if name != "command"]
    assert sorted(parameters) == sorted(FLAGS)
    assert set(FLAGS) < set(Settings.__dataclass_fields__)
