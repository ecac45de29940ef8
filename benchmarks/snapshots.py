"""What the snapshot ring costs in mode prod: milliseconds a snapshot beside those of a step, how often one is taken,
and the bytes held, for a small, a middle and a 10.7 M model; and what is said where they would not fit.

    .venv/bin/python benchmarks/snapshots.py [--steps 400]

Snapshots and steps of one process take turns, so that both see the same machine. Keeps
benchmarks/results/DATE-snapshots.json."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import TensorDataset

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from kept import keep

import debugtracer
from benchmarks.overhead import batches, mlp, transformer10m

LARGE = 60  # steps of the large model at most: each takes some hundred milliseconds
SMALL_BYTES = 64 * 1024**2  # a budget that three snapshots of the large model exceed


def small() -> tuple[nn.Module, TensorDataset, int]:
    """Three layers, 2,833 parameters."""
    model = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
    return model, TensorDataset(torch.randn(4096, 8), torch.randint(0, 1, (4096,))), 16


def measured(name: str, make: Callable[[], Any], steps: int, ring_bytes: int | None = None) -> dict[str, Any]:
    """One model, trained with Adam under mode prod; each snapshot and each step is timed."""
    torch.manual_seed(0)
    model, data, size = make()
    optimizer, feed = torch.optim.Adam(model.parameters(), lr=1e-4), batches(data, size)
    limit = {} if ring_bytes is None else {"ring_bytes": ring_bytes}
    taken: list[float] = []
    spent: list[float] = []
    with tempfile.TemporaryDirectory() as out, debugtracer.watch(out=out, mode="prod", **limit) as watch:
        ring = watch.session.ring
        plain = ring.consider

        def timed(*args: Any) -> str | None:
            held, begin = ring.held[-1].number if ring.held else -1, time.perf_counter()
            said = plain(*args)
            if ring.held and ring.held[-1].number != held:
                taken.append(time.perf_counter() - begin)
            return said

        ring.consider = timed  # type: ignore[method-assign]
        for _ in range(steps):
            x, y = next(feed)
            begin = time.perf_counter()
            logits = model(x)
            loss = nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            spent.append(time.perf_counter() - begin)
        return {
            "model": name,
            "parameters": sum(p.numel() for p in model.parameters()),
            "step_ms": statistics.median(spent) * 1e3,
            "snapshot_ms": statistics.median(taken) * 1e3 if taken else 0.0,
            "snapshots": len(taken),
            "every": ring.every,
            "bytes": sum(snapshot.nbytes for snapshot in ring.held),
            "off": ring.off,
        }


def main() -> None:
    """Measure the models and keep the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    steps = parser.parse_args().steps
    rows = [
        measured("MLP of 3 layers", small, steps),
        measured("MLP of 7 layers", mlp, steps),
        measured("transformer", transformer10m, min(steps, LARGE)),
        measured("transformer, 64 MiB allowed", transformer10m, 10, SMALL_BYTES),
    ]
    for row in rows:
        print(row)
    keep("snapshots", {"threads": torch.get_num_threads(), "rows": rows})


if __name__ == "__main__":
    main()
