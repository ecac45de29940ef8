"""The command `debug-tracer ui`: the page follows a run that trains, in a real browser."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from debugtracer.commands.app import status
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from tests.browser import PHONE, WIDE, Shown, chromium, missing
from tests.forked import Programs
from tests.views.test_comparison import a_run

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).parent / "programs" / "slow_training.py"


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch, capsys) -> None:
    for name in [m for m in sys.modules if m.split(".")[0] in ("uvicorn",)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert status(["ui", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1
    assert "pip install 'torch-debug-tracer[ui]'" in told.err


def test_a_folder_that_is_not_there_is_said(tmp_path: Path, capsys) -> None:
    assert status(["ui", str(tmp_path / "nowhere")]) == 2
    assert "does not exist; expected a folder of runs" in capsys.readouterr().err


def test_no_ordinary_command_imports_a_server() -> None:
    code = (
        "import sys, debugtracer.commands.ui, debugtracer.commands.report\n"
        "sys.exit(any(m in sys.modules for m in ('uvicorn', 'asyncio', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@contextmanager
def serving(runs: Path, *options: str) -> Iterator[str]:
    """The address of a server of its own, for the with block; ended as a person ends it."""
    try:
        import uvicorn  # noqa: F401
    except ImportError:
        missing("uvicorn")
    command = [sys.executable, "-m", "debugtracer", "ui", str(runs), "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as server:
        assert server.stdout is not None and server.stderr is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGINT)
            told = server.stderr.read()
    assert "Traceback" not in told, told


def environment() -> dict[str, str]:
    """This checkout for the processes of a test."""
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path}


@contextmanager
def training(programs: Programs, runs: Path, mode: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that trains under watch meanwhile."""
    command = [*programs.tool, "run", "--out", str(runs), "--name", "live", "--mode", mode, str(PROGRAM), *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()) as run:
        try:
            yield run
        finally:
            run.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport=WIDE, locale="en-US")
    yield context.new_page()
    context.close()


def step(shown: Shown) -> int:
    """The newest step of the page."""
    return int(shown.text("#timeline output").split("/")[1])


def test_a_run_appears_grows_and_breaks_before_the_eyes_without_a_reload(
    tab: Any, programs: Programs, tmp_path: Path
) -> None:
    with serving(tmp_path) as where:
        shown = Shown(tab, where)
        assert "token" not in tab.url
        assert shown.text(".none b") == "No run yet"
        with training(programs, tmp_path, "observe", "230", "150"):
            tab.locator("a", has_text="live").click(timeout=60_000)
            tab.wait_for_selector("html[data-ready]")
            shown.requests.clear()
            shown.wait_until(lambda: tab.locator("[data-value=loss]").count() == 1)
            first = step(shown)
            assert shown.text(".live b") == "Training"
            assert shown.text("h1") == "Training: nothing bad so far"
            shown.wait_until(lambda: step(shown) > first)
            assert shown.text("output b") == f"step {step(shown)}"  # it follows
            tab.wait_for_selector("[data-fact=op]", timeout=60_000)
            assert shown.text("[data-fact=op]") == "aten::log"
            assert tab.title().startswith("◆ live")
            assert shown.text("output b") == "step 150"
            shown.wait_until(lambda: shown.text(".live b") == "Ended")
        assert {url.split("?")[0].rsplit("/", 1)[1] for url in shown.requests} <= {"live", "stream"}
        assert [url for url in shown.requests if url.endswith("/live")] == []
        assert shown.complaints == []
        assert shown.fits()


def test_pause_resume_and_stop_from_the_page(tab: Any, programs: Programs, tmp_path: Path) -> None:
    with serving(tmp_path, "--control") as where, training(programs, tmp_path, "val", "100000", "-1") as run:
        Shown(tab, where)
        tab.locator("a", has_text="live").click(timeout=60_000)
        pause = tab.get_by_role("button", name="Pause")
        pause.click(timeout=60_000)
        tab.get_by_text("the run obeys where it fetches its next batch").wait_for()
        tab.get_by_role("button", name="Resume").click(timeout=60_000)
        tab.locator(".live b", has_text="Training").wait_for(timeout=60_000)
        stop = tab.get_by_role("button", name="Stop")
        stop.click()
        tab.get_by_role("button", name="Really stop?").click()
        tab.locator(".live b", has_text="Ended").wait_for(timeout=60_000)
        assert run.wait(60) == 3
        assert tab.locator(".live button").count() == 0
    said = [event.action for event in open_trace(tmp_path).events() if type(event).__name__ == "Acted"]
    assert said == ["pause", "resume", "stop"]


def test_without_the_flag_there_is_no_button_and_a_dev_run_says_why_not(tab: Any, tmp_path: Path) -> None:
    create_run(tmp_path, "live", ["train.py"], "dev")
    with serving(tmp_path / "live") as where:
        shown = Shown(tab, where)
        assert shown.text("h1") == "Waiting for the first step"
        assert tab.locator(".live button").count() == 0
    with serving(tmp_path / "live", "--control") as where:
        shown = Shown(tab, where)
        assert tab.get_by_role("button", name="Pause").is_disabled()
        assert "--mode val or prod" in shown.text(".words")
        assert shown.grave() == []


