"""What the trace store costs: bytes per 1e6 steps of the main series, us of a point, ms of a query.
`python benchmarks/store.py [STEPS]`."""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow

from debugtracer.trace.store.reader import Trace, open_trace
from debugtracer.trace.store.writer import TraceWriter

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from stamp import stamp

MAIN = ("loss", "grad_l2", "param_l2", "lr", "wait_s", "step_s", "own_s", "scale")
ARTICLE_P95_MS = 320.0  # the figure a series query is held against
FLUSH_STEPS = 100
TAIL = 200_000  # steps that are still live while the queries run: almost a whole segment, the worst case
Figures = dict[str, float]


def training(steps: int) -> Iterator[dict[str, float]]:
    """Values like those of a real run: noisy loss and norms, jittering times, a schedule, a scale that doubles."""
    chance = random.Random(0)
    noise = chance.gauss
    param = 100.0
    for step in range(steps):
        loss = 2.0 + 6.0 / (1 + step / 2000) + noise(0, 0.05)
        param += noise(1e-4, 1e-4)
        wait = abs(noise(1e-3, 3e-4))
        times = {"wait_s": wait, "step_s": 0.08 + wait + abs(noise(0, 2e-3)), "own_s": abs(noise(4e-4, 5e-5))}
        grad, lr, scale = abs(noise(1.0, 0.2)), 3e-4 * min(1.0, step / 2000), 65536.0 * 2 ** (step // 200_000)
        yield {"loss": loss, "grad_l2": grad, "param_l2": param, "lr": lr, **times, "scale": scale}


def write(run: Path, steps: int) -> Figures:
    """A run of `steps` steps; flushed as often as the writer would; returns the cost of point() and of flush()."""
    writer = TraceWriter(run, 0)
    point_us, flush_ms = [], []
    for step, values in enumerate(training(steps)):
        start = time.perf_counter()
        writer.point(step, values)
        point_us.append((time.perf_counter() - start) * 1e6)
        if step % FLUSH_STEPS == FLUSH_STEPS - 1:
            start = time.perf_counter()
            writer.flush()
            flush_ms.append((time.perf_counter() - start) * 1e3)
    folder = run / "rank=0"
    figures = {
        "point_us_median": statistics.median(point_us),
        "point_us_p99": percentile(point_us, 99),
        "flush_ms_median": statistics.median(flush_ms),
    }
    return (
        figures
        | {"live_bytes_before_close": float(sum(path.stat().st_size for path in folder.glob("live-*")))}
        | closed(writer, folder, steps)
    )


def closed(writer: TraceWriter, folder: Path, steps: int) -> Figures:
    """The time of close() and the bytes that stay."""
    start = time.perf_counter()
    writer.close()
    size = sum(path.stat().st_size for path in folder.iterdir())
    return {
        "close_s": time.perf_counter() - start,
        "bytes_per_1e6_steps": size * 1e6 / steps,
        "bytes_per_value": size / steps / len(MAIN),
    }


def queries(run: Path, last: int, repeats: int = 40) -> dict[str, Figures]:
    """Median and p95 in ms of each kind of question, a fresh Trace each time (nothing of ours is cached, the disk cache
    is warm)."""
    chance = random.Random(1)

    def window(trace: Trace) -> object:
        start = chance.randrange(max(1, last - 20_000))
        return trace.series(chance.choice(MAIN), start=start, stop=start + 20_000)

    kinds: dict[str, Callable[[Trace], object]] = {
        "series, last 1,000 steps": lambda trace: trace.series(chance.choice(MAIN), start=last - 1000),
        "series, any 20,000 steps": window,
        "series, all steps": lambda trace: trace.series(chance.choice(MAIN)),
        "overview, 1,000 bins": lambda trace: trace.overview(chance.choice(MAIN), bins=1000),
        "first bad step of all series": lambda trace: trace.first_bad(),
        "names": lambda trace: trace.names(),
    }
    return {kind: timed(run, ask, repeats) for kind, ask in kinds.items()}


def timed(run: Path, ask: Callable[[Trace], object], repeats: int) -> Figures:
    """Median and p95 of one question, ms."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        ask(open_trace(run))
        taken.append((time.perf_counter() - start) * 1e3)
    return {"median_ms": statistics.median(taken), "p95_ms": percentile(taken, 95)}


def percentile(values: list[float], percent: int) -> float:
    """The p-th percentile."""
    return statistics.quantiles(values, n=100)[percent - 1]


def live_tail(run: Path, steps: int) -> TraceWriter:
    """A second writer of the same rank that is still open: the queries meet a live tail."""
    writer = TraceWriter(run, 0)
    for step, values in enumerate(training(steps)):
        writer.point(10**9 + step, values)
        if step % FLUSH_STEPS == FLUSH_STEPS - 1:
            writer.flush()
    return writer


def table(title: str, rows: dict[str, Figures]) -> str:
    """One table for the terminal."""
    lines = [title, f"  {'question':32}{'median ms':>12}{'p95 ms':>12}   (article: p95 {ARTICLE_P95_MS:.0f} ms)"]
    return "\n".join(
        [*lines, *(f"  {kind:32}{row['median_ms']:12.1f}{row['p95_ms']:12.1f}" for kind, row in rows.items())]
    )


def main() -> None:
    """Writes, asks, prints, keeps benchmarks/results/<date>-store.json."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        written = write(run, steps)
        sealed = queries(run, steps)
        writer = live_tail(run, TAIL)
        tailed = queries(run, 10**9 + TAIL)
        files = len(list((run / "rank=0").iterdir()))
        writer.close()
    print(f"{steps:,} steps x {len(MAIN)} series, a flush every {FLUSH_STEPS} steps")
    print("\n".join(f"  {name:28}{value:16,.2f}" for name, value in written.items()))
    print(table("asked of the sealed run", sealed))
    print(table(f"asked with {TAIL:,} more steps, the newest still live ({files} files)", tailed))
    machine = {
        "cpu": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "pyarrow": pyarrow.__version__,
    }
    what = stamp() | {"machine": machine, "python": platform.python_version(), "steps": steps, "series": MAIN}
    result = what | {"write": written, "sealed": sealed, "with_live_tail": tailed}
    path = Path(__file__).parent / "results" / f"{result['date']}-store.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"kept in {path}")


if __name__ == "__main__":
    main()
