"""Links torch and what torch needs from this environment into another one, so that nothing of them is downloaded there.

python scripts/lend_torch.py SITE_PACKAGES     the folder of the other environment; pip takes links for installed
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path


def needed(name: str, found: dict[str, Distribution]) -> dict[str, Distribution]:
    """Return a distribution and those it needs, as far as they are installed here."""
    try:
        own = distribution(name)
    except PackageNotFoundError:  # one for another platform
        return found
    if own.name not in found:
        found[own.name] = own
        for requirement in (line for line in own.requires or [] if "extra ==" not in line):
            needed(re.split(r"[^\w.-]", requirement, maxsplit=1)[0], found)
    return found


def tops(own: Distribution) -> set[Path]:
    """Return the files and folders of a distribution that lie in site-packages."""
    root = Path(str(own.locate_file("")))
    return {root / file.parts[0] for file in own.files or [] if file.parts[0] not in ("..", "__pycache__")}


def main(folder: str) -> None:
    """Link them all and say their names."""
    lent = needed("torch", {})
    for own in lent.values():
        links = {Path(folder) / top.name: top for top in tops(own)}
        if not any(link.exists() for link in links):  # a new environment may have a setuptools of its own
            for link, top in links.items():
                link.symlink_to(top)
    print("linked, not installed:", ", ".join(f"{own.name} {own.version}" for own in lent.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
