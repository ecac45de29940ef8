"""Verdicts on failures: planted faults, reconstructions of reported ones, plants of whole programs; silence on twins
and healthy programs. A fixed part on every commit, all of them in `just sweep`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from debugtracer.checks.check import checks
from tests.faults.every import SWEEP, fixed, spread
from tests.faults.scoring import part
from tests.forked import Programs

ROOT = Path(__file__).resolve().parents[2]
PEERS = ["numerics/masked_attention", "numerics/fp16_scores", "numerics/log0_entropy", "numerics/sqrt0_norm"]
CASES = ["demand_log_rate", "energy_csv_mlp", "face_siamese_contrastive", "half_textcnn_adam", "lightning_loan_default",
         "ner_bilstm_tagger",
         "review_transformer_encoder", "trainer_rare_intents", "denoiser_fp16_scaler", "garments_resnet",
         "pointer_masked_scores"]  # fmt: skip
FINITE = ["adding_problem_rnn", "augment_workers_crops", "charlm_shards", "ddp_tabular_shuffle",
          "finetune_flowers_head", "pointcloud_tail_batch",
          "qa_warmup_lambda", "resume_fresh_optimizer", "shapes_cnn", "thumbnails_slow_io", "unet_amp_clip",
          "wine_mlp_probabilities"]  # fmt: skip
# found; the guilty line (what a column holds, where a model was cast, a weight was made) is not seen
LINE_UNKNOWN = {
    "model/target_column",
    "numerics/pure_bfloat16",
    "model/bus_delays",
    "device/ddp_flipped_moment",
    "optimizer/tide_tables",  # a rate written into param_groups calls nothing of torch
}
TIMED = {"slow_dataloader", "ddp_rank_skew"}  # what a busy machine can change: seen once in three runs
# the share of a step that a copy may take: on a busy machine 0.02 is soon passed, and copies stop
COPIED = {"device/flipped_exponent": "0.5"}
# a scaler, a recurrence, two optimizers, a restart, norms
HEALTHY = ["amp_calibration", "char_rnn", "gan", "resume", "tiny_batch_bn", "wgan_penalty"]
# which a busy machine can miss, since parts of ours rest there: only in the sweep
PACED = {
    "device/flipped_exponent", "model/restless_logits", "optimizer/rewarded_weights", "optimizer/steel_grades",
    "optimizer/berth_messages",
}  # fmt: skip
STARTS_PROCESSES = ("mp.spawn", "mp.start_processes")
DEAR = {"unet_amp_clip"}  # ten times as long as the other cases: only in the sweep
FROM_NOTHING = "mp.spawn"  # so are their ranks started, and so are they
RANKS = "device/ddp_inner_module"  # the one with ranks that a commit runs
REAL_TOOL = [sys.executable, "-m", "debugtracer"]
marks, truths = part("marks"), part("truths")
PLANTED = {script.name: script for script in truths.planted()}
FAULTS = [name for name, script in PLANTED.items() if not script.is_healthy]
PROVES: dict[str, list[str]] = {}
"""Fault -> the checks whose page says that it proves them."""
for check in checks().values():
    PROVES.setdefault(check.proved_by, []).append(check.slug)
# all its options are off by default
OFF = {"optimizer/long_recurrence": "model/gradient-limits", "optimizer/tiny_loss_scale": "optimizer/moment-limits"}
for fault, slug in OFF.items():
    PROVES[fault].remove(slug)
PROGRAMS = {script.name: script for script in truths.whole_programs()}
QUICK = ["autoencoder", "diffusion_points", "gan_points", "gpt_chars", "rnn_chars", "autoencoder (healthy)",
         "mlp_tabular (healthy)"]  # fmt: skip
"""Whole programs of a few seconds, first plants and twins."""


def is_quick(name: str) -> bool:
    """Whether a commit can run it: a busy machine changes nothing, and no ranks are started, but once."""
    return name not in PACED and (name == RANKS or not any(word in text(PLANTED[name]) for word in STARTS_PROCESSES))


def text(script: Any) -> str:
    return str(script.source or (script.folder / script.file).read_text())


# what the last whole run of the board had right; only a program that was never scored is asked for nothing
RIGHT = {
    row.script
    for title in (truths.LEARNT, truths.HELD_OUT)
    for row in part("results").newest_rows().get("full", {}).get(title, [])
    if row.script in PROGRAMS and not marks.missed(PROGRAMS[row.script], row.marks)
}
COMMIT = [name for name in fixed(FAULTS, 10, [*PEERS, RANKS, *spread(FAULTS)]) if SWEEP or is_quick(name)]
STILL = [name for name in spread([name for name in FAULTS if is_quick(name)]) if name not in PEERS]
TWINS = [f"{name} (healthy)" for name in (FAULTS if SWEEP else [*PEERS, *STILL])]


@pytest.fixture(scope="session")
def scorer(shared_cases: Path) -> ModuleType:
    """The functions of ../shared/tools/score_cases.py."""
    program = part("case_tests").SCORER
    module = marks.load_scorer(program)
    assert module is not None, f"{program} is missing"
    return module


def wrong(script: Any, scorer: ModuleType, programs: Programs) -> tuple[list[str], Any]:
    """The marks that must be right and are not, and the whole row."""
    row = marks.judge(script, scorer, REAL_TOOL if FROM_NOTHING in text(script) else programs.tool, 400.0, None)
    return [mark for mark in row.wrong if not (mark == "line" and script.name in LINE_UNKNOWN)], row


@pytest.mark.parametrize("name", COMMIT)
def test_a_planted_fault_has_its_verdict(
    name: str, scorer: ModuleType, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in COPIED:
        monkeypatch.setenv("DEBUG_TRACER_OWN_SHARE", COPIED[name])
    found, row = wrong(PLANTED[name], scorer, programs)
    for _ in range(2 if PLANTED[name].truth["class"] in TIMED else 0):
        if found:
            found, row = wrong(PLANTED[name], scorer, programs)
    assert not found, row
    assert set(PROVES.get(name, ())) <= set(row.fired), f"{name} is said to prove a check that is silent on it: {row}"


@pytest.mark.parametrize("name", TWINS)
def test_its_healthy_twin_is_silent(name: str, scorer: ModuleType, programs: Programs) -> None:
    found, row = wrong(PLANTED[name], scorer, programs)
    assert not found, row


@pytest.mark.parametrize("name", [name for name in fixed([*CASES, *FINITE], 4) if SWEEP or name not in DEAR])
def test_the_reconstruction_of_a_reported_failure_has_its_verdict(
    name: str, scorer: ModuleType, programs: Programs
) -> None:
    (script,) = [case for case in truths.cases() if case.name == name]
    found, row = wrong(script, scorer, programs)
    assert not found, row


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "healthy").glob("*.py")) if SWEEP else HEALTHY)
def test_a_healthy_but_nasty_program_is_silent(name: str, programs: Programs) -> None:
    run = part("false_alarms").watch(name, 0, None, programs.tool)
    assert (run.loud, run.status, run.problem) == ([], 0, ""), run


@pytest.mark.parametrize("name", list(PROGRAMS) if SWEEP else QUICK)
def test_a_program_is_judged_as_well_as_it_was(name: str, scorer: ModuleType, programs: Programs) -> None:
    name = name if name in PROGRAMS else next(one for one in PROGRAMS if one.startswith(f"{name}/") and one in RIGHT)
    found, row = wrong(PROGRAMS[name], scorer, programs)
    if name in RIGHT:
        assert not found, row
    assert "wrong" not in found, f"confirmed, and another class: {row}"


@pytest.mark.sweep
def test_with_its_cause_switched_off_the_gate_is_red(scorer: ModuleType, tmp_path: Path) -> None:
    """The class is demanded: a library without this cause finds the op and the line all the same."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "src" / "debugtracer" / "causes" / "log_domain.py").unlink()
    tool = ["env", f"PYTHONPATH={tmp_path / 'src'}", *REAL_TOOL]
    row = marks.judge(PLANTED["numerics/log0_entropy"], scorer, tool, 400.0, None)
    assert row.marks["op"] and row.marks["sline"]
    assert "top1" in row.wrong, row


@pytest.mark.parametrize("fault", OFF)
def test_a_check_that_is_off_by_default_is_proved_with_the_limits_of_the_articles(
    fault: str, scorer: ModuleType, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBUG_TRACER_PRESET", "seed")
    row = wrong(PLANTED[fault], scorer, programs)[1]
    assert OFF[fault] in row.fired, row
