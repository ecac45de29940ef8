"""Every plant of faults/programs fits its program: edits apply, places are unique, faulty and cured sources compile,
the truth speaks known words."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.each import each
from tests.faults.scoring import part
from tests.faults.test_planted_faults import LAYERS, ROOT, SYMPTOMS, TELLING, prose

pytest.importorskip("tomllib")  # Python 3.11
reader, truths, marks = part("plants"), part("truths"), part("marks")
PROGRAMS = reader.programs()
PLANTS = list(reader.plants(ROOT / "faults" / "programs"))
OURS = {
    word
    for path in (ROOT / "src" / "debugtracer").rglob("*.py")
    for word in re.findall(r'kind: ClassVar\[.*\] = "(\w+)"', path.read_text())
}
KNOWN = OURS | {"unknown"}
REQUIRED = {"name", "edits", "at", "fixed", "class", "layer", "symptom", "first_bad_step", "cause", "fix"}
OPTIONAL = {
    "symptom_at",
    "accept_at",
    "accept_steps",
    "module",
    "op",
    "also_accept",
    "also_op",
    "sample_index",
    "batch_rows",
    "param",
    "verified",
}


@each("program", PROGRAMS, of=lambda program: program.name)
def test_a_program_has_plants_of_different_names(program: Path) -> None:
    names = [plant.entry["name"] for plant in reader.plants(program)]
    assert len(names) >= 6
    assert len(set(names)) == len(names)


@each("program", PROGRAMS, of=lambda program: program.name)
def test_a_program_is_whole_and_not_long(program: Path) -> None:
    source = (program / "train.py").read_text()
    compile(source, "train.py", "exec")
    assert 60 <= source.count("\n") <= 150
    assert [word for word in prose(source) if word in TELLING] == []


def test_the_zoo_is_large_enough_for_the_issue() -> None:
    assert len(PROGRAMS) >= 10
    assert len(PLANTS) >= 60


@each("plant", PLANTS, of=lambda plant: plant.name)
def test_the_faulty_and_the_cured_program_compile_and_differ(plant: Any) -> None:
    healthy, faulty, cured = (plant.folder / "train.py").read_text(), plant.source(), plant.fixed()
    for source in (faulty, cured):
        compile(source, plant.name, "exec")
    assert faulty not in (healthy, cured)


@each("plant", PLANTS, of=lambda plant: plant.name)
def test_the_places_of_the_truth_are_lines_of_code(plant: Any) -> None:
    truth, lines = plant.truth(), plant.source().splitlines()
    for number in [truth["line"], *truth.get("accept_lines", []), truth.get("symptom_line", truth["line"])]:
        assert lines[number - 1].strip()
        assert not lines[number - 1].strip().startswith("#")


@each("plant", PLANTS, of=lambda plant: plant.name)
def test_the_truth_speaks_known_words(plant: Any) -> None:
    truth = plant.truth()
    assert set(plant.entry) >= REQUIRED
    assert set(plant.entry) <= REQUIRED | OPTIONAL
    assert truth["layer"] in LAYERS
    assert truth["symptom"] in SYMPTOMS
    assert isinstance(truth["first_bad_step"], int)
    assert all(step >= 0 for step in [truth["first_bad_step"], *truth.get("accept_steps", [])])
    assert truth["op"] is None or truth["op"].startswith("aten::")
    assert all(truth[name].strip() for name in ("cause", "fix"))


@each("plant", PLANTS, of=lambda plant: plant.name)
def test_its_class_is_that_of_a_cause_or_a_check_or_unknown(plant: Any) -> None:
    assert {plant.entry["class"], *plant.entry.get("also_accept", [])} <= KNOWN


@each("plant", PLANTS, of=lambda plant: plant.name)
def test_no_word_gives_the_answer_away(plant: Any) -> None:
    words = prose(plant.source())
    assert [word for word in words if word in TELLING] == []
    assert plant.entry["class"] not in words


def test_an_edit_that_is_not_there_is_said_with_its_plant(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("x = 1\nx = 1\n")
    plant = type(PLANTS[0])(tmp_path, {"name": "slip", "edits": [["x = 1", "x = 2"]], "at": "x = 2"})
    with pytest.raises(ValueError, match=r"/slip - 'x = 1' occurs 2 times in train\.py - expected exactly once"):
        plant.source()


def test_the_lines_are_counted_in_the_faulty_program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("a\nb\n")
    plant = type(PLANTS[0])(
        tmp_path,
        {
            "name": "slip",
            "edits": [["b", "c\nd\n"]],
            "at": "d",
            "symptom_at": "c",
            "accept_at": ["a"],
            "class": "unknown",
        },
    )
    truth = plant.truth()
    assert (truth["line"], truth["symptom_line"], truth["accept_lines"]) == (3, 2, [1])
    assert truth["sample_index"] is None


def test_the_board_takes_the_plants_and_the_program_itself_as_their_twin() -> None:
    names = [script.name for script in truths.whole_programs()]
    assert names[-1].endswith(" (healthy)")
    assert len(names) == len(PLANTS) + len(PROGRAMS)
    assert truths.is_wanted("mlp_tabular/empty_cell", ["mlp_tabular"])
    assert truths.is_wanted("mlp_tabular (healthy)", ["mlp_tabular"])
    assert truths.is_wanted("mlp_tabular/empty_cell", ["mlp_tabular/empty_cell"])
    assert not truths.is_wanted("mlp_tabular (healthy)", ["mlp_tabular/empty_cell"])


def test_outside_every_catalogue_being_unsure_is_right() -> None:
    given = {"found": True, "top1": False, "top3": False, "wrong": False}
    said = [
        {},
        {"class": None, "status": "unknown"},
        {"class": "lr_too_high", "status": "possible"},
        {"class": "lr_too_high", "status": "likely"},
    ]
    assert [marks.abstention(given, verdict)["abstained"] for verdict in said] == [True, True, True, False]
    assert "top1" not in marks.abstention(given, {})


def test_one_program_is_printed_by_name() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "plants.py"), PLANTS[0].program, PLANTS[0].entry["name"]]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == PLANTS[0].source()
    assert (
        subprocess.run([*command[:2], "nowhere", "nothing"], capture_output=True, text=True, check=False).returncode
        == 2
    )
