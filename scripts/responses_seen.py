"""Runs planted faults in modes dev, val and prod and keeps which answers each mode has given, and how often it looked
closely; a table of docs/responses.md is made of it.

    python scripts/responses_seen.py          keeps benchmarks/results/DATE-responses.json
    python scripts/responses_seen.py --check  status 1 where a mode did not give an answer that it offers
    python scripts/responses_seen.py --add    keeps the runs of the newest file, with their commits, and makes others

Each run is the command as a user types it, on a script of faults/; what it did is read from its events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))  # a test loads this file by its path
from kept import keep, newest
from stamp import ROOT

MODES = ("dev", "val", "prod")
ACTING = {"val", "prod"}
OFFERED = {
    "incident": set(MODES),
    "skip-update": ACTING,
    "skip-sample": ACTING,
    "skip-batch": ACTING,
    "clip-harder": ACTING,
    "full-precision": {"prod"},
    "loss-scale": {"prod"},
    "lower-lr": ACTING,
    "roll-back": {"prod"},
    "fresh-moments": {"prod"},
    "note": ACTING,
    "undo": {"prod"},
    "pause": ACTING,
    "stop": set(MODES),
}
"""What may be done about a bad step, the smallest intrusion first, and the modes that offer it."""
HEALTH = "health/Health"
LOOKED_AT = "optimizer/divided_restart"  # its healthy twin makes 450 steps


@dataclass(frozen=True)
class Asked:
    """One run."""

    script: str
    mode: str
    words: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


CHOSEN = {
    "note": ("val", "prod"),
    "lower-lr": ("val", "prod"),
    "clip-harder": ("val", "prod"),
    "fresh-moments": ("prod",),
}
"""Responses that are taken by choice alone, and the modes that offer them."""
RUNS = (
    *(Asked("numerics/masked_attention", mode) for mode in MODES),
    *(Asked("data/decimal_commas", mode) for mode in ("val", "prod")),
    Asked("optimizer/divided_restart", "prod"),
    Asked("optimizer/rate_for_millions", "prod"),
    Asked("numerics/half_claims", "prod"),
    Asked("numerics/gentle_backoff", "prod"),
    *(
        Asked(
            "numerics/masked_attention",
            mode,
            ("--respond", "masked-softmax-all-masked=pause"),
            {"DEBUG_TRACER_PAUSE_S": "2"},
        )
        for mode in ("val", "prod")
    ),
    *(
        Asked("numerics/augmented_batchnorm", mode, ("--respond", f"log-domain={response}"))
        for response, modes in CHOSEN.items()
        for mode in modes
    ),
    # where each of these helps: without it three of them end with a stop, raised_gain with a ruined loss
    Asked("numerics/mended_gradients", "prod", ("--respond", "backward-nan-op=note")),
    Asked("data/settling_gauge", "prod", ("--respond", "data-nonfinite=clip-harder")),
    Asked("data/raised_gain", "prod", ("--respond", "data-nonfinite=lower-lr")),
    Asked("rollback/cut_short_moments", "prod", ("--respond", "silent-data-corruption=fresh-moments")),
)


@dataclass(frozen=True)
class Ran:
    """What a run has left."""

    status: int
    events: list[dict[str, Any]]
    stderr: str = ""

    @property
    def answers(self) -> list[str]:
        """What was done, each once, in order."""
        words = [
            e["action"] if e["type"] == "acted" else "incident"
            for e in self.events
            if e["type"] in ("acted", "incident")
        ]
        if self.status == 3:
            words.append("stop")  # mode dev ends with the verdict: that is no response, and no event of one
        return list(dict.fromkeys(words))

    @property
    def close_looks(self) -> int:
        """Steps whose tensors were all looked at, beside those that an alarm asked for."""
        seen = [e for e in self.events if e["type"] == "observed" and e["word"] == HEALTH]
        return sum(not e["fact"].get("at_alarm") for e in seen)


def ran(script: Path, asked: Asked) -> Ran:
    """One run of a script, from nothing, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="seen-") as folder:
        words = [sys.executable, "-m", "debugtracer", "run", "--mode", asked.mode, "--out", f"{folder}/runs"]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")} | asked.environment
        done = subprocess.run(
            [*words, *asked.words, str(script)],
            cwd=script.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        files = sorted((Path(folder) / "runs" / "latest").resolve().glob("rank=*/events.jsonl"))
        events = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return Ran(done.returncode, events, done.stderr[-3000:])


def table(kept: dict[str, Any]) -> list[list[str]]:
    """A row for each answer: in each mode the scripts in which it was seen, a dash where it is not offered."""
    rows = [[answer, *(cell(kept["runs"], answer, mode) for mode in MODES)] for answer in OFFERED]
    return [*rows, ["close looks", *(str(kept["close_looks"][mode]) for mode in MODES)]]


def cell(runs: list[dict[str, Any]], answer: str, mode: str) -> str:
    """`masked_attention, decimal_commas`, `-` where the mode does not offer it, `not seen` where it did not come."""
    seen = [run["script"].split("/")[1] for run in runs if run["mode"] == mode and answer in run["answers"]]
    return ", ".join(dict.fromkeys(seen)) or ("not seen" if mode in OFFERED[answer] else "-")


def missing(runs: list[dict[str, Any]]) -> list[str]:
    """Answers that a mode offers and that were not seen in it."""
    return [
        f"{answer} in {mode}"
        for answer, modes in OFFERED.items()
        for mode in sorted(modes)
        if cell(runs, answer, mode) == "not seen"
    ]


def earlier() -> list[dict[str, Any]]:
    """The runs of the newest file, each with the commit that it was seen at."""
    kept = newest("responses").values
    return [{"commit": kept["commit"], **run} for run in kept["runs"]]


def main(words: Iterable[str]) -> int:
    """Run all, print and keep what was seen."""
    words = list(words)
    runs: list[dict[str, Any]] = earlier() if "--add" in words else []
    known = [(run["script"], run["mode"], tuple(run["words"])) for run in runs]
    for asked in RUNS:
        if (asked.script, asked.mode, asked.words) in known:
            continue
        done = ran(ROOT / "faults" / asked.script / "train.py", asked)
        runs.append(
            {
                "script": asked.script,
                "mode": asked.mode,
                "words": list(asked.words),
                "status": done.status,
                "answers": done.answers,
            }
        )
        print(runs[-1], flush=True)
    twin = ROOT / "faults" / LOOKED_AT / "healthy.py"
    healthy = {mode: ran(twin, Asked(LOOKED_AT, mode)) for mode in MODES}
    looks = {mode: done.close_looks for mode, done in healthy.items()}
    acted = {mode: Counter(done.answers) for mode, done in healthy.items()}
    print(looks, acted)
    keep("responses", {"close_looks_of": f"{LOOKED_AT}/healthy.py", "close_looks": looks, "runs": runs})
    lacking = missing(runs) + [f"an action on a healthy run in {mode}" for mode, found in acted.items() if found]
    if lacking:
        print(f"not as expected: {', '.join(lacking)}", file=sys.stderr)
    return int(bool(lacking) and "--check" in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
