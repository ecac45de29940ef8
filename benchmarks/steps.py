"""What a steady step costs: watched in mode observe, with `--cost 1`, with all at rest that may be, and under the
peers, each beside the bare step of the same process. CPU time of the training thread, one thread.

    python benchmarks/steps.py [--only mlp,rl] [--rounds 9] [--warm 50] [--no-peers] [--no-full]
    python benchmarks/steps.py --table benchmarks/results/DATE-steps.json

Every round visits each configuration once in random order, for some 0.2 s of steps at least; the clock is read around
them, not in them, since a look costs 75 us in some sandboxes. A ratio is the median over rounds of (time of the steps /
time of the bare steps of the same round), `whole` the ratio of their sums, which counts the rare dear steps too, and
`process` that of the process's CPU time, which counts the threads of debug-tracer. Kinds and sizes: step_loops.py.
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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.by_commit import add_row, load

KIND = "steps"
FULL = "watched, cost 1"
RESTING = "watched, at rest"  # all rests that may, as after minutes of steps that are too short for the promise
SPENT_S = 100.0  # seconds put on our account so that all rests
BESIDE_PEERS = (  # the loops on which peers are measured
    "timed mlp 0.3 ms", "timed mlp 2 ms", "timed transformer 2 ms", "cnn 10 ms", "transformer 10 ms",
    "transformer 100 ms",
)  # fmt: skip
SETTLE = 3  # steps after a change of configuration that are not timed
SLOW = "torchlens.trace"  # tens of times a step: fewer steps of it


def timed(name: str, others: list[str], rounds: int, warm: int) -> dict[str, Any]:
    """The bare loop and the other configurations, interleaved in this process."""
    import torch

    from benchmarks.peers import configuration
    from benchmarks.step_loops import LOOPS

    torch.set_num_threads(1)
    torch.manual_seed(0)
    (loop,) = [loop for loop in LOOPS if loop.name == name]
    training, chunk = loop.make(), loop.chunk if SLOW not in others else max(loop.chunk // 10, 2)
    chosen = ["bare", *others]
    for word in chosen:
        with configuration(word)(training.model):
            training.run(warm if word.startswith("watched") else SETTLE)
    seconds: dict[str, list[tuple[float, float]]] = {word: [] for word in chosen}
    for _ in range(rounds):
        for word in random.sample(chosen, len(chosen)):
            with configuration(word)(training.model):
                if word == RESTING:
                    spend(SPENT_S)
                training.run(SETTLE)
                begin = time.thread_time(), time.process_time()
                training.run(chunk)
                end = time.thread_time(), time.process_time()
            seconds[word].append(((end[0] - begin[0]) / chunk, (end[1] - begin[1]) / chunk))
    return {word: figures(seconds[word], seconds["bare"]) for word in chosen}


def spend(seconds: float) -> None:
    """Put seconds on the account of the session that runs."""
    from debugtracer import session

    running = session.active()
    if running is not None:
        running.state.own_s += seconds


def figures(times: list[tuple[float, float]], bare: list[tuple[float, float]]) -> dict[str, Any]:
    """Milliseconds of a step and ratios to the bare one, from seconds of thread and process in each round."""
    ratios = [a[0] / b[0] for a, b in zip(times, bare, strict=True)]
    return {
        "ms": round(1e3 * statistics.median(a[0] for a in times), 4),
        "ratio": round(statistics.median(ratios), 3),
        "quartiles": [round(q, 3) for q in statistics.quantiles(ratios, n=4)[::2]] if len(ratios) > 1 else ratios * 2,
        "whole": round(sum(a[0] for a in times) / sum(b[0] for b in bare), 3),
        "process": round(sum(a[1] for a in times) / sum(b[1] for b in bare), 3),
    }


def in_a_process(name: str, others: list[str], args: argparse.Namespace, **settings: str) -> dict[str, Any]:
    """The same in a process of its own: one session, and nothing that a peer left behind."""
    words = ["--child", name, "--with", "/".join(others), "--rounds", str(args.rounds), "--warm", str(args.warm)]
    with tempfile.TemporaryDirectory() as out:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DEBUG_TRACER")}
        environment |= {"DEBUG_TRACER_OUT": out, "DEBUG_TRACER_MODE": "observe", "OMP_NUM_THREADS": "1", **settings}
        done = subprocess.run([sys.executable, __file__, *words], env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}, {', '.join(others)}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
        return {}
    return {
        word: found for word, found in json.loads(done.stdout.splitlines()[-1]).items() if word in ("bare", *others)
    }


def measure(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """All configurations of one loop; the bare step is the one beside the default settings."""
    from benchmarks.peers import WATCHED, installed

    found: dict[str, Any] = {}
    if not args.no_peers and name in BESIDE_PEERS:
        quick = [peer for peer in installed() if peer != SLOW]
        found |= in_a_process(name, quick, args)
        found |= in_a_process(name, [SLOW], args) if SLOW in installed() else {}
    if not args.no_full and has_setting("cost"):
        found |= in_a_process(name, [FULL], args, DEBUG_TRACER_COST="1")
    if has_setting("cost"):
        found |= in_a_process(name, [RESTING], args, DEBUG_TRACER_INSPECT_STEPS="0")
    return found | in_a_process(name, [WATCHED], args)


def has_setting(name: str) -> bool:
    """Whether debug-tracer has this setting: the same script measures commits before it."""
    from debugtracer.settings import Settings

    return name in Settings.__dataclass_fields__


def table(path: Path) -> str:
    """What a kept file says, a section for each commit."""
    lines = []
    for key, result in load(path)["results"].items():
        rows = result["rows"]
        lines += [
            f"{key}, {result['date']}, {result['machine']}",
            "",
            "| steps of | bare, ms | watched / bare | quartiles | whole | process | added, ms | cost 1 | at rest |",
            "|---|---|---|---|---|---|---|---|---|",
            *(row_of(name, row) for name, row in rows.items() if "watched" in row),
            "",
        ]
        beside = {name: row for name, row in rows.items() if any(word in row for word in peer_names(rows))}
        if beside:
            names = peer_names(rows)
            lines += [f"| steps of | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
            lines += [f"| {name} | {' | '.join(ratio(row, word) for word in names)} |" for name, row in beside.items()]
            lines.append("")
    return "\n".join(lines)


def peer_names(rows: dict[str, Any]) -> list[str]:
    """The configurations that are neither bare nor ours."""
    return list(
        dict.fromkeys(word for row in rows.values() for word in row if not word.startswith(("bare", "watched")))
    )


def ratio(row: dict[str, Any], word: str) -> str:
    """A ratio to the bare step, or a dash."""
    return f"{row[word]['ratio']:.2f}" if word in row else "-"


def row_of(name: str, row: dict[str, Any]) -> str:
    """One loop as a row of the table."""
    ours, bare = row["watched"], row["bare"]["ms"]
    low, high = ours["quartiles"]
    cells = [name, f"{bare:.2f}", f"{ours['ratio']:.3f}", f"{low:.3f} .. {high:.3f}", f"{ours['whole']:.3f}"]
    cells += [f"{ours['process']:.3f}", f"{bare * (ours['ratio'] - 1):.3f}", ratio(row, FULL), ratio(row, RESTING)]
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="loops whose name holds one of these words, with commas")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--warm", type=int, default=50, help="watched steps before the first round")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-full", action="store_true", help="without `--cost 1`")
    parser.add_argument("--table", type=Path, help="only print the table of a kept file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--with", dest="others", default="", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.table:
        print(table(args.table))
        return 0
    if args.child:
        print(json.dumps(timed(args.child, args.others.split("/"), args.rounds, args.warm)), flush=True)
        os._exit(0)  # the reports at the end of a watched run are not what is measured
    from benchmarks.step_loops import LOOPS

    wanted = [word for word in args.only.split(",") if word]
    chosen = [loop.name for loop in LOOPS if not wanted or any(word in loop.name for word in wanted)]
    kept: Path | None = None
    for name in chosen:
        row = measure(name, args)
        if "watched" in row:
            kept = add_row(KIND, name, row)
            print(row_of(name, row), flush=True)
    print(table(kept) if kept else f"{args.only}: nothing was measured")
    return int(kept is None)


if __name__ == "__main__":
    sys.exit(main())
