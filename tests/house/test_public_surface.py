"""What others build on is frozen: the public names and the options of the command line; a change here is a change for
users."""

from __future__ import annotations

import dataclasses

import pytest

import debugtracer
from debugtracer.commands._group import command
from debugtracer.commands._names import names
from debugtracer.settings import Settings

NAMES = {
    "watch", "track", "derive_seed", "Session", "Mode", "Check", "Finding", "Severity", "Verdict", "open_trace",
    "Settings", "DebugTracerError", "__version__",
}  # fmt: skip
SETTINGS = {
    "out", "name", "mode", "capture", "fail_on", "run_dir", "flush_steps", "flush_s", "run_bytes", "copy_bytes",
    "capsule_bytes", "own_share", "gate", "incidents", "preset", "inspect_steps", "function_tests", "trials", "cost",
    "gate_norms",
    "trials_s", "trial_order", "ring_bytes", "ring_place", "library", "last_good_s", "resume", "resume_step",
    "lr_scale", "fresh_optimizer", "skip_list", "respond", "pause_s", "ranks_s", "webhook", "notify",
    "apprise", "metrics_port", "metrics_host", "alert_token", "otlp",
}  # fmt: skip
OPTIONS = {
    "run": {
        "--out",
        "--name",
        "--mode",
        "--capture",
        "--fail-on",
        "--preset",
        "--cost",
        "--inspect-steps",
        "--function-tests",
        "--trials",
        "--respond",
        "--skip-list",
        "--webhook",
        "--apprise",
        "--metrics-port",
        "--otlp",
        "--help",
    },
    "resume": {"--lr-scale", "--fresh-optimizer", "--out", "--name", "--mode", "--help"},
    "report": {
        "--format",
        "--output",
        "-o",
        "--fail-on",
        "--batch",
        "--layers",
        "--seeds",
        "--recheck",
        "--preset",
        "--option",
        "--help",
    },
    "replay": {"--device", "--dtype", "--eager", "--with", "--json", "--help"},
    "explain": {"--format", "--remember", "--fix", "--prompt", "--with-batch", "--output", "-o", "--help"},
    "doctor": {"--help"},
    "causes": {"--help"},
    "checks": {"--source", "--fail-on", "--format", "--help"},
    "tokenizers": {"--probes", "--format", "--help"},
    "compare": {"--format", "--output", "-o", "--help"},
    "export": {"--to", "--output", "-o", "--follow", "--help"},
    "ui": {"--host", "--port", "--control", "--help"},
}
ARGUMENTS = {
    "run": ["command"],
    "resume": ["run", "command"],
    "causes": ["slug"],
    "explain": ["log"],
    "report": ["run"],
    "replay": ["incident"],
    "doctor": ["run"],
    "checks": ["slug"],
    "tokenizers": ["train", "serve"],
    "ui": ["runs"],
    "export": ["run"],
    "compare": ["left", "right"],
}


def test_the_public_names_are_the_promised_ones() -> None:
    assert set(debugtracer.__all__) == NAMES == {n for n in dir(debugtracer) if n in debugtracer.__all__}


def test_every_public_name_resolves() -> None:
    for name in debugtracer.__all__:
        assert getattr(debugtracer, name) is not None


def test_the_settings_are_the_promised_ones() -> None:
    assert {f.name for f in dataclasses.fields(Settings)} == SETTINGS


def test_the_commands_are_the_promised_ones() -> None:
    assert names() == sorted(OPTIONS)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_command_has_exactly_its_promised_words(name: str) -> None:
    told = command(name)
    parameters = told.get_params(told.make_context(name, [], resilient_parsing=True))
    assert {word for p in parameters for word in p.opts if word.startswith("-")} == OPTIONS[name]
    assert [p.name for p in parameters if not p.opts[0].startswith("-")] == ARGUMENTS[name]
