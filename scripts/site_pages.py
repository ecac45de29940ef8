"""The hook of mkdocs (mkdocs.yml): patterns in the navigation, and what the site shows where a link leads out of docs/.

A Markdown page of the repository becomes a page of the site, a folder a list of its files, any other file a text file.
So the site is whole without a network."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"(?P<before>(?:\[(?P<text>[^\[\]]*))?\]\()(?P<to>[^)\s]+)\)")
OUTSIDE = "repository"  # the folder of the site that holds what stands outside docs/
ENGLISH, CHINESE = "en", "zh"
AFTER_I18N = -200  # its priority is -100; it drops pages that do not stand in docs/


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace the patterns of the navigation by the pages that fit, in order of their names."""
    config.nav = expanded(config.nav)
    return config


def expanded(entries: list[Any]) -> list[Any]:
    """Return the entries with `folder/*.md` written out; a section whose pattern fits nothing is left out."""
    found: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            title, value = next(iter(entry.items()))
            inner = expanded(value if isinstance(value, list) else [value])
            if inner:
                found.append({title: inner if isinstance(value, list) or "*" in value else value})
        elif "*" in entry:
            # README.md comes before small letters
            names = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.glob(entry))]
            found += [name for name in names if name not in found]
        else:
            found.append(entry)
    return found


@event_priority(AFTER_I18N)
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what the pages link to and docs/ does not hold, and what those pages link to in turn."""
    todo = [
        *sorted(DOCS.rglob("*.md")),
        *(ROOT / entry.removeprefix(f"{OUTSIDE}/") for entry in outside_entries(config.nav)),
    ]
    seen = set(todo)
    for path in todo:
        if path.is_dir() or not path.is_relative_to(DOCS):
            files.append(added(path, config))
        fresh = {target for target in targets(path) if target.is_dir() or not target.is_relative_to(DOCS)} - seen
        seen |= fresh
        todo += sorted(fresh)
    return files


def outside_entries(entries: list[Any]) -> Iterator[str]:
    """Yield the pages of the navigation that stand outside docs/."""
    for entry in entries:
        if isinstance(entry, dict):
            for value in entry.values():
                yield from outside_entries(value if isinstance(value, list) else [value])
        elif entry.startswith(f"{OUTSIDE}/"):
            yield entry


def targets(path: Path) -> set[Path]:
    """Return the files and folders that a Markdown page links to, or the files of a folder."""
    if path.is_dir():
        return {child for child in path.iterdir() if child.is_file() and not child.name.startswith(".")}
    if path.suffix != ".md":
        return set()
    return {
        target
        for link in LINK.finditer(path.read_text(encoding="utf-8"))
        if (target := target_of(path, link["to"])) is not None
    }


def target_of(page: Path, link: str) -> Path | None:
    """Return the file or folder that a link of `page` leads to, a README for its folder; None for the page itself, the
    web, and what does not exist."""
    name = link.partition("#")[0]
    if not name or "://" in name:
        return None
    target = (page.parent / name).resolve()
    readme = target / "README.md"
    return readme if readme.is_file() else target if target.exists() and target.is_relative_to(ROOT) else None


def uri(path: Path) -> str:
    """Return where a file or folder stands among the sources of the site."""
    if path.is_relative_to(DOCS):
        name = path.relative_to(DOCS).as_posix()
    else:
        name = f"{OUTSIDE}/{path.relative_to(ROOT).as_posix()}"
    if path.is_dir():
        return f"{name}/index.md"
    return name if path.suffix == ".md" or path.is_relative_to(DOCS) else f"{name}.txt"


def added(path: Path, config: MkDocsConfig) -> File:
    """Return a page or a text file made of something outside docs/ or of a folder; a page as the i18n plugin makes
    them."""
    out = InclusionLevel.NOT_IN_NAV  # the navigation may name it all the same
    if path.is_dir():
        file = File.generated(config, uri(path), content=listing(path), inclusion=out)
    else:
        file = File.generated(config, uri(path), abs_src_path=str(path), inclusion=out)
    if file.is_documentation_page():
        language = config.plugins["i18n"].current_language
        places = {ENGLISH: file.dest_uri, CHINESE: f"{CHINESE}/{file.dest_uri}"}
        file.dest_uri = places[language]
        file.locale, file.locale_alternate_of = ENGLISH, language
        file.alternates = {
            name: File(file.src_uri, None, config.site_dir, config.use_directory_urls, dest_uri=place)
            for name, place in places.items()
        }
    return file


def listing(folder: Path) -> str:
    """Return a page that names the files of a folder, a Markdown page by its heading."""
    lines = [
        f"- [{title(child)}]({posixpath.relpath(uri(child), posixpath.dirname(uri(folder)))})"
        for child in sorted(targets(folder))
    ]
    return "\n".join([f"# {folder.relative_to(ROOT).as_posix()}/", "", *lines, ""])


def title(path: Path) -> str:
    """Return the first heading of a Markdown page, else the name of the file."""
    heading = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE) if path.suffix == ".md" else None
    return heading[1] if heading else path.name


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn each link between files of the repository into one between pages of the site, and let Markdown stand inside
    `<details>`."""
    source = page.file.abs_src_path
    if source is None:
        return markdown
    language = config.plugins["i18n"].current_language

    def led(link: re.Match[str]) -> str:
        target = target_of(Path(source), link["to"])
        if target is None:
            return link[0]
        here, there = page.file.src_uri, uri(target)
        if link["text"] and is_other_language(here, there, language):
            url = get_relative_url(File(there, None, config.site_dir, config.use_directory_urls).url, page.url)
            return f'<a href="{url}">{link["text"]}</a>'
        anchor = link["to"].partition("#")[1:]
        return f"{link['before']}{posixpath.relpath(there, posixpath.dirname(here))}{''.join(anchor)})"

    return LINK.sub(led, markdown).replace("<details>", '<details markdown="1">')


def is_other_language(here: str, there: str, language: str) -> bool:
    """Tell whether a link leads to a page that is built only with the other language: 中文 from an English page, or
    English from its translation."""
    folder = f"{CHINESE}/"
    if language == ENGLISH:
        return there.startswith(folder)
    return here == folder + there
