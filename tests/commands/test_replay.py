"""The command `debug-tracer replay`, from a recorded step whose script is gone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from debugtracer.commands.replay import replay
from debugtracer.errors import CapsuleError
from debugtracer.recorder.capsule.capsule import load_capsule
from tests.forked import programs

app = typer.Typer()
app.command()(replay)

SCRIPT = """
import sys, pathlib
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.recorder.capsule.capsule import save_capsule
from debugtracer.recorder.capsule.program import Program
from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.trace.incident import IncidentFacts, LoaderFacts
from debugtracer.trace.step import StepRef

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.head = nn.Linear(4, 8), nn.Linear(8, 3)
    def forward(self, x):
        return self.head(torch.relu(self.first(x)))

def loss_of(model, x, scale):
    y = model(x)
    BODY

torch.manual_seed(3)
model, x, scale = Net(), torch.randn(6, 4), torch.rand(6, 1) + 0.5
scale[2] = SCALE
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
tracker, program = OpTracker(), Program()
tracer = OpTracer(observers=[tracker, program])
tracer.name_root(model)
for tensor, name in [(x, "batch[0]"), (scale, "batch[1]"), *((p, f"parameter {n}") for n, p in \
model.named_parameters())]:
    tracer.label(tensor, name)
    program.name(tensor, name)
with tracer:
    loss = loss_of(model, x, scale)
    loss.backward()
targets = [("loss", loss), *((f"gradient {n}", p.grad) for n, p in model.named_parameters())]
birth = find_birth(tracker, targets=targets, batch_rows=6)
for name, tensor in targets:
    program.target(name, tensor)
facts = IncidentFacts(ref=StepRef(iteration=12, step=12), symptom="nan_loss", loss="NaN", birth=birth, \
batch_rows=birth.rows,
                      loader=LoaderFacts(dataset="Rows", dataset_len=60, batch_size=6, indices=(50, 51, 52, 53, 54, \
55)))
save_capsule(pathlib.Path(sys.argv[1]), program, facts, None)
"""
BODIES = {
    "log": ("0.0", "return (torch.log(scale) * y).mean()"),
    "sqrt": ("0.0", "return (torch.sqrt(scale * y.abs()).sum() + y.sum()) / 6"),
    "divide": ("0.0", "return ((y - y) / (scale * y)).mean()"),
    "overflow": ("200.0", "return torch.exp(scale * y.abs().clamp(1, 2)).mean()"),
    "masked": ("0.0", "return (torch.softmax(y.masked_fill(scale == 0, float('-inf')), -1) * y).sum()"),
    "half": ("1e9", "return (y * scale).half().float().mean()"),
    "checkpointed": (
        "0.0",
        "return checkpoint(lambda t: torch.sqrt(t.abs() * scale), y, use_reentrant=False).sum() + y.sum()",
    ),
    "in_place": ("0.0", "y = y * 1.0; y.div_(scale); return y.mean()"),
    "attention": (
        "float('nan')",
        "q = (y * scale)[None]; return nn.functional.scaled_dot_product_attention(q, q, q).sum()",
    ),
    "input": ("float('nan')", "return (y * scale).mean()"),
}


def record(folder: Path, body: str) -> Path:
    """An incident whose script is deleted."""
    script = folder / "train.py"
    scale, code = BODIES[body]
    script.write_text(SCRIPT.replace("BODY", code).replace("SCALE", scale))
    done = subprocess.run(
        [*programs().python, str(script), str(folder / "step")],
        capture_output=True,
        text=True,
        env={**os.environ, "DEBUG_TRACER_STRICT": "1"},
    )
    assert done.returncode == 0, done.stderr
    script.unlink()
    return folder / "step"


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("log"), "log")


def call(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def sentence(*words: object) -> str:
    error = call(*words).exception
    assert isinstance(error, CapsuleError)
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.parametrize("body", sorted(BODIES))
def test_the_same_birth_is_found_without_the_script(body: str, tmp_path: Path) -> None:
    folder = record(tmp_path, body)
    answer = call(folder, "--json")
    told = json.loads(answer.stdout)
    assert told["parity"] == "bitwise"
    assert told["birth"] == told["recorded_birth"]
    assert told["birth"]["rows"] == [2]
    assert told["same_birth"] is True
    assert answer.exit_code == 0


def test_a_person_reads_the_birth_first(incident: Path) -> None:
    answer = call(incident)
    assert answer.exit_code == 0
    lines = answer.stdout.splitlines()
    assert lines[0] == "debug-tracer: step 12, rank 0 replayed: the same birth as in the run"
    for words in (
        "train.py:23 in loss_of",
        "return (torch.log(scale) * y).mean()",
        "aten::log",
        "row 2 of the batch = dataset index 52",
        "on cpu, dtypes as recorded: bitwise",
    ):
        assert words in answer.stdout


def test_a_value_lost_to_the_dtype_is_healthy_in_float64(tmp_path: Path) -> None:
    folder = record(tmp_path, "overflow")
    answer = call(folder, "--dtype", "float64")
    assert answer.exit_code == 1
    assert (
        "no bad value reached the loss or a gradient; in the run it was born in aten::exp at train.py:23"
        in answer.stdout
    )
    assert "in float64 the step is healthy: the recorded dtype lost the value" in answer.stdout


def test_another_dtype_says_whether_it_is_precision(incident: Path, tmp_path: Path) -> None:
    told = " ".join(call(incident, "--dtype", "float64").stdout.split())
    assert "Inf also in float64: not precision (loss " in told or "NaN also in float64: not precision (loss " in told
    assert "bitwise" not in told
    assert "only a wider dtype can tell whether it is precision" in " ".join(
        call(incident, "--dtype", "float32").stdout.split()
    )
    lost = record(tmp_path, "overflow")
    told = " ".join(call(lost, "--dtype", "float64").stdout.split())
    assert "finite in float64: a matter of precision or range (loss " in told and "recorded inf)" in told
    assert json.loads(call(lost, "--dtype", "float64", "--json").stdout)["precision"].startswith("finite in float64")
    assert json.loads(call(lost, "--json").stdout)["precision"] is None


def test_the_only_incident_of_a_run_is_taken_and_several_are_listed(incident: Path, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    assert "holds no incident that can be replayed" in sentence(tmp_path)
    shutil.copytree(incident, tmp_path / "incidents" / "step-000012-rank0")
    assert call(tmp_path).exit_code == 0
    shutil.copytree(incident, tmp_path / "incidents" / "step-000012-rank1")
    told = sentence(tmp_path)
    assert "holds 2 incidents, name one of them" in told
    assert f"{tmp_path}/incidents/step-000012-rank0, {tmp_path}/incidents/step-000012-rank1" in told


def test_bad_input_is_one_sentence(incident: Path, tmp_path: Path) -> None:
    assert sentence(tmp_path / "none").startswith(f"{tmp_path / 'none'} is not a folder")
    assert "has no readable capsule.json" in sentence(tmp_path)
    assert "--dtype int8 is not known" in sentence(incident, "--dtype", "int8")
    assert "--device toaster cannot be used here" in sentence(incident, "--device", "toaster")
    shutil.copytree(incident, tmp_path / "step")
    os.truncate(tmp_path / "step" / "program.json.gz", 100)
    assert "program.json.gz has 100 bytes, expected" in sentence(tmp_path / "step")


def test_the_source_of_the_script_is_in_the_incident(incident: Path) -> None:
    [(path, name)] = load_capsule(incident).head.sources.items()
    assert path == str(incident.parent / "train.py")
    assert "torch.log(scale)" in (incident / "sources" / name).read_text()
