"""The verdict of real faults, word for word: what a person reads at 80 columns, trials and change of the line included.
Numbers may differ as processors do.

python -m tests.end_to_end.test_verdict_texts --write [LAYER/FAULT ...]   renews the texts, all of them or these
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.forked import Programs, programs
from tests.same_words import assert_same

ROOT = Path(__file__).resolve().parents[2]
TEXTS = Path(__file__).with_name("texts")
FAULTS = (
    "numerics/sqrt0_norm",
    "numerics/log0_entropy",
    "numerics/masked_attention",
    "numerics/layer_norm_no_eps",
    "numerics/fp16_scores",
    "numerics/half_model",
    "numerics/where_unselected_sqrt",
    "numerics/acos_identical",
    "data/inplace_standardise",
    "data/unlabelled_batch",
    "data/missing_cell_workers",
    "data/flat_patches",
    "numerics/quiet_clips",
    "data/foreign_batch",
    "optimizer/bike_hire",
    "optimizer/half_adam_default_eps",
)
SPIKES = frozenset({"data/foreign_batch"})
"""Every number of their trials depends on the step of the snapshot, and that on what a snapshot cost on this
machine."""
FROM_SNAPSHOT = frozenset({"optimizer/bike_hire"})
"""The same of their numbers alone: as many steps are tried as there are since a snapshot."""
SETTINGS = {
    "COLUMNS": "80",
    "OMP_NUM_THREADS": "1",  # another number of threads rounds other bits
    "DEBUG_TRACER_TRIALS_S": "300",  # a busy machine tries as many things as an idle one
}
TIMES = re.compile(r"verdict\s+\S+\s+s\s+after\s+the\s+alarm(;\s+traced,\s+the\s+step\s+took\s+\S+\s+as\s+long)?")
# how old depends on what snapshots cost
OLDER = re.compile(r"(  older-weights=\d+ +(?:not )?healed: .+?); loss .+?(?=\n  \S)", re.DOTALL)
# its trials begin at a snapshot
SPIKE = re.compile(r"(\nWhat was tried on this step\n).+?(?=\nWhat to do\n)", re.DOTALL)
TRIED = re.compile(r"(?<=\nWhat was tried on the last steps\n).+(?=\nLook closer\n)", re.DOTALL)
NUMBER = re.compile(r"(?<= )\d[\d.e+-]*\d|(?<= )\d\b(?!\.)")
LAYERS = "\nLayers\n"  # what follows is the state of all checks and the cost


def told(fault: str, folder: Path, programs: Programs) -> str:
    """What `report` says of a real run of the fault, without what differs from machine to machine."""
    shutil.copy(ROOT / "faults" / fault / "train.py", folder)
    tool, env = programs.tool, os.environ | SETTINGS
    watched = [*tool, "run", "--out", "runs", "--name", "run", "train.py"]
    # its status is that of the fault
    subprocess.run(watched, cwd=folder, env=env, capture_output=True, timeout=400, check=False)
    shown = subprocess.run(
        [*tool, "report", "runs/run"], cwd=folder, env=env, capture_output=True, text=True, timeout=100, check=False
    )
    return of_any_snapshot(normalised(shown.stdout, fault in SPIKES), fault) or shown.stderr


def normalised(text: str, spike: bool = False) -> str:
    """Without what a busy machine changes, however it is wrapped: durations, slowdowns, numbers that start from a
    snapshot; without the state of the layers."""
    text = OLDER.sub(r"\1; NUMBERS", TIMES.sub("verdict TIME after the alarm", text))
    return (SPIKE.sub(r"\1  TRIALS\n", text) if spike else text).split(LAYERS)[0]


def of_any_snapshot(text: str, fault: str) -> str:
    """Without the numbers of trials that begin at a snapshot, where the fault is one of these."""
    if fault not in FROM_SNAPSHOT:
        return text
    return TRIED.sub(lambda tried: NUMBER.sub("N", tried.group()), text)


def path(fault: str) -> Path:
    """Where its text is kept."""
    return TEXTS / f"{fault.partition('/')[2]}.txt"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_verdict_reads_word_for_word(fault: str, tmp_path: Path, programs: Programs) -> None:
    assert_same(
        of_any_snapshot(path(fault).read_text(), fault),
        told(fault, tmp_path, programs),
        f"meant? python -m tests.end_to_end.test_verdict_texts --write {fault}",
    )


def test_only_what_differs_between_machines_is_taken_out() -> None:
    wrapped = (
        "in place: bitwise; verdict 0.042\n     s after the alarm; traced, the step took\n     2.04x as "
        "long\nrest\n\nLayers\n  data  silent"
    )
    assert normalised(wrapped) == "in place: bitwise; verdict TIME after the alarm\nrest\n"
    assert normalised("verdict 5 s after the alarm") == "verdict TIME after the alarm"
    older = "  older-weights=1    not healed: the weights before; {}\n  shown  it"
    assert normalised(
        older.format("loss 4.3,\n                     gradients not finite; so the last updates")
    ) == older.format("NUMBERS")
    spike = "a\nWhat was tried on this step\n  unchanged  loss 7\n\nWhat to do\n  1. look"
    assert normalised(spike) == spike
    assert normalised(spike, spike=True) == "a\nWhat was tried on this step\n  TRIALS\n\nWhat to do\n  1. look"
    assert normalised("loss 4.086 at train.py:82") == "loss 4.086 at train.py:82"


def write(faults: list[str]) -> None:
    """Run these faults and keep what is said."""
    TEXTS.mkdir(exist_ok=True)
    for fault in faults or FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            path(fault).write_text(told(fault, Path(folder), programs()))
            print(f"wrote {path(fault).relative_to(ROOT)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(f"{__doc__}")
    write(sys.argv[2:])
