"""The index of the decision records lists every page once, and no link between them is dead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "decisions"
PAGES = sorted(path.name for path in FOLDER.glob("0*.md"))


def links(path: Path) -> list[str]:
    return re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))


def test_the_index_lists_every_page_once():
    assert sorted(links(FOLDER / "README.md")) == PAGES


def test_no_two_pages_share_a_number():
    numbers = [name.partition("-")[0] for name in PAGES]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("name", ["README.md", *PAGES])
def test_links_lead_to_pages(name):
    for target in links(FOLDER / name):
        assert (FOLDER / target).is_file(), target
