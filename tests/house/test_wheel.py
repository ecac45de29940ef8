"""The wheel holds the package and nothing beside it: every source, table and plug-in, no test and no page."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"


def sources() -> set[str]:
    return {
        str(f.relative_to(SRC))
        for f in SRC.rglob("*")
        if f.is_file() and f.suffix != ".pyc" and ".egg-info" not in str(f)
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_holds_the_package_whole_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = {Path(name).name: archive.read(name).decode() for name in names if ".dist-info/" in name}
    assert {name for name in names if ".dist-info/" not in name} == sources()
    assert "debug-tracer = debugtracer.commands.app:main" in metadata["entry_points.txt"]
    assert "debug_tracer = _debug_tracer_autoload:autoload" in metadata["entry_points.txt"]
    assert "Requires-Dist: torch>=2.6" in metadata["METADATA"]
    assert "LICENSE" in metadata


def test_what_is_no_python_file_but_is_read_at_run_time_is_in_it() -> None:
    tables = {Path(name).name for name in sources() if not name.endswith(".py")}
    assert {"calibration.toml", "patterns.toml", "likelihood.toml", "py.typed", "template.html"} <= tables
    plugins = {
        "checks/optimizer/loss_spike.py",
        "causes/loss_spike.py",
        "views/terminal.py",
        "interventions/lower_lr.py",
        "devices/cpu.py",
    }
    assert {f"debugtracer/{name}" for name in plugins} <= sources()


def test_the_source_archive_is_enough_to_build_the_wheel_and_no_more(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    beside = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO", ".gitignore", "hatch_build.py"}
    assert names == {f"src/{name}" for name in sources()} | beside


def test_torch_is_imported_where_an_editable_install_has_lost_its_checkout(tmp_path: Path) -> None:
    build = f"import hatchling.build; print(hatchling.build.build_editable({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("_torch_debug_tracer.pth").decode() == str(SRC)
        archive.extractall(tmp_path / "site")
    lost = "import sys; sys.path = [p for p in sys.path if p != 'SRC']; import torch; print(torch.tensor(1).item())"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site"), "DEBUG_TRACER": "1"}
    words = [sys.executable, "-c", lost.replace("SRC", str(SRC))]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    assert "debug-tracer: not watching this process (No module named 'debugtracer')" in done.stderr
