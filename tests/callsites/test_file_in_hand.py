"""Which file, and which line of it, a program was at when a line of it raised."""

from __future__ import annotations

from pathlib import Path

from debugtracer.callsites.file_in_hand import files_in_hand, line_in_hand

KNOWN = {"even": 0, "odd": 1}


def failed(program, *given):
    try:
        program(*given)
    except Exception as error:
        return error
    raise AssertionError("it was to fail")


def written(folder: Path, *lines: str) -> Path:
    file = folder / "labels.train"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def test_the_files_that_the_innermost_function_names_the_last_one_first(tmp_path):
    image, density = tmp_path / "a.jpg", tmp_path / "a.h5"
    for file in (image, density):
        file.write_bytes(b"x")

    def shape(size):
        return 12 // size

    def load(image_path):
        density_path = image_path.replace(".jpg", ".h5")
        missing = image_path + ".txt"
        program = __file__
        return shape(0), density_path, missing, program

    assert files_in_hand(failed(load, str(image))) == (str(density), str(image))
    assert files_in_hand(failed(shape, 0)) == ()


def test_the_line_of_the_file_that_a_loop_or_a_comprehension_goes_through(tmp_path):
    file = written(tmp_path, "even", "odd", "-", "odd")

    def comprehended():
        return [KNOWN[line.rstrip("\n")] for line in file.open()]

    def looped():
        with file.open() as lines:
            for line in lines:
                print(KNOWN[line.strip()])

    for program in (comprehended, looped):
        found = line_in_hand(failed(program), "-\n")
        assert found is not None
        assert (found.file, found.line, found.code) == (str(file.resolve()), 3, "-")


def test_a_text_on_two_lines_or_in_no_file_is_not_known(tmp_path):
    file = written(tmp_path, "-", "odd", "-")

    def looped():
        with file.open() as lines:
            return [KNOWN[line.strip()] for line in lines]

    error = failed(looped)
    assert line_in_hand(error, "-\n") is None
    assert line_in_hand(error, "gone") is None
    assert line_in_hand(error, "  ") is None
    assert line_in_hand(error, 3) is None
    assert line_in_hand(failed(lambda: KNOWN["-"]), "-") is None
