"""The page in a real browser, at phone and desktop widths, without network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from sumfit import Summarizer
from sumfit.serving.options import ServerOptions
from tests.serving.conftest import running
from tests.tiny_model import TEXTS

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

TEXT = TEXTS[0]
SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Any, live_url: str) -> Iterator[Any]:
    width, height = SIZES[getattr(request, "param", "desktop")]
    context = browser.new_context(
        viewport={"width": width, "height": height}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.problems = []
    page.hosts = set()
    page.on("console", lambda message: page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("dialog", lambda dialog: page.problems.append("dialog"))
    page.on("request", lambda sent: page.hosts.add(sent.url.split("/")[2]))
    page.goto(live_url)
    page.wait_for_selector(".chip")
    yield page
    assert page.problems == []
    assert page.hosts == {live_url.split("/")[2]}  # nothing from anywhere else
    context.close()


on_every_size = pytest.mark.parametrize("page", SIZES, indirect=True)


def paste(page: Any, text: str) -> None:
    page.get_by_label("Your text").fill(text)
    page.wait_for_selector("#summary:not(.empty)")


def shown(page: Any) -> str:
    return str(page.locator("#summary").inner_text())


def set_limit(page: Any, limit: int) -> None:
    page.locator("#limit").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }",
        limit,
    )


def wait_for_limit(page: Any, limit: int) -> None:
    page.wait_for_function(
        "limit => document.querySelector('#count').textContent.includes(`of ${limit} `)", arg=limit
    )


def settle(page: Any) -> None:
    """Wait until the summary shown is the server's own answer for this very limit."""
    page.wait_for_function(
        """() => document.querySelector('#live').textContent ===
          `${document.querySelector('#count').textContent}: ` +
          document.querySelector('#summary').textContent"""
    )


@on_every_size
def test_a_pasted_text_is_summarised(page: Any, server_summarizer: Summarizer) -> None:
    paste(page, TEXT)
    assert shown(page) == server_summarizer(TEXT, max_chars=60).text
    assert page.locator("#count").inner_text().endswith("of 60 characters")
    assert "proved best" in page.locator("#badges").inner_text()
    assert page.locator("#certificate").inner_text().startswith("Proved: of all wordings")
    assert page.locator("#alternatives li").count() >= 2


def test_the_slider_keeps_every_limit(page: Any, server_summarizer: Summarizer) -> None:
    paste(page, TEXT)
    page.wait_for_selector("#graph .vertex-group")  # everything around has been fetched by then
    for limit in (20, 33, 47, 80, 15):
        set_limit(page, limit)
        wait_for_limit(page, limit)
        assert len(shown(page)) <= limit
        expected = server_summarizer(TEXT, max_chars=limit).text
        page.wait_for_function(
            "text => document.querySelector('#summary').innerText === text", arg=expected
        )


def test_units_and_presets_set_limit_and_preview(page: Any) -> None:
    paste(page, TEXT)
    page.get_by_label("Unit").select_option("words")
    wait_for_limit(page, 10)
    settle(page)
    assert len(shown(page).split()) <= 10
    page.get_by_label("Git subject", exact=True).check()
    wait_for_limit(page, 50)
    settle(page)
    assert f"4f2a91c {shown(page)}" in page.locator(".slot-term").inner_text()
    page.get_by_label("Push", exact=True).check()
    wait_for_limit(page, 178)
    settle(page)
    assert page.locator(".slot-push .body").inner_text() == shown(page)
    page.get_by_label("SEO title").check()
    wait_for_limit(page, 60)
    settle(page)
    assert page.locator(".slot-search .title").inner_text() == shown(page)


def test_the_graph_can_be_read_with_the_keyboard(page: Any) -> None:
    paste(page, TEXT)
    page.wait_for_selector("#graph .vertex-group.chosen")
    words = page.locator("#path-table tbody tr td:nth-child(2)").all_inner_texts()
    page.locator("details > summary").press("Enter")
    words = page.locator("#path-table tbody tr td:nth-child(2)").all_inner_texts()
    assert "".join(words).replace("␣", "") == shown(page).replace(" ", "")
    page.locator("#graph [tabindex='0']").focus()
    page.keyboard.press("Home")
    assert page.locator("#vertex").inner_text().startswith("Dot 0: the start.")
    page.keyboard.press("ArrowRight")
    assert "may say “" in page.locator("#vertex").inner_text()
    page.keyboard.press("End")
    assert "the end." in page.locator("#vertex").inner_text()


