"""`debug-tracer run` in this process: folder, status, words of options; whole programs are in end_to_end."""

from __future__ import annotations

import pytest

from debugtracer.commands.app import status
from debugtracer.trace.manifest import read_manifest


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("import os, sys; print(os.environ['DEBUG_TRACER_RUN_DIR']); sys.exit(int(sys.argv[1]))")
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


def test_a_rank_that_was_killed_is_sealed(out, capfd):
    code = "import os, signal, torch\np = torch.zeros(3, requires_grad=True)\no = torch.optim.SGD([p], lr=0.1)\n"
    code += "for _ in range(250):\n    o.zero_grad(); p.sum().backward(); o.step()\nos.kill(os.getpid(), signal.SIGKILL)\n"
    (out.parent / "killed.py").write_text(code)
    assert status(["run", "--out", str(out), "killed.py"]) == 137
    folder = (out / "latest").resolve() / "rank=0"
    assert not list(folder.glob("live-*"))
    assert list(folder.glob("series-*.parquet"))
