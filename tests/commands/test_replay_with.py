"""`debug-tracer replay INCIDENT --with`, on incidents of planted faults: healed by what their class says, not by what
it does not."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from debugtracer.commands._remedies import remedies_known
from debugtracer.commands.replay import replay
from debugtracer.errors import DebugTracerError
from tests.forked import programs

app = typer.Typer()
app.command()(replay)

ROOT = Path(__file__).resolve().parents[2]
ENV = {
    **os.environ,
    "PYTHONPATH": str(ROOT / "src"),
    "OMP_NUM_THREADS": "1",
    "DEBUG_TRACER_STRICT": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "COLUMNS": "100",
}


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The incident of a planted fault, its script deleted; each is made once."""

    @functools.cache
    def made(fault: str) -> Path:
        work = tmp_path_factory.mktemp(Path(fault).name)
        shutil.copy(ROOT / "faults" / fault / "train.py", work / "train.py")
        done = debug_tracer("run", "--out", "runs", "train.py", cwd=work)
        assert done.returncode == 3, done.stderr[-2000:]
        (work / "train.py").unlink()
        (found,) = (work / "runs" / "latest" / "incidents").glob("step-*")
        return found

    return made


def debug_tracer(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [*programs().tool, *map(str, words)], capture_output=True, text=True, env=ENV, cwd=cwd, timeout=240
    )


