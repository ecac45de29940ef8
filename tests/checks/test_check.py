"""The contract of checks."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from debugtracer.causes.cause import causes
from debugtracer.checks.check import CLOSEST, HEADINGS, checks, find_check, page
from debugtracer.errors import UsageError
from debugtracer.testing import a_window
from debugtracer.trace.finding import LAYERS
from tests.each import each

EXACT = {
    "optimizer/rate-undefined",
    "data/batch-of-one", "data/class-ignored", "data/fetch-writes", "data/label-range", "data/ragged-samples",
    "data/empty-sample", "data/id-outside", "data/ids-gapped",
    "data/rows-reordered",
    "data/target-out-of-bounds", "data/target-overlap", "data/targets-all-ignored", "data/token-out-of-table",
    "data/targets-unsigned", "data/window-cut-short", "data/worker-copy-stale", "data/worker-rng",
    "device/collective-mismatch", "device/copy-damaged", "device/device-mismatch", "device/exchange-sizes",
    "device/out-of-memory", "device/rank-overlap",
    "device/replica-drift", "device/unfinished-reduction", "device/weight-mutation", "logging/loss-scale-leak",
    "logging/nan-hidden",  "model/equal-units", "model/eval-mode-left", "model/flat-start",
    "model/future-leak", "model/graph-freed", "model/inplace-modified",
    "model/loss-broadcast", "model/loss-misuse", "model/loss-without-graph", "model/shape-mismatch",
    "model/unregistered-params", "numerics/dtype-mismatch", "numerics/half-gradients",
    "optimizer/clip-after-step", "optimizer/clip-before-unscale", "optimizer/double-unscale",
    "optimizer/eps-dtype", "optimizer/lr-zero", "optimizer/missing-params", "optimizer/no-update",
    "optimizer/scaler-update-missing", "optimizer/step-missing", "optimizer/update-undone",
    "optimizer/zero-grad-misplaced", "optimizer/zero-grad-missing", "rollback/ckpt-nonfinite",
    "rollback/file-corrupt", "rollback/file-truncated", "rollback/names-left-out", "rollback/state-dict-mismatch",
    "rollback/state-misplaced",
}  # fmt: skip
AT_END = {
    "data/class-skew", "data/restarted-pass", "model/activation-growth",
    "optimizer/average-lags", "optimizer/constant-answer", "optimizer/plain-tensors",
    "data/channels-reordered", "data/last-batch-short", "data/names-renumbered",
    "model/frozen-by-evaluation", "model/frozen-held", "model/all-frozen",
    "numerics/crash-text", "numerics/crash-values",
    "data/batch-of-one", "data/classes-in-blocks", "data/ctc-lengths", "data/empty-sample", "data/hard-samples",
    "data/id-outside", "data/ids-gapped", "data/loader-bound",
    "data/ragged-samples",
    "data/target-out-of-bounds", "data/target-overlap", "data/targets-unsigned", "data/token-out-of-table",
    "data/class-ignored", "data/fetch-writes", "data/rows-beyond-length", "data/train-eval-overlap",
    "data/window-cut-short", "model/part-unread", "model/targets-unreached",
    "device/device-assert",
    "device/device-mismatch", "device/out-of-memory", "device/unfinished-reduction", "logging/loss-scale-leak",
    "logging/nan-hidden", "logging/postclip-norm", "model/cross-sample-leak", "model/detached-graph",
    "model/eval-mode-left", "model/future-leak", "model/graph-freed", "model/init-scale",
    "model/inplace-modified", "model/input-ignored", "model/loss-misuse", "model/loss-without-graph",
    "model/shape-mismatch", "model/target-in-input", "model/unregistered-params", "numerics/dtype-mismatch",
    "model/fields-share-rows", "model/one-answer", "model/unused-param",
    "numerics/half-gradients", "optimizer/clip-nonfinite", "optimizer/double-unscale", "optimizer/gradient-drift",
    "optimizer/parameter-drift", "optimizer/loss-divergence", "optimizer/loss-spike", "optimizer/metric-oscillation",
    "data/eval-scale", "data/own-scaled", "model/target-shift", "optimizer/group-idle", "optimizer/rate-faded",
    "optimizer/rate-kept", "optimizer/rate-unreached", "optimizer/ends-high", "optimizer/schedule-restarted",
    "model/statistics-lag", "model/statistics-moved",
    "optimizer/warmup-unfinished", "optimizer/weights-swept",
    "optimizer/gradient-missing", "optimizer/gradient-zero", "optimizer/missing-params", "optimizer/update-missing",
    "optimizer/update-ratio", "optimizer/no-update",
    "optimizer/scaler-update-missing", "optimizer/step-missing", "optimizer/zero-grad-missing",
    "rollback/ckpt-incomplete", "rollback/ckpt-nonfinite", "rollback/file-corrupt", "rollback/file-truncated",
    "rollback/names-left-out", "rollback/restore-mismatch", "rollback/skip-budget",
    "rollback/stale", "rollback/state-dict-mismatch", "rollback/state-lost", "rollback/state-misplaced",
    "optimizer/embedding-gradient", "optimizer/second-moment-lag", "model/zero-backward",
}  # fmt: skip


@each("slug", checks())
def test_every_check_has_five_headings_in_order(slug):
    text = page(checks()[slug]).splitlines()
    assert [line for line in text if line in HEADINGS] == list(HEADINGS)


@each("slug", checks())
def test_every_check_is_frozen_lives_in_a_layer_and_needs_something(slug):
    check = checks()[slug]
    assert check.__struct_config__.frozen
    assert check.layer in LAYERS
    assert check.needs


@each("slug", checks())
def test_every_suspect_is_a_cause(slug):
    assert set(checks()[slug].suspects) <= set(causes())


@each("slug", checks())
def test_every_check_is_proved_by_a_planted_fault_or_says_why_not(slug):
    check = checks()[slug]
    fault = Path(__file__).parents[2] / "faults" / check.proved_by
    assert bool(check.proved_by) != bool(check.unproved), "either a planted fault, or why there is none"
    assert check.unproved or ((fault / "train.py").is_file() and (fault / "healthy.py").is_file())


def test_a_check_is_found_by_its_last_part_with_dashes_or_underscores():
    assert find_check("nan_loss") is find_check("numerics/nan-loss")


def test_an_unknown_check_is_one_sentence_with_the_nearest_ones():
    with pytest.raises(
        UsageError,
        match=r"no check is called 'nan-los'; nearest are numerics/nan-loss, .*; `debug-tracer checks` lists all \d+$",
    ):
        find_check("nan-los")


def test_who_may_call_a_verdict_confirmed_and_who_waits_for_the_end_is_decided_on_purpose():
    assert {slug for slug, check in checks().items() if check.exact} == EXACT
    assert {slug for slug, check in checks().items() if check.at_end} == AT_END


@each("slug", checks())
def test_a_diagnosis_is_as_sure_as_a_share_and_an_exact_one_is_surer(slug):
    check = checks()[slug]
    assert 0 < check.confidence <= 1
    assert not check.exact or check.confidence >= 0.6


def test_a_check_keeps_how_close_it_came_and_no_number_that_is_none() -> None:
    check, window = checks()["model/dead-units"], a_window()
    for value in (0.1, 0.4, math.nan, 0.2, math.inf):
        check.measured(window, "share", value, 0.5)
    check.measured(window, "share", 9.0, 0.0)
    (kept,) = window.memories[CLOSEST].values()
    assert (kept.value, kept.limit, kept.share) == (0.4, 0.5, 0.8)
    assert window.memory(check) == {}
    low = checks()["model/vanishing-gradient"]
    for value in (9.0, 2.0, 5.0):
        low.measured(window, "ratio", value, 1.0, below=True)
    assert window.memories[CLOSEST][low.slug].value == 2.0
