"""Training in a real Jupyter kernel: watch() late and again, cells run again, stopped, interrupted and failing."""

from __future__ import annotations

import importlib.util
import json
import os
import re

import pytest

if importlib.util.find_spec("ipykernel") is None and os.environ.get("CI") != "true":
    pytest.skip("ipykernel is not installed", allow_module_level=True)

from tests.integrations.kernel import Kernel, Output

SETUP = """import os, signal, torch
from torch import nn
torch.manual_seed(0)
batches = [torch.rand(6, 4) + 0.5 for _ in range(8)]"""

MODEL = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
    def forward(self, x):
        return self.body(x) + torch.log(x)
net = Net(); optimizer = torch.optim.Adam(net.parameters(), lr=0.01)"""

TRAIN = """for x in batches:
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()"""

WATCH = "import debugtracer; w = debugtracer.watch(); w"
BAD = "batches[5] = batches[5].clone(); batches[5][2, 1] = -1.0"
HOOKS = (
    "import torch.nn.modules.module as m; print(len(m._global_forward_hooks), len(m._global_forward_pre_hooks), "
    "torch.optim.Adam.step)"
)
WEIGHTS = "print([p.double().sum().item().hex() for p in net.parameters()], loss.item().hex())"


def html(output: Output) -> str:
    (shown,) = output.shown
    return shown["text/html"]


def text(output: Output) -> str:
    (shown,) = output.shown
    return shown["text/plain"]


def test_a_late_watch_sees_the_bad_step_shows_it_in_the_cell_and_the_kernel_goes_on(tmp_path):
    with Kernel(tmp_path) as kernel:
        for cell in (SETUP, MODEL, TRAIN):
            assert kernel.run(cell).error == ""
        assert "watching, mode dev; nothing was trained yet" in html(kernel.run(WATCH))
        assert kernel.run(TRAIN) == Output()
        assert "watching, mode dev; 8 steps: every loss, gradient and update was finite" in text(
            kernel.run("debugtracer.watch()")
        )
        kernel.run(BAD)
        stopped = kernel.run(TRAIN)
        assert "the loss is not finite at step 13" in html(stopped) and "cell In[2], line 6 in Net.forward" in html(
            stopped
        )
        assert "row 2 of the batch" in html(stopped) and "row 2 of the batch" in text(stopped)
        assert (stopped.stdout, stopped.stderr, stopped.error) == ("", "", "StoppedCell")
        assert stopped.traceback.startswith("debug-tracer stopped this cell") and "\n" not in stopped.traceback
        assert kernel.run("print(w.verdict.kind, w.verdict.file, w.verdict.line)").stdout == "log_domain In[2] 6\n"
        assert "the loss is not finite at step 13" in html(kernel.run("w"))


@pytest.mark.sweep
def test_the_run_after_a_stop_is_another_one_with_steps_of_its_own(tmp_path):
    with Kernel(tmp_path) as kernel:
        for cell in (SETUP, MODEL, WATCH, BAD):
            kernel.run(cell)
        for _ in range(2):
            stopped = kernel.run(TRAIN)
            assert "the loss is not finite at step 5" in text(stopped) and "executed again in place: bitwise" in text(
                stopped
            )
        kernel.run("batches[5] = batches[5].abs()")
        assert kernel.run(TRAIN) == Output()
        assert "8 steps: every loss" in text(kernel.run("w"))
        kernel.run("w.stop()")
        runs = sorted(folder for folder in (tmp_path / "debug-tracer-runs").iterdir() if folder.name != "latest")
        ends = sorted(
            (run["status"], run["stopped_by_tracer"])
            for run in (json.loads((folder / "run.json").read_text()) for folder in runs)
        )
        assert ends == [("ended", False), ("ended", True), ("ended", True)]


def test_watch_again_is_the_same_watch_and_other_keywords_are_another_run(tmp_path):
    with Kernel(tmp_path) as kernel:
        for cell in (SETUP, MODEL, TRAIN):
            kernel.run(cell)
        before = kernel.run(HOOKS).stdout
        kernel.run(WATCH)
        hooked = kernel.run(HOOKS).stdout
        assert hooked.startswith("1 1")
        assert kernel.run("debugtracer.watch() is w").shown == [{"text/plain": "True"}]
        assert kernel.run(HOOKS).stdout == hooked
        kernel.run(BAD)
        assert (
            kernel.run(
                "other = debugtracer.watch(mode='observe'); print(other is w, other.session.settings.mode.value)"
            ).stdout
            == "False observe\n"
        )
        assert kernel.run(TRAIN).error == ""
        assert kernel.run(HOOKS).stdout[:3] in ("1 1", "2 2")  # a glance at the step to come may stand
        assert "the loss is not finite at step 5" in html(kernel.run("other"))
        kernel.run("w.stop(); other.stop()")
        assert kernel.run(HOOKS).stdout == before


def test_a_cell_that_was_edited_and_run_again_is_quoted_as_it_is_now(tmp_path):
    function = "def score(x):\n    y = net.body(x)\n    return y.mean() + torch.log(x).mean()"
    longer = function.replace("    y =", "    # a line more\n    y =").replace("torch.log(x)", "torch.sqrt(x).log()")
    train = TRAIN.replace("net(x).pow(2).mean()", "score(x)")
    with Kernel(tmp_path) as kernel:
        for cell in (SETUP, MODEL, WATCH, BAD):
            kernel.run(cell)
        kernel.run(function, cell="score")
        first = text(kernel.run(train))
        assert "cell In[5], line 3 in score" in first and "torch.log(x).mean()" in first
        kernel.run(longer, cell="score")
        second = text(kernel.run(train))
        assert (
            "cell In[7], line 4 in score" in second and "torch.sqrt(x).log()" in second and "torch.log(x)" not in second
        )
        kernel.run(longer, cell="score")
        assert "cell In[9], line 4 in score" in text(kernel.run(train))


@pytest.mark.sweep
def test_a_model_made_by_the_text_before_an_edit_says_so(tmp_path):
    # the class alone: the model is not made again
    edited = MODEL.replace("torch.log(x)", "torch.log(x.clamp_min(1e-3))").rpartition("\n")[0]
    with Kernel(tmp_path) as kernel:
        for cell in (SETUP, WATCH, BAD):
            kernel.run(cell)
        kernel.run(MODEL, cell="model")
        assert "has been edited" not in text(kernel.run(TRAIN))
        kernel.run(edited, cell="model")
        shown = kernel.run(TRAIN)
        assert "cell In[4], line 6" in html(shown) and "return self.body(x) + torch.log(x)" in html(shown)
        assert (
            "In[4] has been edited and run again as In[6], but the object that ran here was made by the old text"
            in html(shown)
        )


INTERRUPTS = {
    "forward": "net.body.register_forward_hook(lambda *a: tick('forward'))",
    "backward": "net.body.weight.register_hook(lambda g: tick('backward'))",
    "update": "optimizer.register_step_pre_hook(lambda *a: tick('update'))",
}
LEFT = {"forward", "backward"}


@pytest.mark.parametrize(
    "place", [pytest.param(place, marks=[pytest.mark.sweep] * (place in LEFT)) for place in INTERRUPTS]
)
def test_an_interrupt_in_a_step_leaves_training_as_it_would_be_and_no_verdict(tmp_path, place):
    tick = f"""calls = 0
