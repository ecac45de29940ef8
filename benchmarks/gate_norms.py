"""The numbers of the gate by torch's operators and by Triton's kernels, on the gradients of GPT-2 (124 M, 148 tensors):
whether they agree, microseconds on the device and on the host.

    .venv/bin/python benchmarks/gate_norms.py [--rounds 50] [--place cuda]

Needs a device that Triton compiles for; both are interleaved in one process. Keeps
benchmarks/results/DATE-gate-norms.json."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import torch
from torch import Tensor

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from kept import keep

from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.triton_numbers import TritonNumbers

WIDTH, LAYERS, WORDS, PLACES = 768, 12, 50257, 1024
DTYPES = (torch.float32, torch.bfloat16)
WARM = 5  # rounds that are not timed: kernels are compiled in the first


def gradients(dtype: torch.dtype, place: str, layers: int) -> list[Tensor]:
    """As many of the same sizes as GPT-2 has."""
    block = [(WIDTH,), (WIDTH,), (3 * WIDTH, WIDTH), (3 * WIDTH,), (WIDTH, WIDTH), (WIDTH,), (WIDTH,), (WIDTH,)]
    block += [(4 * WIDTH, WIDTH), (4 * WIDTH,), (WIDTH, 4 * WIDTH), (WIDTH,)]
    ends = [(WORDS, WIDTH), (PLACES, WIDTH), (WIDTH,), (WIDTH,)] if layers == LAYERS else []
    return [torch.randn(size, device=place).to(dtype) for size in (*block * layers, *ends)]


def timed(numbers: DeviceNumbers, given: list[Tensor], loss: Tensor, place: str) -> tuple[float, float, list[float]]:
    """Microseconds on the host until all is queued and until the device is done, and what was read."""
    wait = torch.cuda.synchronize if place == "cuda" else lambda: None
    wait()
    begin = time.perf_counter()
    judged = numbers.judged(given, [loss], None, True)
    queued = time.perf_counter()
    wait()
    done = time.perf_counter()
    assert judged is not None
    return 1e6 * (queued - begin), 1e6 * (done - begin), judged.numbers.tolist()


def measured(dtype: torch.dtype, place: str, layers: int, rounds: int) -> dict[str, object]:
    """Medians of both, in turns."""
    given, loss = gradients(dtype, place, layers), torch.tensor(1.5, dtype=torch.float64, device=place)
    kernels = TritonNumbers({place})
    times: dict[str, list[tuple[float, float]]] = {"torch": [], "triton": []}
    said: dict[str, list[float]] = {}
    for round_ in range(WARM + rounds):
        for name, numbers in (("torch", DeviceNumbers()), ("triton", kernels)):
            host_us, done_us, said[name] = timed(numbers, given, loss, place)
            if round_ >= WARM:
                times[name].append((host_us, done_us))
    assert not kernels.off, "the kernels could not be launched"
    medians = {
        name: {what: round(statistics.median(t[at] for t in seen), 1) for at, what in enumerate(("host_us", "done_us"))}
        for name, seen in times.items()
    }
    apart = abs(said["torch"][0] - said["triton"][0]) / said["torch"][0]
    return {"bytes": sum(g.numel() * g.element_size() for g in given), "norms_apart": apart, **medians}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--place", default="cuda")
    parser.add_argument("--layers", type=int, default=LAYERS, help="fewer for a look without a device")
    args = parser.parse_args(arguments)
    rows = {
        str(dtype).removeprefix("torch."): measured(dtype, args.place, args.layers, args.rounds) for dtype in DTYPES
    }
    for name, row in rows.items():
        print(name, row)
    if args.place != "cpu":
        keep("gate-norms", {"machine": torch.cuda.get_device_name(), "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
