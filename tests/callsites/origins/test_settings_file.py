"""The line of a settings file that gives a key its number."""

from __future__ import annotations

import pytest

from debugtracer.callsites.origins.settings_file import settings_line, settings_lines

FILES = {
    "spec.json": ('{\n  "Lr": 0.5,\n  "Factor": 2.0,\n  "Size": {"Wide": 20}\n}\n', "Factor", 3),
    "flat.json": ('{"size": {"Wide": 3,\n "Factor": 2}}\n', "Factor", 2),
    "run.yaml": ("# Factor: 2.0\ntrain:\n  Factor: 2e0  # of the rate\n", "Factor", 3),
    "run.toml": ("[train]\nrate = 1\nFactor = 2.0\n", "Factor", 3),
    "run.ini": ("[train]\nFactor=2\n", "Factor", 2),
}


@pytest.mark.parametrize("name", FILES)
def test_the_line_of_the_number_under_that_key(tmp_path, name):
    text, key, line = FILES[name]
    file = tmp_path / name
    file.write_text(text)
    (found,) = settings_lines([file], key, 2.0)
    assert (found.file, found.line, found.code) == (str(file), line, text.splitlines()[line - 1].strip())


def test_another_number_or_another_key_is_none(tmp_path):
    file = tmp_path / "spec.json"
    file.write_text('{"Factor": 20, "MyFactor": 2, "Factor2": 2, "Text": "Factor"}\n')
    assert settings_lines([file], "Factor", 2.0) == []


def test_of_the_files_that_the_program_names_where_it_stands_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["train.py", "--conf=one.json", "two.yaml"])
    (tmp_path / "one.json").write_text('{\n "steepness": 0.125\n}\n')
    (tmp_path / "two.yaml").write_text("steepness: 0.25\n")
    (tmp_path / "three.yaml").write_text("steepness: 0.125\n")
    found = settings_line("steepness", 0.125)
    assert found is not None
    assert (found.file, found.line) == (str(tmp_path / "one.json"), 2)
    (tmp_path / "two.yaml").write_text("steepness: 0.125\n")
    assert settings_line("steepness", 0.125) is None