def tick(place):
    global calls
    calls += 1
    if calls == 4:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass
hook = {INTERRUPTS[place]}"""
    told = {}
    for watched in (False, True):
        folder = tmp_path / str(watched)
        folder.mkdir()
        with Kernel(folder) as kernel:
            for cell in (SETUP, MODEL, *([WATCH] if watched else []), tick):
                kernel.run(cell)
            first = kernel.run(TRAIN)
            assert first.error == "KeyboardInterrupt" and not first.shown and not first.stderr
            again = kernel.run(TRAIN)
            assert again == Output()
            told[watched] = kernel.run(WEIGHTS).stdout
            if watched:
                assert "8 steps: every loss" in text(kernel.run("w"))
                kernel.run(BAD)
                assert "the loss is not finite at step 13" in text(kernel.run(TRAIN)), (
                    "the watch goes on after the interrupt"
                )
    assert told[True] == told[False]


def test_a_crash_reads_as_without_us_and_is_recorded(tmp_path):
    wrong = TRAIN.replace("net(x)", "net(x[:, :3] if x is batches[3] else x)")
    told = {}
    for watched in (False, True):
        folder = tmp_path / str(watched)
        folder.mkdir()
        with Kernel(folder) as kernel:
            for cell in (SETUP, MODEL, *([WATCH] if watched else ["0"])):
                kernel.run(cell)
            crashed = kernel.run(wrong)
            assert crashed.error == "RuntimeError"
            twice = kernel.run(TRAIN.replace("loss.backward()", "loss.backward(); loss.backward()"))
            told[watched] = [re.sub(r"ipykernel_\d+", "ipykernel", output.traceback) for output in (crashed, twice)]
            assert "Trying to backward through the graph a second time" in told[watched][1]
            if watched:
                assert "shape_mismatch" in html(crashed) and "cell In[2], line 6" in html(crashed)
                assert kernel.run("1/0").error == "ZeroDivisionError"
                assert kernel.run(TRAIN) == Output(), "a cell that trains nothing ends no run"
    assert told[True] == told[False]


@pytest.mark.sweep
def test_a_cell_that_fails_and_trains_nothing_is_no_crash_of_the_run(tmp_path):
    with Kernel(tmp_path) as kernel:
        for cell in (SETUP, MODEL, WATCH, TRAIN):
            kernel.run(cell)
        run = kernel.run("print(w.run)").stdout
        assert kernel.run("1/0").error == "ZeroDivisionError"
        kernel.run(TRAIN)
        assert kernel.run("print(w.run)").stdout == run and "16 steps" in text(kernel.run("w"))


@pytest.mark.sweep
def test_the_environment_alone_watches_a_kernel_the_same_way(tmp_path):
    with Kernel(tmp_path, DEBUG_TRACER="1") as kernel:
        for cell in (SETUP, MODEL, BAD):
            kernel.run(cell)
        stopped = kernel.run(TRAIN)
        assert stopped.error == "StoppedCell" and "cell In[2], line 6 in Net.forward" in html(stopped)
