"""The page in a real browser, at phone and desktop widths, without network."""

from __future__ import annotations

import itertools
import json
import os
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sumfit import Summarizer
from sumfit.serving.options import ServerOptions
from tests.serving.conftest import CHROMIUM, SIZES, paste, running
from tests.tiny_model import TEXTS

pytest.importorskip("playwright", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
TEXT = TEXTS[0]

on_every_size = pytest.mark.parametrize("page", SIZES, indirect=True)


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
    for limit in (20, 33, 47, 80, 15):
        set_limit(page, limit)
        wait_for_limit(page, limit)
        assert len(shown(page)) <= limit
        assert shown(page) == server_summarizer(TEXT, max_chars=limit).text


def test_units_and_slots_set_limit_and_preview(page: Any) -> None:
    paste(page, TEXT)
    assert page.locator("#preview").is_hidden()  # the line alone is shown above
    page.get_by_label("Unit").select_option("words")
    wait_for_limit(page, 10)
    settle(page)
    assert len(shown(page).split()) <= 10
    slot = page.get_by_label("Slot", exact=True)
    slot.select_option("git-subject")
    wait_for_limit(page, 50)
    settle(page)
    assert f"4f2a91c {shown(page)}" in page.locator("#preview .slot-term").inner_text()
    slot.select_option("push")
    wait_for_limit(page, 178)
    settle(page)
    assert page.locator("#preview .slot-push .body").inner_text() == shown(page)
    slot.select_option("seo-title")
    wait_for_limit(page, 60)
    settle(page)
    assert page.locator("#preview .slot-search .title").inner_text() == shown(page)
    set_limit(page, 55)
    assert slot.input_value() == ""  # a title of 55 is no longer that slot
    slot.select_option("seo-title")
    page.get_by_label("Unit").select_option("words")
    assert slot.input_value() == ""


def change_replies(page: Any, change: Callable[[dict[str, Any]], None]) -> None:
    """Let a test change every line that the server sends, its alternatives too."""

    def answer(route: Any) -> None:
        response = route.fetch()
        reply = response.json()
        for line in reply.get("summaries", [reply]):
            change(line)
            for other in line.get("alternatives") or []:
                change(other)
        route.fulfill(response=response, body=json.dumps(reply))

    page.route("**/v1/summarize", answer)


class Held:
    """Requests of a page for summaries, answered when the test says so."""

    def __init__(self, page: Any) -> None:
        self.routes: list[Any] = []
        self._is_holding = True
        page.route("**/v1/summarize", self._keep)

    def _keep(self, route: Any) -> None:
        if self._is_holding:
            self.routes.append(route)
        else:
            route.continue_()

    def release(self) -> None:
        """Answer them, and all that come later."""
        self._is_holding = False
        for route in self.routes:
            route.continue_()


def change_text(page: Any) -> None:
    page.get_by_label("Your text").fill(TEXTS[1])


def change_limit(page: Any) -> None:
    set_limit(page, 40)


def change_box(page: Any) -> None:
    page.get_by_label("Limit", exact=True).fill("40")


def change_unit(page: Any) -> None:
    page.get_by_label("Unit").select_option("words")


def change_slot(page: Any) -> None:
    page.get_by_label("Slot", exact=True).select_option("app-subtitle")


def change_capitals(page: Any) -> None:
    page.get_by_label("Capitals").select_option("title")


@pytest.mark.parametrize(
    "change", [change_text, change_limit, change_box, change_unit, change_slot, change_capitals]
)
def test_what_answers_another_question_is_old_at_once(
    page: Any, change: Callable[[Any], None]
) -> None:
    page.get_by_label("Slot", exact=True).select_option("seo-title")
    paste(page, TEXT)
    page.wait_for_selector("#graph .vertex-group.chosen")
    before = shown(page)
    held = Held(page)
    change(page)
    card = page.locator("#summary-card")
    assert card.get_attribute("aria-busy") == "true"
    assert page.locator("#copy").is_disabled()
    for part in ("#badges", "#certificate", "#preview", "#alternatives", "#count", "#graph-body"):
        assert page.locator(part).is_hidden(), part
    if change is change_text:
        assert shown(page) != before
        assert page.locator("#compare").is_hidden()
    else:
        assert color(page, "#summary") == color(page, "#status") != color(page, "#source")
    page.wait_for_timeout(400)  # the request is on its way now, and changes nothing
    assert held.routes
    assert card.get_attribute("aria-busy") == "true"
    assert page.locator("#badges").is_hidden()
    held.release()
    page.wait_for_selector("#summary-card[aria-busy=false]")
    assert page.locator("#copy").is_enabled()
    assert page.locator("#badges").is_visible()


def color(page: Any, selector: str) -> str:
    return str(page.locator(selector).evaluate("e => getComputedStyle(e).color"))


def test_a_late_answer_to_an_old_question_is_not_shown(
    page: Any, server_summarizer: Summarizer
) -> None:
    held = Held(page)
    page.get_by_label("Your text").fill(TEXT)
    page.wait_for_timeout(400)
    page.get_by_label("Your text").fill(TEXTS[1])
    page.wait_for_timeout(400)
    assert len(held.routes) == 2
    held.release()
    page.wait_for_selector("#summary-card[aria-busy=false]")
    page.wait_for_selector("#graph .vertex-group.chosen")
    assert shown(page) == server_summarizer(TEXTS[1], max_chars=60).text


def numbers(page: Any, name: str) -> list[float]:
    """The numbers of one name beside the chosen line and the alternatives, in their order."""
    lines = page.locator("#certificate, #alternatives .hint").all_inner_texts()
    found = [re.search(rf"{name} (\u2212?\d+\.\d\d)", line) for line in lines]
    assert all(found), lines
    return [float(match[1].replace("\u2212", "-")) for match in found if match]


def test_the_number_beside_a_line_is_the_one_that_chose_it(page: Any, live_url: str) -> None:
    paste(page, TEXT)
    body = {"text": TEXT, "unit": "chars", "max_length": 60, "n_best": 6}
    reply = page.request.post(f"{live_url}/v1/summarize", data=body).json()
    lines = [reply, *reply["alternatives"]]
    assert numbers(page, "score") == [round(line["score"], 2) for line in lines]
    assert numbers(page, "score") == sorted(numbers(page, "score"), reverse=True)
    assert "a bonus for length" in page.locator("#order").inner_text()


def test_a_line_that_the_scorer_chose_is_not_called_proved(page: Any) -> None:
    def as_scorer(route: Any) -> None:
        response = route.fetch()
        reply = response.json()
        if "summaries" not in reply:
            for place, line in enumerate([reply, *reply["alternatives"]]):
                line |= {"chosen_by": "scorer", "choice_score": 3.0 - place, "optimal": True}
        route.fulfill(response=response, body=json.dumps(reply))

    page.route("**/v1/summarize", as_scorer)
    paste(page, TEXT)
    badges = page.locator("#badges").inner_text()
    assert "chosen by the scorer among the candidates" in badges
    assert "proved" not in badges
    assert page.locator("#certificate").inner_text().startswith("Chosen by the model\u2019s scorer")
    found = numbers(page, "scorer\u2019s number")
    assert found == [3.0 - place for place in range(len(found))]
    assert len(found) > 2
    assert "scorer\u2019s number first" in page.locator("#order").inner_text()


def test_a_text_that_fits_is_returned_and_no_path_is_drawn(page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    paste(page, "Hi there")
    page.wait_for_selector("#graph-note:visible")
    assert shown(page) == "Hi there"
    words = "The text fits already and is returned as it is."
    assert page.locator("#certificate").inner_text() == words
    assert "fits already" in page.locator("#graph-note").inner_text()
    assert page.locator("#graph").is_hidden()
    assert page.locator("#graph .vertex-group").count() == 0
    assert page.locator("#alternatives").is_hidden()
    assert not any(url.endswith("/v1/graph") for url in asked)
    page.get_by_label("Your text").fill(TEXT)  # and the drawing comes back with a longer text
    page.wait_for_selector("#graph .vertex-group.chosen")
    assert page.locator("#graph-note").is_hidden()


@pytest.mark.parametrize("value", ["0", "5000", "1.5", "", "-3"])
def test_a_limit_that_is_none_is_said_beside_the_box(page: Any, value: str) -> None:
    paste(page, TEXT)
    before = shown(page)
    box = page.get_by_label("Limit", exact=True)
    box.fill(value)
    problem = page.locator("#limit-problem")
    assert "A whole number from 1 to 3,000; 60 stays the limit." in problem.inner_text()
    assert box.get_attribute("aria-invalid") == "true"
    assert box.get_attribute("aria-describedby") == "limit-problem"
    assert page.locator("#limit-label").inner_text() == "At most 60 characters"
    assert shown(page) == before
    assert page.locator("#copy").is_enabled()  # the summary on the page is that for 60
    page.keyboard.press("Tab")
    assert box.input_value() == "60"
    assert box.get_attribute("aria-invalid") is None
    assert problem.is_hidden()


def test_slots_stand_side_by_side(page: Any, server_summarizer: Summarizer) -> None:
    paste(page, TEXT)
    page.wait_for_selector("#compare-card[aria-busy=false]")
    fit = server_summarizer
    expected = {
        "seo-title": (".title", fit(TEXT, preset="seo-title")),
        "push": (".slot-push .body", fit(TEXT, preset="push")),
        "git-subject": (".line", fit(TEXT, preset="git-subject", capitalization="source")),
        "tweet": (".slot-post .body", fit(TEXT, preset="tweet")),
    }
    cards = page.locator("#compare > li")
    assert [card.get_attribute("data-slot") for card in cards.all()] == list(expected)
    for name, (place, summary) in expected.items():
        card = page.locator(f"#compare [data-slot={name}]")
        assert card.locator(place).inner_text().removeprefix("4f2a91c ") == summary.text
        assert card.locator(".count").inner_text().startswith(f"{summary.length} of ")
    page.get_by_label("Another slot").select_option("email-subject")
    page.get_by_role("button", name="Add", exact=True).press("Enter")
    mail = page.locator("#compare [data-slot=email-subject] .subject")
    assert mail.inner_text() == server_summarizer(TEXT, preset="email-subject").text
    page.get_by_role("button", name="Remove: Push").press("Enter")
    assert page.locator("#compare [data-slot=push]").count() == 0
    page.reload()
    paste(page, TEXT)
    page.wait_for_selector("#compare [data-slot=email-subject] .subject")  # they are remembered
    assert page.locator("#compare [data-slot=push]").count() == 0


WIDE = "Wimbledon Mammoth Museum swamped with Warwickshire womens walkers"


@on_every_size
@pytest.mark.parametrize("title", ["Harbour wall to be raised by one metre after floods", WIDE])
def test_a_title_is_cut_where_a_result_page_cuts_it(page: Any, title: str) -> None:
    change_replies(page, lambda line: line.update(text=title))
    page.get_by_label("Slot", exact=True).select_option("seo-title")
    paste(page, TEXT)
    shown_title = page.locator("#preview .title")
    assert shown_title.text_content() == title
    note = page.locator("#preview .hint").inner_text()
    is_phone = page.viewport_size["width"] < 600
    if is_phone:  # lines are broken there, and nothing is cut
        assert shown_title.inner_text() == title
        return
    height, font, width = shown_title.evaluate(
        """at => [at.clientHeight, parseFloat(getComputedStyle(at).fontSize),
          at.parentElement.clientWidth]"""
    )
    assert height < 1.6 * font  # one line
    assert font == pytest.approx(min(20, width / 30), abs=0.1)
    assert shown_title.evaluate("at => at.scrollWidth <= at.clientWidth")  # and no word is cut
    if title == WIDE:
        assert shown_title.inner_text().strip() in title
        assert len(shown_title.inner_text()) < len(title)
        assert "cuts the rest" in note
    else:
        assert shown_title.inner_text() == title
        assert "of the 600 pixels" in note


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("page", ["phone"], indirect=True)
def test_a_phone_shows_the_whole_subject_of_a_commit(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    subject = "Release a copy of pending jobs under the lock, talk to workers later on"
    change_replies(page, lambda line: line.update(text=subject, length=len(subject)))
    page.get_by_label("Slot", exact=True).select_option("git-subject-hard")
    paste(page, TEXT)
    page.wait_for_selector("#compare-card[aria-busy=false]")
    assert shown(page) == subject
    for place in ("#preview .line", "#compare [data-slot=git-subject] .line"):
        line = page.locator(place)
        assert line.evaluate("e => e.scrollWidth <= e.clientWidth || !e.clientWidth")
        box = line.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["height"] > 30  # two lines
    assert page.locator("#preview .line").inner_text() == f"4f2a91c {shown(page)}"
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "height"), [(390, 844), (320, 568)])
def test_a_phone_shows_the_summary_of_a_sample(page: Any, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.get_by_role("button", name="Commit").click()
    page.wait_for_selector("#summary:not(.empty)")
    box = page.locator("#summary").bounding_box()
    assert 0 <= box["y"] <= box["y"] + box["height"] <= height
    if height > 800:
        assert page.evaluate("scrollY") == 0


def test_the_choices_stay_beside_their_text(page: Any) -> None:
    """However long the summary and its alternatives are, the text box does not grow with them."""
    paste(page, TEXT)
    page.get_by_label("Limit", exact=True).fill("300")
    page.wait_for_selector("#summary-card[aria-busy=false]")
    change_replies(page, lambda line: line.update(text="many words " * 80))
    page.get_by_label("Limit", exact=True).fill("299")
    page.locator("#summary", has_text="many words many words").wait_for()
    assert page.locator("#summary-card").bounding_box()["height"] > 900
    box = page.get_by_label("Capitals").bounding_box()
    assert box["y"] + box["height"] < SIZES["desktop"][1]
    page.get_by_label("Your text").fill(f"{TEXT} " * 100)
    page.wait_for_selector("#summary-card[aria-busy=false]")
    box = page.get_by_label("Capitals").bounding_box()
    assert box["y"] + box["height"] < SIZES["desktop"][1]


@pytest.mark.parametrize("page", ["phone"], indirect=True)
def test_a_phone_shows_the_graph_as_a_column_with_upright_words(page: Any) -> None:
    paste(page, TEXT)
    page.wait_for_selector("#graph .vertex-group.chosen")
    scroll = page.locator("#graph-scroll")
    assert scroll.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert page.locator("#graph text[transform]").count() == 0
    assert page.locator("#graph-scroll-hint").is_visible()
    tops = page.locator("#graph circle").evaluate_all(
        "all => all.map((e) => +e.getAttribute('cy'))"
    )
    assert len(tops) > 5
    assert all(after - before >= 24 for before, after in itertools.pairwise(tops))
    page.set_viewport_size({"width": 1000, "height": 700})  # a phone that is turned
    page.wait_for_selector("#graph text[transform]")


class ColdSummarizer:
    """A summarizer whose first call takes as long as the test wants."""

    def __init__(self, summarizer: Summarizer) -> None:
        self.release = threading.Event()
        self._summarizer = summarizer

    def __call__(self, texts: Any, /, **options: Any) -> Any:
        self.release.wait(60)
        return self._summarizer(texts, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._summarizer, name)


def test_a_cold_server_is_waited_for(browser: Any, server_summarizer: Summarizer) -> None:
    cold = ColdSummarizer(server_summarizer)
    with running(cold, ServerOptions(port=0), is_ready=False) as url:
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        page.get_by_label("Your text").fill(TEXT)
        status = page.locator("#status", has_text="The server is starting.")
        status.wait_for()
        assert page.locator("#live").inner_text().startswith("The server is starting.")
        assert page.locator("#problem").is_hidden()
        assert page.locator("#summary-card").get_attribute("aria-busy") == "true"
        cold.release.set()
        page.wait_for_selector("#summary:not(.empty)")
        assert shown(page) == server_summarizer(TEXT, max_chars=60).text
        assert status.count() == 0
        context.close()


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again(page: Any, status: int) -> None:
    answers: list[int] = []

    def busy(route: Any) -> None:
        answers.append(status)
        if len(answers) > 2:
            route.continue_()
            return
        error = {"type": "overloaded", "message": "the queue is full"}
        body = json.dumps({"error": error})
        route.fulfill(status=status, headers={"retry-after": "1"}, body=body)

    page.route("**/v1/summarize", busy)
    page.get_by_label("Your text").fill(TEXT)
    page.locator("#status", has_text="trying again").wait_for()
    assert page.locator("#problem").is_hidden()
    page.wait_for_selector("#summary:not(.empty)")
    assert len(answers) >= 3
    page.problems.clear()  # the browser itself reports the statuses


@pytest.mark.parametrize("body", ['{"error": {"type": "stuck", "message": "no worker"}}', "<p>no"])
def test_a_server_that_stays_away_leaves_a_button(page: Any, body: str) -> None:
    page.route("**/v1/summarize", lambda route: route.fulfill(status=503, body=body))
    page.get_by_label("Your text").fill(TEXT)
    page.wait_for_selector("#problem:visible")
    assert "503" in page.locator("#problem").inner_text() or "No worker" in (
        page.locator("#problem").inner_text()
    )
    assert page.locator("#facts").is_hidden()
    page.unroute("**/v1/summarize")
    page.get_by_role("button", name="Try again").press("Enter")
    page.wait_for_selector("#summary:not(.empty)")
    assert page.locator("#problem").is_hidden()
    page.problems.clear()  # the browser itself reports the statuses


def test_a_slow_network_is_said(page: Any) -> None:
    held = Held(page)
    page.get_by_label("Your text").fill(TEXT)
    page.locator("#status", has_text="Still waiting for the server: 3 s").wait_for()
    assert page.locator("#live").inner_text() == "Still waiting for the server."
    held.release()
    page.wait_for_selector("#summary:not(.empty)")
    assert "answered in" in page.locator("#status").inner_text()


def test_a_page_that_cannot_reach_its_server_can_try_again(browser: Any, live_url: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.route("**/v1/model", lambda route: route.abort())
    page.goto(live_url)
    page.wait_for_selector("#problem:visible")
    page.unroute("**/v1/model")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("#preset optgroup", state="attached")
    assert page.locator("#problem").is_hidden()
    paste(page, TEXT)
    context.close()


@pytest.mark.parametrize("lost", ["app.js", "wording.js", "graph.js"])
def test_a_part_of_the_page_that_does_not_come_is_said(
    browser: Any, live_url: str, lost: str
) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.route(f"**/page/{lost}", lambda route: route.fulfill(status=503, body="no"))
    page.goto(live_url)
    notice = page.locator("#loading")
    assert notice.is_hidden()  # nothing flashes while a page loads as fast as pages do
    notice.wait_for()
    page.unroute(f"**/page/{lost}")
    notice.get_by_role("link", name="load the page again").click()
    page.wait_for_selector("#preset optgroup", state="attached")
    assert notice.count() == 0
    paste(page, TEXT)
    context.close()


def test_a_text_without_summary_offers_its_first_words(page: Any) -> None:
    def no_summary(route: Any) -> None:
        if "on_infeasible" in route.request.post_data_json:
            response = route.fetch()
            reply = response.json()
            for line in reply.get("summaries", [reply]):
                line |= {"origin": "cut", "text": "Engineers closed", "alternatives": None}
            route.fulfill(response=response, body=json.dumps(reply))
            return
        error = {"type": "unsupported_script", "message": "no: ask for on_infeasible='cut'"}
        route.fulfill(status=422, body=json.dumps({"error": error}))

    page.route("**/v1/summarize", no_summary)
    page.get_by_label("Your text").fill(TEXT)
    page.wait_for_selector("#problem:visible")
    assert "on_infeasible" not in page.locator("#problem").inner_text()
    assert page.get_by_role("button", name="Try again").is_hidden()
    page.get_by_role("button", name="Show the first words instead").click()
    page.wait_for_selector("#summary:not(.empty)")
    assert shown(page) == "Engineers closed"
    assert "cut from the text" in page.locator("#badges").inner_text()
    assert "proved" not in page.locator("#badges").inner_text()
    page.wait_for_selector("#graph-note:visible")
    page.problems.clear()  # the browser itself reports the status


def test_nothing_is_shown_before_there_is_a_result(page: Any) -> None:
    for part in ("#facts", "#compare-card", "#graph-card", "#problem"):
        assert page.locator(part).is_hidden(), part
    paste(page, TEXT)
    page.wait_for_selector("#graph .vertex-group")
    page.get_by_label("Your text").fill("")
    for part in ("#facts", "#compare-card", "#graph-card", "#problem"):
        assert page.locator(part).is_hidden(), part


def test_copying_is_announced(page: Any) -> None:
    paste(page, TEXT)
    settle(page)
    page.locator("#copy").press("Enter")
    page.wait_for_function(
        "() => /^(Copied|Selected)/.test(document.querySelector('#live').textContent)"
    )


def test_the_graph_can_be_read_with_the_keyboard(page: Any) -> None:
    paste(page, TEXT)
    page.wait_for_selector("#graph .vertex-group.chosen")
    page.locator("details > summary").press("Enter")
    words = page.locator("#path-table tbody tr td:nth-child(2)").all_inner_texts()
    joined = " ".join(words).replace(" +", "")
    assert "".join(joined.split()).lower() == "".join(shown(page).split()).lower()
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
    order = [
        *("Skip to the summary", "API", "Your text", "News", "Slot", "Unit"),
        *(
            "At most 60 characters",
            "Limit",
            "Capitals",
            "Copy",
            "Another slot",
            "The path as a table",
        ),
    ]
    places = [names.index(name) for name in order]
    assert places == sorted(places)
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
        """() => [...document.querySelectorAll('button, select, input, summary')]
          .filter((e) => e.offsetParent)
          .map((e) => [e.id || e.className || e.textContent, e.getBoundingClientRect().height])
          .filter(([, height]) => height < 24)"""
    )
    assert small == []


def test_hostile_text_stays_text(page: Any) -> None:
    hostile = '<img src=x onerror=alert(1)> <script>alert(2)</script> "Engineers" & co'
    change_replies(page, lambda line: line.update(text=hostile, unsupported=[hostile]))
    page.get_by_label("Slot", exact=True).select_option("seo-title")
    paste(page, f"{hostile} {TEXT}")
    page.wait_for_selector("#compare-card[aria-busy=false]")
    assert shown(page) == hostile
    assert page.locator("#preview .title").text_content() == hostile
    assert hostile in page.locator("#compare").inner_text()
    assert hostile in page.locator("#alternatives").inner_text()
    page.wait_for_selector("#graph .vertex-group")
    assert page.locator("main img").count() == 0
    assert page.locator("main script").count() == 0


def test_errors_are_said_in_words_and_go_away(page: Any) -> None:
    paste(page, TEXT)
    page.get_by_label("Unit").select_option("tokens")
    page.get_by_label("Limit", exact=True).fill("1")
    page.wait_for_selector("#summary-card[aria-busy=false]")
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
        page.wait_for_selector("#preset optgroup", state="attached")
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


def test_the_reference_lists_its_routes_and_tries_a_request(browser: Any, live_url: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{live_url}/docs")
    for link in page.locator(".routes a").all():
        assert page.locator(str(link.get_attribute("href"))).count() == 1
    body = page.get_by_label("Try POST /v1/summarize")
    body.fill(json.dumps({"text": TEXT, "max_chars": 40}))
    page.get_by_role("button", name="Send").press("Enter")
    page.locator("#try-reply", has_text='"limit": 40').wait_for()
    body.fill('{"text": ')
    page.get_by_role("button", name="Send").press("Enter")
    assert "not JSON" in page.locator("#try-reply").inner_text()
    body.fill('{"text": "a b c", "max_char": 2}')
    page.get_by_role("button", name="Send").press("Enter")
    page.locator("#try-reply", has_text="did you mean 'max_chars'?").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
