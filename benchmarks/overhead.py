"""Step time of a healthy run: bare, watched, anomaly mode, and Hugging Face's DebugUnderflowOverflow. Paired,
interleaved, one process.

    .venv/bin/python benchmarks/overhead.py [--rounds 12] [--steps 3] [--model transformer10m|mlp|convnet] [--threads 2]
    [--device cpu]

Every round visits each configuration once in random order; a figure is the median over rounds of (step time / bare step
time of the same round). `--clock cpu` counts the CPU time of the process instead of wall time: the figure to trust on
shared cores. Then one step is poisoned and the time from alarm to verdict and the traced step's slowdown are read from
the incident. Prints a table, writes benchmarks/results/<date>-overhead-<model>-<device>-<clock>.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path.append(str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from stamp import stamp

from benchmarks.peers import anomaly_mode, bare, hugging_face, watched

RESULTS = Path(__file__).parent / "results"


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = (
            y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(self.norm1(x)).split(c, 2)
        )
        x = x + self.out(
            nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        )
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    """10.7 M parameters, as nanoGPT's character model."""

    def __init__(self, vocab: int = 96, width: int = 384, layers: int = 6, length: int = 128) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, 6) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.places.weight[: ids.shape[1]])))


def transformer10m() -> tuple[nn.Module, TensorDataset, int]:
    ids = torch.randint(0, 96, (512, 129))
    return Transformer(), TensorDataset(ids[:, :-1].clone(), ids[:, 1:].clone()), 4


def mlp() -> tuple[nn.Module, TensorDataset, int]:
    model = nn.Sequential(*(layer for _ in range(6) for layer in (nn.Linear(256, 256), nn.ReLU())), nn.Linear(256, 10))
    return model, TensorDataset(torch.randn(4096, 256), torch.randint(0, 10, (4096,))), 64


def convnet() -> tuple[nn.Module, TensorDataset, int]:
    layers = [
        nn.Conv2d(3, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, 2, 1),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.Conv2d(64, 128, 3, 2, 1),
        nn.ReLU(),
    ]
    return (
        nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)),
        TensorDataset(torch.randn(1024, 3, 32, 32), torch.randint(0, 10, (1024,))),
        32,
    )


MODELS: dict[str, Callable[[], tuple[nn.Module, TensorDataset, int]]] = {
    "transformer10m": transformer10m,
    "mlp": mlp,
    "convnet": convnet,
}


def batches(data: TensorDataset, size: int) -> Iterator[Any]:
    while True:
        yield from DataLoader(data, batch_size=size, shuffle=True)


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def run_steps(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    feed: Iterator[Any],
    steps: int,
    device: str,
    clock: str = "wall",
    poison: bool = False,
    clip: bool = False,
) -> float:
    """Seconds per step of a plain loop."""
    synchronize(device)
    begin = CLOCKS[clock]()
    for _ in range(steps):
        x, y = next(feed)
        x, y = x.to(device), y.to(device)
        logits = model(x)
        if poison:
            logits = logits / torch.zeros(())
        loss = nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))
        optimizer.zero_grad()
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    synchronize(device)
    return (CLOCKS[clock]() - begin) / steps


def synchronize(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


CONFIGURATIONS = {
    "bare": bare,
    "watched": watched,
    "set_detect_anomaly": anomaly_mode,
    "DebugUnderflowOverflow": hugging_face,
}


def measure(
    name: str, rounds: int, steps: int, device: str, chosen: list[str], clock: str, clip: bool
) -> dict[str, Any]:
    torch.manual_seed(0)
    model, data, size = MODELS[name]()
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=device != "cpu")
    feed = batches(data, size)
    times: dict[str, list[float]] = {c: [] for c in chosen}
    for number in range(rounds + 1):
        for configuration in random.sample(chosen, len(chosen)):
            with CONFIGURATIONS[configuration](model):
                run_steps(model, optimizer, feed, 1, device, clip=clip)  # warm-up of hooks, not timed
                seconds = run_steps(model, optimizer, feed, steps, device, clock, clip=clip)
            if number:
                times[configuration].append(seconds)
    ratios = {c: [a / b for a, b in zip(times[c], times["bare"], strict=True)] for c in chosen}
    figures: dict[str, Any] = {
        c: {
            "ms": 1e3 * statistics.median(times[c]),
            "ratio": statistics.median(ratios[c]),
            "quartiles": statistics.quantiles(ratios[c], n=4)[::2],
        }
        for c in chosen
    }
    if "watched" in chosen:
        with watched(model):
            run_steps(model, optimizer, feed, 1, device)
            run_steps(model, optimizer, feed, 1, device, poison=True)
        figures["incident"] = incident()
    return figures


def incident() -> dict[str, Any]:
    """Alarm to verdict and slowdown of the traced step, of the poisoned step."""
    from debugtracer import session
    from debugtracer.trace.events import Incident
    from debugtracer.trace.store.reader import open_trace

    running = session.active()
    assert running is not None
    running.output.flush()
    found = [e for e in open_trace(running.output.folder).events() if isinstance(e, Incident)]
    replay = found[-1].facts.replay
    return {
        "alarm_to_verdict_s": replay.alarm_to_verdict_s,
        "traced_slowdown": replay.traced_slowdown,
        "op": found[-1].verdict.op,
        "parity": replay.parity,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--model", choices=MODELS, default="transformer10m")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default=",".join(CONFIGURATIONS))
    parser.add_argument("--mode", default="observe")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--clip", action="store_true", help="the loop clips: its norm then serves us too")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    os.environ |= {"DEBUG_TRACER_OUT": tempfile.mkdtemp(), "DEBUG_TRACER_MODE": args.mode}
    figures = measure(args.model, args.rounds, args.steps, args.device, args.only.split(","), args.clock, args.clip)
    print(
        f"{args.model} on {args.device}, {args.threads} threads, mode {args.mode}, {args.clock} clock, "
        f"{args.rounds} rounds of {args.steps} steps, torch {torch.__version__}"
    )
    for name, row in figures.items():
        if name == "incident":
            print(
                f"  alarm to verdict {row['alarm_to_verdict_s']:.2f} s, traced step {row['traced_slowdown']:.2f} x the "
                "replayed one, "
                f"born in {row['op']}, replay {row['parity']}"
            )
            continue
        print(
            f"  {name:24} {row['ms']:9.1f} ms  ratio {row['ratio']:6.3f}  [{row['quartiles'][0]:.3f} .. "
            f"{row['quartiles'][1]:.3f}]"
        )
    target = RESULTS / f"{stamp()['date']}-overhead-{args.model}-{args.device}-{args.clock}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(
        json.dumps(
            stamp()
            | {
                "model": args.model,
                "device": args.device,
                "threads": args.threads,
                "mode": args.mode,
                "clock": args.clock,
                "clip": args.clip,
                "rounds": args.rounds,
                "steps": args.steps,
                "torch": str(torch.__version__),
                "figures": figures,
            },
            indent=1,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
