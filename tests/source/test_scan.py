"""Files below a path, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.source.scan import fails, files, of_text, report, scan

BAD = "import torch\nloss = torch.log(torch.sigmoid(z))\n"
ROOT = Path(__file__).resolve().parents[2]


def test_hidden_folders_environments_and_builds_are_left_out(tmp_path):
    for name in (
        "a.py",
        "sub/b.py",
        ".git/c.py",
        "venv/d.py",
        "site-packages/e.py",
        "mine/pyvenv.cfg",
        "mine/f.py",
        "note.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(BAD)
    assert [str(f.relative_to(tmp_path)) for f in files(tmp_path)] == ["a.py", "sub/b.py"]
    found = scan(tmp_path)
    assert (found.files, found.lines, len(found.hits), found.unread) == (2, 4, 2, [])


def test_a_file_that_cannot_be_parsed_is_named_and_the_rest_is_read(tmp_path):
    (tmp_path / "old.py").write_text("print 'python 2'\n")
    (tmp_path / "new.py").write_text(BAD)
    found = scan(tmp_path)
    assert [Path(name).name for name in found.unread] == ["old.py"] and len(found.hits) == 1
    assert "old.py - not read: no Python that 3." in report(found)


def test_a_file_without_torch_is_not_looked_at():
    assert of_text(Path("a.py"), BAD.replace("import torch\n", "from mine import torch\n").encode()) == []


def test_a_generated_expression_of_thousands_of_terms_does_not_end_the_scan(tmp_path):
    (tmp_path / "a.py").write_text("import torch\nx = torch.log(" + " + ".join(["y"] * 20_000) + ")\n")
    (tmp_path / "b.py").write_text(BAD)
    assert len(scan(tmp_path).hits) == 1


def test_code_is_never_executed(tmp_path):
    (tmp_path / "a.py").write_text(f"import torch\nopen({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(9)\n")
    assert scan(tmp_path).hits == [] and not (tmp_path / "ran").exists()


def test_the_report_is_a_line_a_hit_and_the_counts(tmp_path):
    (tmp_path / "a.py").write_text(BAD)
    first, last = report(scan(tmp_path)).splitlines()
    assert first.startswith(f"{tmp_path}/a.py:2 - log(") and first.endswith("[log-unguarded, warning]")
    assert last == "1 warning, 0 notes in 1 file, 2 lines"


def test_fail_on(tmp_path):
    (tmp_path / "a.py").write_text(BAD)
    found = scan(tmp_path)
    assert [fails(found, word) for word in ("off", "note", "warning", "error")] == [False, True, True, False]
    with pytest.raises(UsageError, match="--fail-on all: expected off, note, warning, error"):
        fails(found, "all")


@pytest.mark.parametrize(
    ("name", "says"),
    [("none", "no such file or folder"), ("a.txt", "expected a .py file"), ("empty", "no .py file below it")],
)
def test_nothing_to_scan_is_a_usage_error(name, says, tmp_path):
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=says):
        scan(tmp_path / name)


FOUND = {
    "data": ("inplace_standardise",),
    "numerics": (
        *(
            "accelerate_unit_vectors",
            "accumulated_empty_mask",
            "acos_identical",
            "bf16_autocast_exp",
            "checkpoint_nonreentrant",
            "checkpoint_reentrant",
        ),
        *(
            "chunked_loss_list",
            "compiled_angle",
            "counted_annealing",
            "fp16_scaler_empty_mask",
            "gan_critic_phase",
            "gan_generator_phase",
            "guarded_break",
        ),
        *(
            "guarded_continue",
            "guarded_raise",
            "layer_norm_no_eps",
            "log0_entropy",
            "nested_inputs_pooling",
            "sqrt0_norm",
            "trainer_masked_mean",
        ),
        "where_unselected_sqrt",
    ),
    "optimizer": ("normalised_update",),
}


@pytest.mark.parametrize("fault", [f"{layer}/{name}" for layer, names in FOUND.items() for name in names])
def test_the_guilty_line_of_a_planted_fault_is_hit(fault):
    folder = ROOT / "faults" / fault
    truth = json.loads((folder / "truth.json").read_text())
    found = of_text(folder / "train.py", (folder / "train.py").read_bytes())
    assert found is not None and truth["line"] in {hit.line for hit in found}
