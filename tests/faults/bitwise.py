"""Runs a training script unchanged and writes the bytes of every loss, the hash of the final weights and moments, and
the hash of the random generators.

    python bitwise.py OUT.json SCRIPT

It hooks nothing in the model: `Tensor.backward` notes the loss it is called on, optimizers are remembered when they are
made. The same file runs bare and under `debug-tracer run`; calls that come out of a replay of debug-tracer are not the
user's and are not noted."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import random
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from noted_losses import is_replay

if TYPE_CHECKING:
    from tests.forked import Programs

ROOT = Path(__file__).resolve().parents[2]
BARE_S = 60.0  # a bare script takes 2 to 10 s; what takes longer hangs


@dataclass(frozen=True)
class Trail:
    """What one execution of a script left: compare two with ==, or their losses as a prefix."""

    losses: list[str]
    weights: str
    generators: str
    status: int
    stdout: str
    stderr: str


def execute(script: Path, work: Path, mode: str | None, programs: Programs, timeout: float = 240.0) -> Trail:
    """Run SCRIPT in WORK, bare (mode None) or under debug-tracer in that mode, and read what it left."""
    result = work / f"trail-{mode}.json"
    env = dict(
        os.environ,
        PYTHONPATH=str(ROOT / "src"),
        OMP_NUM_THREADS="1",
        DEBUG_TRACER_STRICT="1",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONHASHSEED="0",
    )
    start = programs.python if mode is None else [*programs.tool, "run", "--out", str(work / "runs"), "--mode", mode]
    words = [*start, str(Path(__file__).resolve()), str(result), str(script)]
    done = finished(words, script.parent, env, timeout if mode else BARE_S, again=0 if mode else 3)
    left: dict[str, Any] = (
        json.loads(result.read_text())
        if result.exists()
        else {"losses": [], "weights": "nothing written", "generators": "nothing written"}
    )
    return Trail(left["losses"], left["weights"], left["generators"], done.returncode, done.stdout, done.stderr[-4000:])


def finished(
    words: list[str], cwd: Path, env: dict[str, str], timeout: float, again: int
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and up to `again` times anew where it hangs. Two ranks of gloo do so bare, ten times in
    150: the destructor of the group waits with the GIL for a thread that wants it."""
    try:
        return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        if not again:
            raise
        return finished(words, cwd, env, timeout, again - 1)


def raw(tensor: Any) -> bytes:
    """The bytes of a tensor of any dtype and layout."""
    import torch

    dense = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    return (
        bytes(dense.cpu().contiguous().resolve_conj().reshape(-1).view(torch.uint8).numpy().tobytes())
        if dense.numel()
        else b""
    )


def optimizer_bytes(optimizer: Any) -> bytes:
    """Parameters and moments in the order of the groups."""
    import torch

    parts: list[bytes] = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parts.append(raw(parameter))
            for name, value in sorted(optimizer.state.get(parameter, {}).items(), key=lambda item: str(item[0])):
                parts.append(
                    str(name).encode() + (raw(value) if isinstance(value, torch.Tensor) else repr(type(value)).encode())
                )
    return b"".join(parts)


def generator_bytes() -> bytes:
    """The state of the three generators a script may draw from."""
    import numpy
    import torch

    parts = [part.tobytes() if isinstance(part, numpy.ndarray) else part for part in numpy.random.get_state()]
    return raw(torch.get_rng_state()) + repr(random.getstate()).encode() + repr(parts).encode()


def record(result: Path) -> None:
    """Begin to note losses and optimizers; write the result when this very process ends."""
    import numpy
    import torch

    random.seed(0)
    numpy.random.seed(0)
    # what a script does not seed itself begins with the entropy of the machine and could not be compared
    torch.manual_seed(0)
    losses: list[str] = []
    optimizers: list[Any] = []
    call: Any = torch.Tensor.backward
    init, owner = torch.optim.Optimizer.__init__, os.getpid()

    def noted_backward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_replay():
            losses.append(raw(self).hex())
        return call(self, *args, **kwargs)

    def noted_init(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        if not is_replay():
            optimizers.append(self)

    def write() -> None:
        if os.getpid() != owner:
            return
        weights = hashlib.sha256(b"".join(optimizer_bytes(o) for o in optimizers)).hexdigest()
        left = {"losses": losses, "weights": weights, "generators": hashlib.sha256(generator_bytes()).hexdigest()}
        result.write_text(json.dumps(left))

    torch.Tensor.backward = noted_backward  # type: ignore[method-assign]
    torch.optim.Optimizer.__init__ = noted_init  # type: ignore[method-assign]
    atexit.register(write)


if __name__ == "__main__":
    target = sys.argv[2]
    record(Path(sys.argv[1]))
    sys.argv = [target]
    sys.path[0] = str(Path(target).resolve().parent)
    runpy.run_path(target, run_name="__main__")
