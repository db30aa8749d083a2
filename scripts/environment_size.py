"""What `pip install sumfit` adds to an environment, by dependency.

    ENVIRONMENT/bin/python scripts/environment_size.py [--limit MIB]

Sums the files of sumfit and of all that it needs, as their packages list them, byte code included;
pip and setuptools, which an environment has anyway, are left out. What several dependencies need
counts for the first of them, unless sumfit itself needs it. With ``--limit``, more than that many
MiB are an error.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

PACKAGE = "sumfit"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def main() -> int:
    """Print the table.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, help="most MiB that it may be")
    limit = parser.parse_args().limit
    total = 0.0
    for name, mebibytes, others in costs():
        total += mebibytes
        shared = f" (with {', '.join(others)})" if others else ""
        sys.stdout.write(f"{mebibytes:6.1f} MiB  {name}{shared}\n")
    sys.stdout.write(f"{total:6.1f} MiB  in all\n")
    if limit is not None and total > limit:
        sys.stderr.write(f"error: more than {limit:g} MiB\n")
        return 1
    return 0


def costs() -> Iterator[tuple[str, float, list[str]]]:
    """Sum what each dependency brings.

    Yields:
        Its name, MiB, and what it needs that sumfit and the dependencies before it do not.
    """
    direct = needs(distribution(PACKAGE))
    counted = {PACKAGE, *direct}
    yield PACKAGE, size(distribution(PACKAGE)), []
    for name in direct:
        found = reachable(name)
        new = [one for one in found if one == name or one not in counted]
        if not new:  # of another Python
            continue
        counted |= set(new)
        total = sum(size(distribution(one)) for one in new)
        yield name, total, sorted(one for one in new if one != name)


def reachable(name: str) -> list[str]:
    """List a package and all that it needs, directly or not.

    Args:
        name: The package.

    Returns:
        Names of what is installed, the package first.
    """
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        try:
            needed = needs(distribution(one))
        except PackageNotFoundError:  # of another system or Python
            continue
        found[one] = None
        waiting += needed
    return list(found)


def needs(package: Distribution) -> list[str]:
    """Name what a package needs without extras.

    Args:
        package: The package.

    Returns:
        Normalised names, in the order of its metadata.
    """
    found = [NAME.match(line) for line in package.requires or [] if "extra ==" not in line]
    return [re.sub(r"[-_.]+", "-", match[0]).lower() for match in found if match]


def size(package: Distribution) -> float:
    """Sum the bytes of a package's files.

    Args:
        package: The package.

    Returns:
        MiB.
    """
    paths = {package.locate_file(file) for file in package.files or []}
    return sum(path.stat().st_size for path in paths if path.is_file()) / 2**20  # type: ignore[attr-defined]


if __name__ == "__main__":
    raise SystemExit(main())
