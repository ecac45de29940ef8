"""The command `debug-tracer checks`."""

from __future__ import annotations

import json

import pytest

from debugtracer.checks.check import checks as all_checks
from debugtracer.commands.app import status
from debugtracer.commands.checks import catalogue, lit, one
from debugtracer.errors import UsageError
from debugtracer.trace.finding import LAYERS


def test_the_catalogue_is_a_line_for_each_check_below_its_layer():
    lines = catalogue().splitlines()
    at = {layer: lines.index(layer) for layer in LAYERS if layer in lines}
    assert list(at) == [layer for layer in LAYERS if layer in at]
    (nan_loss,) = [n for n, line in enumerate(lines) if line.split()[:1] == ["numerics/nan-loss"]]
    assert at["numerics"] < nan_loss
    assert lines[nan_loss].endswith("  The loss is NaN or infinite.")
    assert sum(line.startswith("  ") for line in lines) == len(all_checks())


def test_headings_are_bold_and_nothing_else():
    assert lit("Heading\n    text\n\n`command` does\n") == "\x1b[1mHeading\n\x1b[0m    text\n\n`command` does\n"


def test_the_page_of_a_check_is_its_docstring_and_its_suspects():
    text = one("nan-loss")
    assert text.startswith(
        "numerics/nan-loss\n\nThe loss is NaN or infinite.\n\nWhat it catches\n    A loss that is NaN,"
    )
    assert "\nSuspects\n    data-nonfinite, masked-softmax-all-masked," in text


def test_an_unknown_check_is_a_usage_error():
    with pytest.raises(UsageError, match="no check is called 'spike'"):
        one("spike")


def test_a_check_and_a_source_scan_do_not_go_together(tmp_path, capsys):
    assert status(["checks", "nan-loss", "--source", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        "debug-tracer: checks: nan-loss and --source do not go together; `debug-tracer checks nan-loss` shows a check, "
        "--source PATH asks all patterns\n"
    )


def test_a_source_scan_ends_with_0_whatever_it_found_unless_fail_on_is_met(tmp_path, capsys):
    (tmp_path / "train.py").write_text("import torch\nloss = torch.log(torch.softmax(z, 1))\n")
    assert status(["checks", "--source", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "train.py:2 - log of a softmax, torch.softmax(z, 1)" in told and told.endswith(
        "1 warning, 0 notes in 1 file, 2 lines\n"
    )
    assert status(["checks", "--source", str(tmp_path), "--fail-on", "warning"]) == 3
    assert status(["checks", "--source", str(tmp_path), "--fail-on", "error"]) == 0
    assert status(["checks", "--source", str(tmp_path / "none")]) == 2


def test_a_source_scan_is_a_sarif_log_too(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("import torch\nloss = torch.log(torch.softmax(z, 1))\n")
    assert status(["checks", "--source", "train.py", "--format", "sarif"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (hit,) = run["results"]
    assert (hit["ruleId"], hit["level"]) == ("source/log-of-softmax", "warning")
    place = hit["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]) == ("train.py", {"startLine": 2})
    assert status(["checks", "--source", "train.py", "--format", "xml"]) == 2
    assert status(["checks", "--format", "sarif"]) == 2
