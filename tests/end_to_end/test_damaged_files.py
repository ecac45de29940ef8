"""Whatever happens to the bytes of a file that we read: one sentence with status 2, or what the rest of it says. Never
a traceback, never a change to any file. More examples than the few of a commit: DEBUG_TRACER_FUZZ=2000."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from debugtracer.commands.app import status
from debugtracer.errors import UsageError
from debugtracer.library.library import NAME, entry_of, remember
from debugtracer.observers.checkpoint.archive import damage_of
from debugtracer.settings import Settings
from debugtracer.views.incident_document import read_told

RUNS = Path(__file__).resolve().parents[1] / "stored_runs"
OURS = sorted(
    path.relative_to(RUNS)
    for name in ("nan_gradient", "two_ranks")
    for path in (RUNS / name / "run").rglob("*")
    if path.is_file() and path.stat().st_size
)
CAPSULE = Path("nan_gradient/run/incidents/step-000007-rank0/capsule.json")
EXAMPLES = int(os.environ.get("DEBUG_TRACER_FUZZ", "0"))
QUICK = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]

Damage = tuple[str, float, Any]  # what is done, where (share of the file), with what
ODD = [None, -1, 0, 1e308, 2**70, "", "NaN", "../../../etc/passwd", "\x1b[31m\n", "x" * 3000, [], {}, [[]], True, -0.5]
places = st.floats(0, 1, exclude_max=True)
damages: st.SearchStrategy[Damage] = st.one_of(
    st.tuples(st.just("flip"), places, st.integers(0, 7)),
    st.tuples(st.just("byte"), places, st.sampled_from([0, 9, 34, 44, 45, 57, 91, 123, 128, 237, 255])),
    st.tuples(st.just("cut"), places, st.none()),
    st.tuples(st.just("insert"), places, st.binary(min_size=1, max_size=8)),
    st.tuples(st.just("remove"), places, st.integers(1, 64)),
    st.tuples(st.just("zero"), places, st.integers(1, 512)),
    st.tuples(st.just("value"), places, st.sampled_from(ODD)),
    st.tuples(st.just("forget"), places, st.none()),
)


def examples(few: int) -> Any:
    """Run this many examples, the same ones each time, or as many as the environment asks for, new ones each time."""
    return settings(
        max_examples=EXAMPLES or few,
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,
        suppress_health_check=QUICK,
    )


def damaged(content: bytes, damage: Damage) -> bytes:
    """The content after the damage; that of a JSON value happens in one line of it."""
    what, share, by = damage
    at = int(share * len(content))
    if what == "flip":
        return content[:at] + bytes([content[at] ^ 1 << by]) + content[at + 1 :]
    if what == "byte":
        return content[:at] + bytes([by]) + content[at + 1 :]
    if what == "cut":
        return content[:at]
    if what == "insert":
        return content[:at] + by + content[at:]
    if what == "remove":
        return content[:at] + content[at + by :]
    if what == "zero":
        return content[:at] + bytes(min(by, len(content) - at)) + content[at + by :]
    lines = [content] if content.startswith(b"{\n") else content.split(b"\n")
    row = next((n for n in range(len(lines)) if sum(len(line) + 1 for line in lines[: n + 1]) > at), 0)
    with contextlib.suppress(ValueError):
        known = json.loads(lines[row])
        spots = [*inside(known)]
        if spots:
            holder, key = spots[int(share * 7919) % len(spots)]
            if what == "forget":
                del holder[key]
            else:
                holder[key] = by
            lines[row] = json.dumps(known).encode()
    return b"\n".join(lines)


def inside(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a JSON value that holds another, outside in."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in [*pairs]:
        yield value, key
        yield from inside(part)


def contents(folder: Path) -> dict[Path, bytes]:
    """The bytes of every file below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def answer(*words: str | Path) -> tuple[int, str]:
    """Status and stderr of a command of ours, executed here."""
    err = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        return status([str(word) for word in words]), err.getvalue()


def assert_told(code: int, err: str, about: str = "") -> None:
    """Assert that a command answered as it should: with one sentence if it could not do what it was asked for."""
    assert code in (0, 1, 2, 3), err
    told = [line for line in err.splitlines() if "judged again" not in line and "imported " not in line]
    if code == 2:
        assert len(told) == 1, err
        assert told[0].startswith("debug-tracer: ")
        assert told[0].isprintable()
        assert about in told[0] and len(told[0]) < 800, err


