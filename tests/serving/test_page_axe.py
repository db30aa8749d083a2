"""What axe-core, the usual checker of accessibility, says of every state of the pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.serving.conftest import CHROMIUM, SIZES, paste
from tests.tiny_model import TEXTS

pytest.importorskip("playwright", reason="playwright is not installed")
axe_core = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

TEXT = TEXTS[0]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def empty(page: Any) -> None:
    pass


def summarised(page: Any) -> None:
    page.get_by_label("Slot", exact=True).select_option("seo-title")
    paste(page, TEXT)
    page.wait_for_selector("#graph .vertex-group.chosen")
    page.wait_for_selector("#compare-card[aria-busy=false]")


def with_all_open(page: Any) -> None:
    summarised(page)
    page.locator("details > summary").press("Enter")
    page.locator("#graph [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_label("Limit", exact=True).fill("0")


def waiting(page: Any) -> None:
    summarised(page)
    page.route("**/v1/summarize", lambda _: None)  # never answered
    page.get_by_label("Limit", exact=True).fill("41")
    page.wait_for_selector("#summary-card[aria-busy=true]")


def refused(page: Any) -> None:
    error = {"error": {"type": "infeasible_budget", "message": "nothing fits"}}
    page.route("**/v1/summarize", lambda route: route.fulfill(status=422, body=json.dumps(error)))
    page.get_by_label("Your text").fill(TEXT)
    page.wait_for_selector("#problem:visible")
    page.problems.clear()  # the browser itself reports the status


def away(page: Any) -> None:
    page.route("**/v1/summarize", lambda route: route.fulfill(status=503, body="no"))
    page.get_by_label("Your text").fill(TEXT)
    page.wait_for_selector("#problem:visible")
    page.problems.clear()


def asking_for_a_key(page: Any) -> None:
    error = {"error": {"type": "unauthorized", "message": "a key is needed"}}
    page.route("**/v1/summarize", lambda route: route.fulfill(status=401, body=json.dumps(error)))
    page.get_by_label("Your text").fill(TEXT)
    page.wait_for_selector("#key-form:visible")
    page.problems.clear()


STATES = [empty, summarised, with_all_open, waiting, refused, away, asking_for_a_key]


def faults(page: Any) -> list[str]:
    """What axe finds, one line for each element."""
    options = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
    found = axe_core.Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {rule['help']}: {node['html']}" for rule in found for node in rule["nodes"]
    ]


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("page", SIZES, indirect=True)
@pytest.mark.parametrize("state", STATES)
def test_the_page_has_no_fault_that_axe_finds(
    page: Any, state: Callable[[Any], None], theme: str
) -> None:
    button = page.locator("#theme")
    while button.inner_text() != theme:
        button.click()
    state(page)
    assert faults(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_reference_has_no_fault_that_axe_finds(
    browser: Any, live_url: str, scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{live_url}/docs")
    assert faults(page) == []
    context.close()


def test_a_page_without_its_parts_has_no_fault_that_axe_finds(browser: Any, live_url: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.route("**/page/app.js", lambda route: route.fulfill(status=503, body="no"))
    page.goto(live_url)
    page.locator("#loading").wait_for()
    assert faults(page) == []
    context.close()


def test_axe_does_find_faults(page: Any) -> None:
    page.evaluate("document.querySelector('#source').closest('section').innerHTML = '<input>'")
    assert any(fault.startswith("label:") for fault in faults(page))