def call(*words: object) -> Result:
    """The command in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    ("fault", "heals", "does_not"),
    [
        ("numerics/sqrt0_norm", ("stable-op", "without-sample"), ("larger-eps=0.0001", "reference-device")),
        pytest.param(
            "numerics/masked_attention",
            ("stable-op", "without-sample"),
            ("larger-eps=0.0001", "reference-device"),
            marks=pytest.mark.sweep,
        ),
        ("numerics/fp16_scores", ("full-precision", "reference-device", "without-sample"), ("larger-eps=0.0001",)),
        pytest.param(
            "data/inplace_standardise", ("stable-op", "without-sample"), ("reference-device",), marks=pytest.mark.sweep
        ),
        ("data/missing_cell_workers", ("sanitised-batch", "without-sample"), ("reference-device", "without-sample=0")),
        pytest.param(
            "numerics/layer_norm_no_eps", ("larger-eps", "stable-op"), ("reference-device",), marks=pytest.mark.sweep
        ),
        pytest.param(
            "optimizer/half_adam_default_eps",
            ("larger-eps", "full-precision"),
            ("clipped-gradient=1", "lower-lr=10"),
            marks=pytest.mark.sweep,
        ),
    ],
)
def test_a_planted_fault_is_healed_by_what_its_class_says(
    fault: str, heals: tuple[str, ...], does_not: tuple[str, ...], incident: Callable[[str], Path]
) -> None:
    done = call(incident(fault), *(word for name in (*heals, *does_not) for word in ("--with", name)), "--json")
    assert done.exit_code == 0, done.exception
    trials = json.loads(done.stdout)["trials"]
    outcomes = {
        one["intervention"] if one["intervention"] in does_not else one["intervention"].partition("=")[0]: one[
            "outcome"
        ]
        for one in trials
    }
    assert outcomes == {
        "unchanged": "reproduced",
        **dict.fromkeys(heals, "healed"),
        **dict.fromkeys(does_not, "not healed"),
    }


def test_a_person_reads_what_healed_and_what_the_step_did_then(incident: Callable[[str], Path]) -> None:
    done = debug_tracer(
        "replay", incident("numerics/log0_entropy"), "--with", "stable-op=1e-5", "--with", "larger-eps=1e-4"
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "debug-tracer: step 5, rank 0: healed by stable-op=1e-05",
        "",
        "  unchanged           the fault came again; loss nan; born in aten::log at train.py:82",
        "  stable-op=1e-05     healed: clamp_min(1e-05) before the logarithm at train.py:82; loss 4.086",
        "  larger-eps=0.0001   not healed: eps of 5 normalisations raised to 0.0001; loss nan; so eps is not",
        "                      to blame; born in aten::log at train.py:82",
        "",
        "  note    one recorded step, not a training: that this step heals is seen, that the run stays",
        "          healthy is not",
        "  note    no gradients: the step had stopped at its loss, so this capsule holds no backward",
    ]


def test_all_tries_what_can_be_tried_and_says_why_the_rest_cannot(incident: Callable[[str], Path]) -> None:
    done = call(incident("numerics/sqrt0_norm"), "--with", "all")
    told = " ".join(done.stdout.split())
    assert done.exit_code == 0
    assert told.startswith(
        "debug-tracer: step 5, rank 0: healed by stable-op=1e-06, without-sample, each alone unchanged the fault came "
        "again; loss 4.317,"
    )
    for words in (
        "stable-op=1e-06 healed: clamp_min(1e-12) before the root at train.py:80; loss 4.317, gradients finite",
        "without-sample healed: row 3 replaced by row 0; loss 4.32, gradients finite",
        "reference-device not healed: the whole step on the CPU in float64; loss 4.317, gradients not finite; "
        "so neither the device nor its rounding is to blame; born in aten::sqrt (backward) at train.py:80",
        "full-precision not tried: nothing of the step is in half precision",
        "lower-lr=10 not tried: the capsule holds no update: the step stopped before it",
        "older-weights=1 not tried: no older state of the weights is kept in a capsule",
    ):
        assert words in told


def test_a_finite_loss_far_from_the_last_ones_is_no_healing(incident: Callable[[str], Path]) -> None:
    done = call(incident("numerics/tied_temperature"), "--with", "stable-op")
    told = " ".join(done.stdout.split())
    assert "not healed by stable-op=1e-06, stable-op=0.001 unchanged" in told
    assert (
        "a divisor of at least 1e-06 at train.py:18; loss 2.756e+05; finite, but far outside of what the last steps had"
        in told
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("larger-epsilon", "--with larger-epsilon: no intervention is called larger-epsilon; known are "),
        (
            "stable-op=x",
            (
                "--with stable-op=x: 'x' is no number; expected how far from the edge of the domain the argument is "
                "kept, such as 1e-06"
            ),
        ),
        ("unchanged=2", "--with unchanged=2: unchanged takes no value"),
        (
            "stable-op",
            (
                "step 5, rank 0 cannot be tried with stable-op=1e-06: no stable form of aten::bmm is known. `--with "
                "all` tries what this capsule allows"
            ),
        ),
        (
            "other-batch",
            (
                "step 5, rank 0 cannot be tried with other-batch: no other batch is kept in a capsule; without-sample "
                "takes rows out of this one."
            ),
        ),
        (
            "without-sample=99",
            "step 5, rank 0 cannot be tried with without-sample=99: row 99 is not in the batch, which has rows 0 to 7.",
        ),
    ],
)
def test_what_cannot_be_tried_is_one_sentence(name: str, sentence: str, incident: Callable[[str], Path]) -> None:
    error = call(incident("numerics/fp16_scores"), "--with", name).exception
    assert isinstance(error, DebugTracerError)
    assert str(error).startswith(sentence) and "\n" not in str(error)


def test_what_cannot_be_tried_ends_with_status_2(incident: Callable[[str], Path]) -> None:
    done = debug_tracer("replay", incident("numerics/fp16_scores"), "--with", "stable-op")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_fault_that_does_not_come_again_is_said_instead_of_a_healing(incident: Callable[[str], Path]) -> None:
    done = call(incident("numerics/fp16_scores"), "--with", "without-sample", "--dtype", "float32")
    assert done.exit_code == 0
    assert done.stdout.startswith(
        "debug-tracer: step 5, rank 0: unchanged, the fault does not come again here, so no trial tells anything\n"
    )


def test_the_help_lists_what_runs_offline_and_only_that() -> None:
    told = debug_tracer("replay", "--help").stdout
    assert (
        "  stable-op         The fragile operation at the guilty line, evaluated in a form that stays in its domain."
        in told
    )
    listed = [line.split()[0] for line in remedies_known().splitlines()]
    assert {
        "unchanged",
        "stable-op",
        "larger-eps",
        "full-precision",
        "reference-device",
        "without-sample",
        "lower-lr",
        "clipped-gradient",
    } <= set(listed)
    assert {"older-weights", "other-batch", "other-optimizer", "intervention"}.isdisjoint(listed)


def test_the_list_tells_what_the_step_allows_and_tries_nothing(incident: Callable[[str], Path]) -> None:
    folder = incident("numerics/masked_attention")
    done = call(folder, "--with", "list")
    assert done.exit_code == 0, done.exception
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["stable-op"] == lines["without-sample"] == "can be tried"
    assert lines["full-precision"] == "not here: nothing of the step is in half precision"
    told = json.loads(call(folder, "--with", "list", "--json").stdout)
    assert told["refused"].keys() == {slug for slug, text in lines.items() if text.startswith("not here")}