def test_a_deleted_run_and_a_server_that_is_gone_are_said_and_what_was_read_stays(tab: Any, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests" / "stored_runs" / "nan_gradient" / "run", tmp_path / "old")
    shutil.copytree(tmp_path / "old", tmp_path / "older")
    with serving(tmp_path) as where:
        shown = Shown(tab, f"{where.split('?')[0]}run/old?{where.split('?')[1]}")
        op = shown.text("h1")
        shutil.rmtree(tmp_path / "old")
        tab.locator(".live b", has_text="This run was deleted").wait_for(timeout=30_000)
        assert shown.text("h1") == op
        tab.locator("a", has_text="Runs").click()
        tab.wait_for_selector("html[data-ready]")
        assert tab.locator("li .id").all_inner_texts() == ["older"]
        tab.locator("a", has_text="older").click()
        tab.wait_for_selector(".live")
    tab.locator(".live b", has_text="No connection").wait_for(timeout=30_000)
    assert "open the address that it printed" in shown.text(".live")  # a server that is started again has another token
    assert shown.text("h1") == op


def test_a_server_at_the_same_address_is_taken_up_again(tab: Any, tmp_path: Path) -> None:
    """A tunnel that breaks: the browser comes back by itself and is told what changed meanwhile."""
    run = create_run(tmp_path, "live", ["train.py"], "dev")
    with serving(tmp_path) as where:
        shown = Shown(tab, f"{where.split('?')[0]}run/live?{where.split('?')[1]}")
        tab.context.set_offline(True)
        tab.wait_for_timeout(500)
        tab.context.set_offline(False)
        (run / "rank=0").mkdir()
        shutil.copy(ROOT / "tests/stored_runs/nan_gradient/run/rank=0/events.jsonl", run / "rank=0")
        shown.wait_until(lambda: tab.locator(".eyebrow").count() == 1)


def test_the_list_is_searched_by_any_of_its_words_and_fits_a_phone(tab: Any, tmp_path: Path) -> None:
    for name in ("nan_gradient", "loss_spike"):
        shutil.copytree(ROOT / "tests" / "stored_runs" / name / "run", tmp_path / name)
    create_run(tmp_path, "starting", ["<script>alert(1)</script>", "train.py"], "dev")
    tab.set_viewport_size(PHONE)
    with serving(tmp_path) as where:
        shown = Shown(tab, where)
        shown.wait_until(lambda: tab.locator("li").count() == 3)
        assert shown.fits()
        assert shown.grave() == []
        tab.keyboard.press("/")
        tab.keyboard.type("nan_grad")
        assert tab.locator("li .id").all_inner_texts() == ["nan_gradient"]
        tab.keyboard.press("Escape")
        tab.get_by_role("button", name="training").click()
        assert tab.locator("li .id").all_inner_texts() == ["starting"]
        began = time.monotonic()
        create_run(tmp_path, "another", ["train.py"], "dev")
        shown.wait_until(lambda: tab.locator("li").count() == 2)
        assert time.monotonic() - began < 10
        assert shown.complaints == []


def test_two_runs_are_chosen_in_the_list_and_compared(tab: Any, tmp_path: Path) -> None:
    for name, loss in (("one", 0.5), ("two", 0.25), ("three", 0.1)):
        a_run(tmp_path, name, loss=[1.0, loss])
    with serving(tmp_path) as where:
        shown = Shown(tab, where)
        for name in ("one", "two", "three"):
            tab.get_by_label(f"choose {name} to compare", exact=True).check()
        assert shown.text(".both") and not tab.get_by_label("choose one to compare", exact=True).is_checked()
        assert shown.grave() == []
        tab.get_by_role("link", name="Compare", exact=True).click()
        tab.wait_for_selector("[data-series=loss]")
        assert shown.text("h1") == "two and three part at step 1: loss 0.25 and 0.1"
        tab.get_by_role("link", name="open", exact=True).first.click()
        tab.wait_for_selector("#timeline")
        assert tab.url.partition("#")[0].endswith("/run/two")  # the page may have named its step already
    assert shown.complaints == []


@pytest.mark.sweep  # tests/server/test_trial.py tries one without a browser
def test_a_remedy_is_tried_from_the_page_and_its_trial_joins_the_table(
    tab: Any, programs: Programs, tmp_path: Path
) -> None:
    fault = ROOT / "faults" / "numerics" / "masked_attention" / "train.py"
    subprocess.run(
        [*programs.tool, "run", "--out", str(tmp_path), "--name", "masked", str(fault)],
        capture_output=True,
        check=False,
        env=environment(),
    )
    with serving(tmp_path, "--control") as where:
        shown = Shown(tab, where)
        tab.locator("a", has_text="masked").click()
        tab.wait_for_selector(".remedy")
        rows = tab.locator("tr", has=tab.locator(".chip.healed, .chip.persists, .chip.same"))
        before = rows.count()
        assert tab.get_by_role("button", name="Try", exact=True).is_disabled()  # until one is chosen
        tab.get_by_label("remedy", exact=True).focus()
        unable = tab.locator(".remedy optgroup option")
        shown.wait_until(lambda: unable.count() > 0)  # what this step does not allow is not offered
        assert "lower-lr" in unable.evaluate_all("all => all.filter(one => one.disabled).map(one => one.value)")
        tab.get_by_label("remedy", exact=True).select_option("without-sample")
        tab.get_by_role("button", name="Try", exact=True).click()
        shown.wait_until(lambda: rows.count() > before)
        assert "healed" in rows.last.inner_text() and "without-sample" in rows.last.inner_text()
        assert "tried here" in rows.last.inner_text()
        assert shown.grave() == []
        tab.reload()
        tab.wait_for_selector(".remedy")
        assert rows.count() > before  # what was tried here stays
    assert shown.complaints == []
