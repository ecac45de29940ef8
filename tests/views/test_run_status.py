"""How a run stands, from its folder."""

from __future__ import annotations

import torch

import debugtracer
from debugtracer.views.run_status import RunStatus, run_status
from tests.watching import LogHead, batches, seeded, train


def test_nothing_trained_yet():
    assert run_status(None, "dev", watching=True).text == "debug-tracer: watching, mode dev; nothing was trained yet"
    assert run_status(None, "dev", watching=False).text == "debug-tracer: not watching; nothing was trained yet"


def test_a_run_that_goes_on_tells_its_steps_and_afterwards_that_it_was_finite(tmp_path):
    with debugtracer.watch(out=tmp_path, mode="observe") as watch:
        train(seeded(LogHead), batches(6))
        assert (
            repr(watch) == "debug-tracer: watching, mode observe; 6 steps: every loss, gradient and update was finite"
        )
        assert watch.verdict is None
    assert repr(watch) == "debug-tracer: 6 steps: every loss, gradient and update was finite"


def test_the_verdict_of_a_bad_step_stands_before_all_else(tmp_path):
    with debugtracer.watch(out=tmp_path, mode="observe") as watch:
        train(seeded(LogHead), batches(6, bad=3))
        assert watch.verdict is not None and watch.verdict.kind == "log_domain" and watch.verdict.step == 3
        bundle = watch._repr_mimebundle_()
    assert (
        "log takes the logarithm of -1" in bundle["text/html"]
        and "log takes the logarithm of -1" in bundle["text/plain"]
    )
    assert watch._repr_html_() == bundle["text/html"]


def test_a_verdict_that_comes_from_a_finding(tmp_path):
    with debugtracer.watch(out=tmp_path, mode="observe") as watch:
        model = seeded(lambda: torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x in batches(30):
            model(x).pow(2).mean().backward()
            optimizer.step()
    assert watch.verdict is not None and watch.verdict.kind == "stale_gradients"
    assert "stale gradients (confirmed)" in watch._repr_html_() and "loss.backward" not in repr(watch)


def test_a_folder_that_cannot_be_read_is_one_line(tmp_path):
    with debugtracer.watch(out=tmp_path, mode="observe") as watch:
        train(seeded(LogHead), batches(2))
    (tmp_path / "latest" / "run.json").write_text("no json")
    assert "cannot be read" in repr(watch) and "cannot be read" in watch._repr_html_()
    assert RunStatus.unread(None, ValueError("<b>")).html.count("<b>") == 0
