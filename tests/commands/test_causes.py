"""The command `debug-tracer causes`."""

from __future__ import annotations

from debugtracer.causes.cause import causes as all_causes
from debugtracer.commands.app import status
from debugtracer.commands.causes import catalogue, one
from debugtracer.trace.finding import LAYERS


def test_the_catalogue_is_a_line_for_each_cause_below_its_layer():
    lines = catalogue().splitlines()
    at = [lines.index(layer) for layer in LAYERS]
    assert at == sorted(at)
    (log_domain,) = [n for n, line in enumerate(lines) if line.split()[:1] == ["log-domain"]]
    assert at[LAYERS.index("numerics")] < log_domain < at[LAYERS.index("logging")]
    assert lines[log_domain].endswith("  The logarithm of zero or of a negative number, also 0 * log(0).")
    assert sum(line.startswith("  ") for line in lines) == len(all_causes())


def test_the_page_of_a_cause_says_what_speaks_for_it_what_proves_it_and_what_to_do():
    text = one("stale-gradients")
    assert text.startswith(
        "stale-gradients\n\nGradients are not cleared between updates.\n\nClass\n    stale_gradients, optimizer "
        "layer\n\nWhat it is\n    backward adds to"
    )
    assert "\nChecks that name it\n    optimizer/objectives-mixed\n    optimizer/zero-grad-missing\n" in text
    assert "\nProved when this heals the step, narrowest first\n    one-line-fix\n" in text
    assert "\nWhat to do\n    optimizer.zero_grad() before the first backward of each update\n" in text


def test_the_command_shows_a_cause_by_its_class_too_and_an_unknown_one_is_a_usage_error(capsys):
    assert status(["causes", "log_domain"]) == 0
    assert capsys.readouterr().out.startswith("log-domain\n")
    assert status(["causes", "log-domian"]) == 2
    assert "debug-tracer: no cause is called 'log-domian'; nearest are log-domain" in capsys.readouterr().err
