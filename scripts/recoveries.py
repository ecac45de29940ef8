"""What mode prod makes of planted faults: scripts that are ruined without us and go on with us, and scripts whose fault
stays and that end with a stop.

    python scripts/recoveries.py [--only NAME,NAME] [--check] [--json FILE]

Each script of RECOVER runs bare, with a hand-written guard (scripts/noted_losses.py) and under `--mode prod`; its final
loss (the mean of the finite ones among the last fifth of its backward calls) is compared with that of its healthy twin.
With --check the status is 1 unless each is within LIMIT of it, and each of LASTING ends with status 3."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))  # a test loads this file by its path
from stamp import stamp

ROOT = Path(__file__).resolve().parent.parent
NOTED = ROOT / "scripts" / "noted_losses.py"
LIMIT = 0.02  # of the final loss of the healthy twin (issue 14)
RECOVER = {
    "data/missing_cell_workers": "a NaN in a sample, from loader workers",
    "data/inplace_standardise": "a flat sample divided by its deviation",
    "numerics/masked_attention": "a row whose mask leaves nothing",
    "numerics/fp16_scores": "scores beyond half precision",
    "numerics/sqrt0_norm": "an infinite derivative of a finite loss",
    "numerics/where_unselected_sqrt": "an infinite derivative in the branch not taken",
    "numerics/function_backward": "a derivative of the user's own",
    "numerics/carried_hidden_state": "a state carried from batch to batch",
    "numerics/accumulated_empty_mask": "one micro-batch of four",
    "numerics/augmented_batchnorm": "running statistics of batch norm",
    "numerics/gan_critic_phase": "one of two optimizers",
    "numerics/trainer_masked_mean": "in Transformers' Trainer",
    "numerics/log0_entropy": "the logarithm of zero in an entropy",
    "numerics/nested_inputs_pooling": "an empty row in nested inputs",
    "numerics/gan_generator_phase": "the other of two optimizers",
    "numerics/tied_temperature": "a temperature that two parts share",
    "numerics/checkpoint_nonreentrant": "inside activation checkpointing",
    "optimizer/normalised_update": "an update of the user's own optimizer",
    "numerics/half_claims": "sixty batches that half precision cannot hold at any scale",
    "numerics/gentle_backoff": "a loss scale that begins far too high and is lowered by 2 % at a time",
    "device/ddp_flipped_moment": "a bit of a moment on one of two ranks (DDP)",
    "numerics/accelerate_bad_shard": "three rows of one shard of eight (accelerate)",
    "data/lightning_unnamed_calls": "a batch whose labels are all ignored (Lightning)",
    "numerics/closed_corridor": "equal rewards, divided by their deviation",
    "numerics/meter_ran_over": "a recurrence that explodes on one sequence",
    "optimizer/divided_restart": "a schedule whose rate is 15,000 times too high for one step",
}
LASTING = {
    "numerics/counted_annealing": "a weight that has counted down to zero",
    "model/smoothed_closed_classes": "infinite logits under label smoothing",
    "optimizer/half_adam_default_eps": "an epsilon that is zero in half precision",
    "rollback/evening_average": "weights that are NaN from the start, by a checkpoint",
    "optimizer/rate_for_millions": "a learning rate that is far too high all the time",
    "data/decimal_commas": "a file whose every row is NaN",
    "data/dead_channel": "a deviation that is zero in every sample",
    "numerics/closed_prior": "the logarithm of zero for every sample",
    "model/init_in_wide_units": "initial weights that overflow",
    "numerics/pairwise_radius": "an infinite derivative at every step",
    "numerics/half_twin_distance": "a GradScaler that collapses for ever",
    "numerics/rare_event_weight": "a loss that is NaN by construction",
    "numerics/upper_mask": "every batch masked out",
}


@dataclass
class Ran:
    """What one run of a script came to."""

    status: int
    losses: list[float]
    actions: list[str] = field(default_factory=list)
    stderr: str = ""
    causes: list[str] = field(default_factory=list)

    @property
    def final(self) -> float:
        """The mean of the finite losses of the last fifth; NaN where there are none, or the run ended early."""
        last = self.losses[-max(1, len(self.losses) // 5) :]
        known = [loss for loss in last if math.isfinite(loss)]
        return sum(known) / len(known) if known else math.nan


@dataclass(frozen=True)
class Tools:
    """The words that start a program, and debug-tracer."""

    python: Sequence[str] = (sys.executable,)
    tool: Sequence[str] = (sys.executable, "-m", "debugtracer")


def run(script: Path, how: str, tools: Tools) -> Ran:
    """Run one script bare (`plain`), with a guard (`guarded`, `lightning`) or under mode `prod`, in its own folder."""
    with tempfile.TemporaryDirectory(prefix="recovery-") as folder:
        work = Path(folder)
        watched = [*tools.tool, "run", "--mode", "prod", "--out", str(work / "runs")]
        start = watched if how == "prod" else list(tools.python)
        words = [*start, str(NOTED), str(work / "losses.json"), "plain" if how == "prod" else how, str(script)]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
        environment["PYTHONPATH"] = str(ROOT / "src")
        done = subprocess.run(
            words, cwd=script.parent, env=environment, capture_output=True, text=True, timeout=240, check=False
        )
        noted = work / "losses.json"
        losses = (json.loads(noted.read_text()) if noted.exists() else []) or printed(done.stdout)
        seen = events(work / "runs")
        done_about = [event["action"] for event in seen if event["type"] == "acted"]
        causes = [event["verdict"]["class"] for event in seen if event["type"] == "incident"]
        return Ran(done.returncode, losses, done_about, done.stderr[-4000:], causes)


def printed(stdout: str) -> list[float]:
    """The losses that a script of several processes prints, step by step: each process of it has backward calls."""
    return [float(loss) for loss in re.findall(r"step \d+ loss (\S+)", stdout)]


def events(runs: Path) -> list[dict[str, Any]]:
    """What stands in the run folder, in order."""
    found = sorted((runs / "latest").resolve().glob("rank=*/events.jsonl")) if runs.exists() else []
    return [json.loads(line) for file in found for line in file.read_text().splitlines()]


def scripts_of(name: str) -> tuple[Path, Path]:
    """The script with the fault and its healthy twin."""
    folder = ROOT / "faults" / name
    return folder / "train.py", folder / "healthy.py"


def recovery(name: str, tools: Tools, others: bool = True) -> dict[str, Any]:
    """One row: final losses of the healthy twin and under prod and, with `others`, bare and guarded."""
    faulty, healthy = scripts_of(name)
    twin, ours = run(healthy, "plain", tools), run(faulty, "prod", tools)
    row: dict[str, Any] = {
        "name": name,
        "healthy": twin.final,
        "prod": ours.final,
        "off": abs(ours.final - twin.final) / abs(twin.final),
        "actions": ours.actions,
        "status": ours.status,
        "stderr": ours.stderr,
    }
    if others:
        bare, guarded = run(faulty, "plain", tools), run(faulty, "guarded", tools)
        row |= {"bare": bare.final if not bare.status else math.nan, "bare_status": bare.status}
        row |= {"guarded": guarded.final if not guarded.status else math.nan, "guarded_status": guarded.status}
        if "import lightning" in faulty.read_text():
            row["lightning_status"] = run(faulty, "lightning", tools).status
    return row


WITHOUT_US = ("bare", "bare_status", "guarded", "guarded_status", "lightning_status")


def without_us(earlier: Path | None) -> dict[str, dict[str, Any]]:
    """What scripts came to without us, by their names, as an earlier file has it."""
    rows = json.loads(earlier.read_text())["recoveries"] if earlier is not None else []
    found = {row["name"]: {key: row[key] for key in WITHOUT_US if key in row} for row in rows}
    return {name: {k: float(v) if v == "NaN" else v for k, v in row.items()} for name, row in found.items() if row}


def lasting(name: str, tools: Tools) -> dict[str, Any]:
    """One row of a fault that stays: how the run ended under prod."""
    ours = run(scripts_of(name)[0], "prod", tools)
    return {
        "name": name,
        "status": ours.status,
        "actions": ours.actions,
        "backwards": len(ours.losses),
        "verdict": ours.causes[-1] if ours.causes else "",
        "stderr": ours.stderr,
    }


def shown(row: dict[str, Any]) -> str:
    """One line of the table."""
    told = ", ".join(f"{row['actions'].count(slug)} {slug}" for slug in dict.fromkeys(row["actions"]))
    cells = [row["name"], RECOVER[row["name"]], *(f"{row[key]:.4g}" for key in ("healthy", "bare", "guarded", "prod"))]
    return f"| {' | '.join(cells)} | {row['off']:.2%} | {told} |"


def strict(value: Any) -> Any:
    """A value for JSON, which knows no NaN."""
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def write(path: Path | None, kept: dict[str, list[dict[str, Any]]]) -> None:
    """Keep the rows so far: what is broken off half way has what it came to."""
    if path is None:
        return
    rows = {
        kind: [{k: strict(v) for k, v in row.items() if k != "stderr"} for row in found] for kind, found in kept.items()
    }
    path.write_text(json.dumps({**stamp(), **rows}, indent=1) + "\n")


def main() -> int:
    """Status 1 where --check is given and a script does not do what it has to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--without-lasting", action="store_true", help="leave out the faults that stay")
    parser.add_argument(
        "--bare-from", type=Path, help="take what runs without us from an earlier file, where that has the script"
    )
    parser.add_argument(
        "--json", type=Path, help="keep the rows in this file (benchmarks/results/DATE-recoveries.json)"
    )
    asked = parser.parse_args()
    only = set(filter(None, asked.only.split(",")))
    tools, failed = Tools(), list[str]()
    earlier = without_us(asked.bare_from)
    kept: dict[str, list[dict[str, Any]]] = {"recoveries": [], "lasting": []}
    print("| script | what goes wrong | healthy | bare | `if isnan: continue` | `--mode prod` | off | actions |")
    print("|---|---|---|---|---|---|---|---|")
    for name in [n for n in RECOVER if not only or n in only]:
        row = recovery(name, tools, others=name not in earlier) | earlier.get(name, {})
        print(shown(row), flush=True)
        kept["recoveries"].append(row)
        write(asked.json, kept)
        failed += [name] if not row["off"] <= LIMIT or row["status"] else []
    print("\n| script | what stays | verdict | backward calls | status | actions |\n|---|---|---|---|---|---|")
    for name in [n for n in LASTING if not asked.without_lasting and (not only or n in only)]:
        row = lasting(name, tools)
        ended = f"{row['verdict']} | {row['backwards']} | {row['status']} | {', '.join(row['actions'])}"
        print(f"| {name} | {LASTING[name]} | {ended} |", flush=True)
        kept["lasting"].append(row)
        write(asked.json, kept)
        failed += [name] if row["status"] != 3 else []
    if failed:
        print(f"not as expected: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed and asked.check else 0


if __name__ == "__main__":
    sys.exit(main())