@contextlib.contextmanager
def copied(folder: Path, file: Path, damage: Damage) -> Iterator[Path]:
    """Work beside a copy of the folder in which this file is damaged; no file of it may change meanwhile."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "copy"
        shutil.copytree(folder, copy)
        (copy / file).write_bytes(damaged((copy / file).read_bytes(), damage))
        before, here = contents(copy), os.getcwd()
        os.chdir(place)
        try:
            yield copy
        finally:
            os.chdir(here)
        assert contents(copy) == before


READERS = [
    ("report", "RUN", "--format", "json,terminal,markdown", "-o", "OUT"),
    ("report", "RUN", "--recheck", "--fail-on", "error"),
    ("report", "RUN", "--layers"),
    ("report", "RUN", "--seeds"),
    ("report", "RUN", "--batch"),
    ("doctor", "RUN"),
    ("explain", "--prompt", "--with-batch", "RUN"),
    ("replay", "RUN"),
]
OF_INCIDENT = [
    ("replay", "INCIDENT", "--json"),
    ("replay", "INCIDENT", "--with", "all"),
    ("explain", "--prompt", "INCIDENT"),
    ("explain", "--remember", "INCIDENT", "--fix", "x"),
    ("report", "RUN", "--batch"),
]


@given(st.sampled_from(OURS), damages, st.sampled_from(READERS))
@example(CAPSULE, ("byte", 0.2, 255), READERS[-1])
@examples(24)
def test_a_run_folder(file: Path, damage: Damage, words: tuple[str, ...]) -> None:
    with copied(RUNS / file.parts[0] / "run", file.relative_to(f"{file.parts[0]}/run"), damage) as run:
        assert_told(*answer(*({"RUN": run, "OUT": run.parent / "out"}.get(word, word) for word in words)))


@given(st.sampled_from([CAPSULE, CAPSULE.with_name("batch.json")]), damages, st.sampled_from(OF_INCIDENT))
@example(CAPSULE, ("byte", 0.2, 255), OF_INCIDENT[0])
@example(CAPSULE, ("byte", 0.2, 255), OF_INCIDENT[2])
@example(CAPSULE.with_name("batch.json"), ("value", 0.0085, ""), OF_INCIDENT[4])
@examples(16)
def test_an_incident(file: Path, damage: Damage, words: tuple[str, ...]) -> None:
    with copied(RUNS / "nan_gradient" / "run", file.relative_to("nan_gradient/run"), damage) as run:
        incident = run / CAPSULE.parent.relative_to("nan_gradient/run")
        assert_told(*answer(*({"RUN": run, "INCIDENT": incident}.get(word, word) for word in words)))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file of each kind that others write and we read."""
    folder = tmp_path_factory.mktemp("logs")
    rows = [{"loss": 2 - n / 100, "learning_rate": 1e-3, "step": n} for n in range(40)]
    (folder / "trainer_state.json").write_text(json.dumps({"log_history": rows, "global_step": 40}, indent=1))
    (folder / "metrics.csv").write_text("step,train_loss\n" + "".join(f"{row['step']},{row['loss']}\n" for row in rows))
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder / "tb")) as writer:
        for row in rows:
            writer.add_scalar("Loss/train", row["loss"], int(row["step"]))
    (folder / "train.log").write_text("".join(f"step {row['step']} loss {row['loss']}\n" for row in rows) + TRACEBACK)
    (folder / "train.py").write_text(
        "import torch\nx = torch.randn(3)\nloss = torch.log(x.softmax(0)).sum() / x.sum()\n"
    )
    vocabulary = {"[UNK]": 0, "a": 1, "[PAD]": 2}
    (folder / "tokenizer.json").write_text(
        json.dumps({"version": "1.0", "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}})
    )
    return folder


TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    loss.backward()
RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.
"""
FOREIGN = {
    "trainer_state.json": ("report", "FILE"),
    "metrics.csv": ("report", "FILE"),
    "events": ("report", "FILE"),
    "train.log": ("explain", "FILE"),
    "train.py": ("checks", "--source", "FILE"),
    "tokenizer.json": ("tokenizers", "SOUND", "FILE"),
}


@given(st.sampled_from(sorted(FOREIGN)), damages)
@example("metrics.csv", ("insert", 0.4, b"\xff"))
@examples(24)
def test_a_file_of_others(logs: Path, name: str, damage: Damage) -> None:
    sound = next(path for path in sorted(logs.rglob("*")) if path.is_file() and path.name.startswith(name))
    file = sound.relative_to(logs)
    with copied(logs, file, damage) as copy:
        code, err = answer(*({"FILE": copy / file, "SOUND": sound}.get(word, word) for word in FOREIGN[name]))
        assert_told(code, err, about=file.name if name != "tokenizer.json" else "tokenizer.json")


@given(damages)
@examples(40)
def test_the_library(damage: Damage) -> None:
    told = read_told(RUNS / "nan_gradient" / "run")
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / NAME
        for run in ("a", "b", "c"):
            remember(file, entry_of(told.facts, told.verdict, run=run, at=1.0, fix="a larger eps"))
        before = damaged(file.read_bytes(), damage)
        file.write_bytes(before)
        os.environ["DEBUG_TRACER_LIBRARY"] = str(file)
        try:
            code, err = answer("explain", "--remember", RUNS / CAPSULE.parent, "--fix", "x")
        finally:
            del os.environ["DEBUG_TRACER_LIBRARY"]
        assert (code, "Traceback" in err) == (0, False)
        assert file.read_bytes().startswith(before)


@pytest.fixture(scope="module")
def saved() -> bytes:
    file = io.BytesIO()
    torch.save({"model": torch.nn.BatchNorm1d(16).state_dict(), "step": 3}, file)
    return file.getvalue()


@given(damages)
@example(("byte", 0.93, 237))
@examples(200)
def test_a_checkpoint_file(saved: bytes, damage: Damage) -> None:
    with tempfile.TemporaryFile() as file:  # a seek before the start of a real file fails otherwise than in memory
        file.write(damaged(saved, damage))
        file.seek(0)
        damage_of(file, 1 << 30)


words = st.one_of(
    st.text(max_size=12), st.sampled_from(["nan", "inf", "-1", "1e400", "9" * 5000, "\x00", "dev ", "on"])
)


@given(st.sampled_from(sorted(Settings.__dataclass_fields__)), words)
@examples(200)
def test_a_setting(name: str, word: str) -> None:
    refused = refusal({f"DEBUG_TRACER_{name.upper()}": word})
    assert refused is None or (refused.startswith(f"DEBUG_TRACER_{name.upper()} is ") and len(refused) < 400)


def refusal(environ: dict[str, str]) -> str | None:
    """The sentence that refuses a setting; None if it is taken."""
    try:
        Settings.from_env(environ)
    except UsageError as error:
        return str(error)
    return None


@given(st.text(max_size=40))
@example("loss-spike.z_max=" + "9" * 5000)
@examples(40)
def test_an_option_of_a_check(word: str) -> None:
    assert_told(*answer("report", RUNS / "two_ranks" / "run", "--recheck", "--option", word))


def test_a_run_of_which_not_all_can_be_read_is_never_called_finite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(RUNS / "nan_gradient" / "run", tmp_path / "run")
    events = run / "rank=0" / "events.jsonl"
    told = [
        b"{" + line if b'"incident"' in line or b'"found"' in line else line
        for line in events.read_bytes().split(b"\n")
    ]
    events.write_bytes(b"\n".join(told))
    assert status(["report", str(run)]) == 0
    first, _, rest = capsys.readouterr().out.partition("\n")
    assert first == "debug-tracer: run run cannot be judged: 2 damaged places of its files skipped;"
    assert "every loss, gradient and update was finite" not in rest
    assert "Skipped while reading" in rest
    assert status(["report", str(run), "--format", "markdown"]) == 0
    assert "## Skipped while reading" in capsys.readouterr().out
    assert status(["report", str(run), "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["run"]["skipped"]) == 2
    assert status(["doctor", str(run)]) == 1
    assert "object keys must be strings (byte 1); this line is skipped" in capsys.readouterr().out
    assert status(["explain", "--prompt", str(run)]) == 2
    assert "no verdict can be read, 2 damaged places skipped" in capsys.readouterr().err
