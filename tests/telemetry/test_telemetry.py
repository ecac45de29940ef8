"""Telemetry of a whole run through the command line: the program is the same, whatever the other side does."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from debugtracer.telemetry.telemetry import Telemetry
from tests.extras import needs
from tests.telemetry.collector import collecting

SRC = Path(__file__).parents[2] / "src"
PROGRAM = """
import time
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
data = torch.randn(1200, 4)
data[300, 0] = float("nan")
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(EPOCHS):
    for (x,) in DataLoader(TensorDataset(data), batch_size=6):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        time.sleep(0.002)
print(epoch, loss.item(), sum(p.double().sum() for p in model.parameters()).item())
"""


def command(folder: Path, epochs: int, *words: str) -> tuple[list[str], dict[str, str]]:
    """The real command line; the forked one would not show what threads do to a fork."""
    (folder / "train.py").write_text(PROGRAM.replace("EPOCHS", str(epochs)))
    path = os.pathsep.join(filter(None, [str(SRC), os.environ.get("PYTHONPATH")]))
    env = os.environ | {"PYTHONPATH": path, "DEBUG_TRACER_ALERT_TOKEN": "the-token"}
    return [sys.executable, "-m", "debugtracer", "run", "--mode", "prod", "--out", "runs", *words, "train.py"], env


@contextlib.contextmanager
def training(words: list[str], folder: Path, env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A run for the with block; it does not outlive the test."""
    with subprocess.Popen(words, cwd=folder, env=env, stderr=subprocess.PIPE, text=True) as run:
        try:
            yield run
        finally:
            run.terminate()


def posted(address: str, body: bytes) -> int:
    request = urllib.request.Request(address, body, {"Authorization": "Bearer the-token"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_it_is_scraped_while_it_trains_and_an_alert_stops_it(tmp_path: Path) -> None:
    needs("prometheus_client")
    needs("opentelemetry.sdk")
    with collecting() as collector:
        words, env = command(tmp_path, 1000, "--metrics-port", "0", "--otlp", collector.address)
        with training(words, tmp_path, env) as run:
            assert run.stderr is not None
            first = run.stderr.readline()
            (address,) = re.findall(r"metrics at (http://127\.0\.0\.1:\d+)/metrics$", first.strip())
            text = ""
            while 'action="skip-sample"' not in text or "debugtracer_loss" not in text:
                assert run.poll() is None, run.stderr.read()
                with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/metrics", timeout=5) as answer:
                    text = answer.read().decode()
                time.sleep(0.2)
            alert = b'{"alerts": [{"status": "firing", "labels": {"debug_tracer_response": "stop"}}]}'
            assert posted(f"{address}/alert", alert) == 200
            told = run.stderr.read()
            run.wait()
    assert run.returncode == 3, told
    assert "a person has asked for it - the run was stopped" in told
    assert {"verdict", "finding", "action"} <= {record.event_name.split(".")[1] for record in collector.logs}
    assert {"step", "replay"} <= {span.name for span in collector.spans}


def test_a_program_ends_the_same_where_nobody_takes_what_is_sent(tmp_path: Path) -> None:
    needs("prometheus_client")
    needs("opentelemetry.sdk")
    taken = socket.create_server(("127.0.0.1", 0))
    port = str(taken.getsockname()[1])
    came = []
    for more in ([], ["--metrics-port", port, "--otlp", f"http://127.0.0.1:{port}"]):
        words, env = command(tmp_path, 2, *more)
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=120)
        came.append((done.returncode, done.stdout))
    taken.close()
    assert came[0] == came[1] and came[0][0] == 0
    assert f"127.0.0.1:{port} cannot be listened at" in done.stderr


def test_where_nothing_is_asked_for_nothing_is_there(tmp_path: Path) -> None:
    idle = Telemetry(tmp_path, None, "127.0.0.1", "", "")
    idle.start()
    idle.end()
    assert idle.follower is None


def test_a_package_that_is_missing_is_said_before_anything_starts(tmp_path: Path) -> None:
    words, env = command(tmp_path, 2, "--metrics-port", "0")
    (tmp_path / "prometheus_client.py").write_text("raise ImportError('not here')")
    done = subprocess.run(
        words, cwd=tmp_path, env=env | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{env['PYTHONPATH']}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert "pip install 'torch-debug-tracer[metrics]'" in done.stderr
    assert not (tmp_path / "runs" / "latest" / "rank=0").exists()