def test_every_control_is_reached_by_tab_and_has_a_name(page: Any) -> None:
    paste(page, TEXT)
    page.wait_for_selector("#graph .vertex-group")
    page.locator(".skip").focus()
    names = []
    for _ in range(40):
        name = page.evaluate(
            """() => { const e = document.activeElement;
              if (e === document.body) return 'BODY';
              return e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim()
                || e.textContent.trim() || ''; }"""
        )
        if name == "BODY":
            break
        names.append(name)
        page.keyboard.press("Tab")
    assert "" not in names
    order = ["Skip to the summary", "API", "Your text", "News", "Free", "At most 60 characters"]
    places = [names.index(name) for name in order]
    assert places == sorted(places)
    for name in ("Limit", "Unit", "Copy", "The path as a table"):
        assert name in names, names
    assert any(name.startswith("Dot ") for name in names)


def test_screen_readers_hear_the_summary(page: Any) -> None:
    live = page.locator("#live")
    assert live.get_attribute("aria-live") == "polite"
    paste(page, TEXT)
    page.wait_for_function("() => document.querySelector('#live').textContent !== ''")
    assert live.inner_text().endswith(shown(page))
    assert page.locator("#limit").get_attribute("aria-valuetext") == "60 characters"
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("h1").count() == 1


@on_every_size
def test_the_page_fits_its_window(page: Any) -> None:
    paste(page, TEXT + " " + "x" * 100)
    page.wait_for_selector("#graph .vertex-group")
    width = page.evaluate("window.innerWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, summary, .chip')]
          .filter((e) => e.offsetParent && !e.closest('.chip input'))
          .map((e) => [e.id || e.className || e.textContent, e.getBoundingClientRect().height])
          .filter(([, height]) => height < 24)"""
    )
    assert small == []


def test_hostile_text_stays_text(page: Any) -> None:
    paste(page, '<img src=x onerror=alert(1)> <script>alert(2)</script> "Engineers" & co')
    set_limit(page, 300)
    wait_for_limit(page, 300)
    page.get_by_label("Push", exact=True).check()
    page.wait_for_function(
        "text => document.querySelector('#summary').textContent.includes(text)",
        arg="<script>alert(2)</script>",
    )
    assert page.locator("main img").count() == 0
    assert page.locator("main script").count() == 0


def test_errors_are_said_in_words_and_go_away(page: Any) -> None:
    paste(page, TEXT)
    page.get_by_label("Unit").select_option("tokens")
    page.get_by_label("Limit", exact=True).fill("1")
    page.wait_for_function("() => !document.querySelector('#live').textContent.includes('of 16')")
    page.get_by_label("Your text").fill("")
    page.wait_for_selector("#summary.empty")
    assert shown(page) == "Your summary appears here."
    assert page.locator("#graph .vertex-group").count() == 0
    page.route("**/v1/summarize", lambda route: route.abort())
    page.get_by_label("Your text").fill(TEXT)
    page.wait_for_selector("#problem:not([hidden])")
    assert "The server does not answer" in page.locator("#problem").inner_text()
    page.unroute("**/v1/summarize")
    page.get_by_label("Your text").fill(TEXT + " ")
    page.wait_for_selector("#summary:not(.empty)")
    assert page.locator("#problem").is_hidden()
    page.problems.clear()  # the browser itself reports the aborted request


def test_themes_have_enough_contrast(page: Any) -> None:
    paste(page, TEXT)
    page.wait_for_selector("#badges li")
    for theme in ("Light", "Dark"):
        button = page.locator("#theme")
        while button.inner_text() != theme:
            button.click()
        for selector in ("#summary", ".hint", ".certificate", "#badges li", ".explain", "nav a"):
            assert contrast(page, selector) >= 4.5, (theme, selector)


def contrast(page: Any, selector: str) -> float:
    """WCAG contrast of an element's text against the nearest background behind it."""
    ratio: float = page.locator(selector).first.evaluate(
        """(element) => {
          const parse = (text) => text.match(/[\\d.]+/g).map(Number);
          const light = ([r, g, b]) => {
            const f = (c) => { c /= 255;
              return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
            return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
          };
          let behind = element;
          const isClear = (node) => {
            const color = getComputedStyle(node).backgroundColor;
            return color === 'transparent' || parse(color)[3] === 0;
          };
          while (isClear(behind)) behind = behind.parentElement;
          const a = light(parse(getComputedStyle(element).color));
          const b = light(parse(getComputedStyle(behind).backgroundColor));
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        }"""
    )
    return ratio


def test_a_server_with_keys_asks_for_one(browser: Any, server_summarizer: Summarizer) -> None:
    key = "a-key-for-the-page-test"
    with running(server_summarizer, ServerOptions(port=0, api_keys=(key,))) as url:
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        page.get_by_label("This server asks for an API key").fill(key)
        page.get_by_role("button", name="Use it").click()
        page.wait_for_selector(".chip")
        paste(page, TEXT)
        assert len(shown(page)) <= 60
        context.close()


def test_the_reference_is_readable_without_scripts(browser: Any, live_url: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{live_url}/docs")
    assert "/v1/summarize" in page.locator("main").inner_text()
    assert page.locator("body").evaluate("e => e.scrollWidth") <= 390 if os.name != "nt" else True
    context.close()
