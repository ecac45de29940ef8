"""What a steady step on a GPU costs: GPT-2 (124 M) and a model of a thousand million parameters in bfloat16, eager and
compiled, and a small network whose steps are bound by the host; bare and watched, interleaved in one process.

    python benchmarks/gpu_steps.py [--only "124M eager,host"] [--rounds 7] [--mode observe] [--unfused]

Every round visits bare and watched once in random order, for steps between two waits for the device; wall clock. What
is compiled is watched before it is compiled. Rows are added to benchmarks/results/DATE-gpu-steps.json by name, mode and
DEBUG_TRACER_GATE_NORMS. `--place cpu --layers 1` is a look at the script without a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.by_commit import add_row
from benchmarks.overhead import Block

WORDS = 50304
WARM = 60  # steps before the first round: the first 50 of a run have no promise
SETTLE = 3  # steps after a change that are not timed
SPENT_S = 100.0  # seconds put on our account so that all rests (--rest)
GIVEN_S = 3.0  # seconds that a run is given on top of its promise, taken away at first (--steady)
SPAN_S = 1.5  # of steps between two looks at the clock


@dataclass(frozen=True)
class Size:
    """A model and its batch."""

    width: int
    heads: int
    layers: int
    rows: int
    length: int


SIZES = {"124M": Size(768, 12, 12, 8, 1024), "1B": Size(2048, 16, 20, 4, 1024)}


class Language(nn.Module):
    """Blocks over tokens with one matrix for both ends, as in GPT-2."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(WORDS, size.width), nn.Embedding(size.length, size.width)
        self.blocks = nn.Sequential(*(Block(size.width, size.heads) for _ in range(size.layers)))
        self.norm, self.head = nn.LayerNorm(size.width), nn.Linear(size.width, WORDS, bias=False)
        self.head.weight = self.tokens.weight
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.places.weight[: ids.shape[1]])))


def language(size: Size, compiled: bool, place: str, fused: bool) -> Callable[[], None]:
    """Give one step of a language model under autocast, clipped, with AdamW."""
    model: nn.Module = Language(size).to(place)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused)
    rows = [torch.randint(0, WORDS, (size.rows, size.length + 1), device=place) for _ in range(4)]
    called = torch.compile(model) if compiled else model

    def step() -> None:
        ids = random.choice(rows)
        with torch.autocast(place, torch.bfloat16):
            logits = called(ids[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def small(place: str, fused: bool) -> Callable[[], None]:
    """Give one step of a network that the host can hardly feed to the device fast enough."""
    layers = [part for _ in range(6) for part in (nn.Linear(512, 512), nn.GELU())]
    model = nn.Sequential(*layers, nn.Linear(512, 10)).to(place)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused)
    x, y = torch.randn(64, 512, device=place), torch.randint(0, 10, (64,), device=place)

    def step() -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def made(name: str, place: str, layers: int | None, fused: bool) -> Callable[[], None]:
    """Give the step of a row of the table."""
    if name == "host-bound":
        return small(place, fused)
    what, how = name.split()
    size = SIZES[what]
    return language(size if layers is None else Size(32, 2, layers, 2, 16), how == "compiled", place, fused)


NAMES = ("host-bound", "124M eager", "124M compiled", "1B eager", "1B compiled")


def timed(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Medians of the ratios of neighbours, and what the device's memory peaked at."""
    from benchmarks.peers import configuration

    torch.manual_seed(0)
    wait = torch.cuda.synchronize if args.place == "cuda" else lambda: None
    step = made(name, args.place, args.layers, not args.unfused)
    nothing = nn.Identity()
    for word in ("watched", "bare"):
        with configuration(word)(nothing):
            run(step, WARM if word == "watched" else SETTLE, wait)
            if args.steady and word == "watched":
                spend(GIVEN_S)
                run(step, WARM, wait)
    with configuration("bare")(nothing):
        steps = max(round(SPAN_S / run(step, 5, wait)), 5)
    times: dict[str, list[float]] = {"bare": [], "watched": []}
    peaks = dict.fromkeys(times, 0)
    for _ in range(args.rounds):
        for word in random.sample(list(times), 2):
            with configuration(word)(nothing):
                if args.rest and word == "watched":
                    spend(SPENT_S)
                run(step, SETTLE, wait)
                if args.place == "cuda":
                    torch.cuda.reset_peak_memory_stats()
                times[word].append(run(step, steps, wait))
                peaks[word] = torch.cuda.max_memory_allocated() if args.place == "cuda" else 0
    ratios = [w / b for w, b in zip(times["watched"], times["bare"], strict=True)]
    return {
        "bare_ms": round(1e3 * statistics.median(times["bare"]), 3),
        "ratio": round(statistics.median(ratios), 4),
        "quartiles": [round(q, 4) for q in statistics.quantiles(ratios, n=4)[::2]],
        "steps": steps * args.rounds,
        "peak_mb": {word: round(peak / 1e6) for word, peak in peaks.items()},
    }


def spend(seconds: float) -> None:
    """Put seconds on the account of the session that runs, as after minutes of steps too short for the promise."""
    from debugtracer import session

    running = session.active()
    if running is not None:
        running.state.own_s += seconds


def run(step: Callable[[], None], steps: int, wait: Callable[[], None]) -> float:
    """Seconds of one step, the last one's work on the device included."""
    wait()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    wait()
    return (time.perf_counter() - begin) / steps


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name holds one of these, with commas")
    parser.add_argument("--rounds", type=int, default=7, help="two at least")
    parser.add_argument("--mode", default="observe")
    parser.add_argument("--unfused", action="store_true", help="an AdamW that the device's own gate cannot hold")
    parser.add_argument("--steady", action="store_true", help="without the seconds that each run is given")
    parser.add_argument("--rest", action="store_true", help="with all at rest that may be")
    parser.add_argument("--place", default="cuda")
    parser.add_argument("--layers", type=int)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.child:
        print(json.dumps(timed(args.child, args)), flush=True)
        os._exit(0)  # the reports at the end of a watched run are not what is measured
    measured = 0
    for name in [name for name in NAMES if any(word in name for word in args.only.split(","))]:
        words = ["--child", name, "--rounds", str(args.rounds), "--place", args.place]
        words += (
            ["--unfused"] * args.unfused
            + ["--rest"] * args.rest
            + ["--steady"] * args.steady
            + ([] if args.layers is None else ["--layers", str(args.layers)])
        )
        with tempfile.TemporaryDirectory() as out:
            env = os.environ | {"DEBUG_TRACER_MODE": args.mode, "DEBUG_TRACER_OUT": out}
            done = subprocess.run([sys.executable, __file__, *words], env=env, capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
            continue
        measured += 1
        row = json.loads(done.stdout.splitlines()[-1])
        said = [
            name,
            args.mode,
            *["unfused"] * args.unfused,
            *["at rest"] * args.rest,
            *["steady"] * args.steady,
            os.environ.get("DEBUG_TRACER_GATE_NORMS", ""),
        ]
        print(", ".join(filter(None, said)), row, flush=True)
        if args.place == "cuda":
            card = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
            add_row("gpu-steps", ", ".join(filter(None, said)), row | {"device": card})
    return int(not measured)


if __name__ == "__main__":
    sys.exit(main())
