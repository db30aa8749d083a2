"""Greetings, headings that fit any text and small talk are no content."""

import time

import pytest

from sumfit.cleaning import clean

SAID = "The ferry stops in May because its engine is broken."


@pytest.mark.parametrize(
    "opener",
    [
        "Hi folks,\n\n",
        "Hello everyone! ",
        "Good morning, neighbours! ",
        "Morning all,\n\nStatus.\n\n",
        "Dear Ms Hartwell,\n\nThank you for your message. ",
        "Dear guests, ",
        "To whom it may concern,\n\n",
        "Friends, ",
        "Hey everyone 👋 so happy to share that ",
        "Weekly update\n\n",
        "UPDATE!!! ",
        "Service notice: ",
        "So... big news. ",
        "Just a short note that ",
        "Please be informed that ",
        "Hi Lena,\n\nI'm afraid that ",
    ],
)
def test_an_opener_is_left_out(opener: str) -> None:
    found = clean(opener + SAID)
    assert found.text == SAID
    assert "openers" in found.removed


@pytest.mark.parametrize(
    "text",
    [
        "Hello Kitty, the cat of Sanrio, turns fifty this year.",
        "Good Morning Vietnam is shown again in cinemas this week.",
        "Update the parser so that empty files give an empty list.",
        "News of the fire spread quickly through the old town.",
        "Severe weather warning: heavy snow expected from Friday.",
        "Thanks for the update, we ship on Friday.",
        "Thank you for the music, she said as the hall emptied.",
        "Team Norland won the cup for the third time in a row.",
        "Hi all, we ship.",
        "Dear reader, it rained.",
    ],
)
def test_what_says_something_stays(text: str) -> None:
    assert clean(text).text is text


def test_what_follows_begins_with_a_capital() -> None:
    found = clean("Hello, since the update I can't export invoices to PDF any more.")
    assert found.text == "Since the update I can't export invoices to PDF any more."


def test_a_refusal_behind_thanks_stays() -> None:
    found = clean("Thank you for your offer, but we can't take part in the fair this year.")
    assert found.text == "We can't take part in the fair this year."


@pytest.mark.parametrize(
    "opener",
    ["Morning team :sun: ", "ATTENTION ALL PARENTS\n\n", "Notice to all residents: ", "Urgent! "],
)
def test_whom_a_notice_calls_is_left_out(opener: str) -> None:
    said = "The school stays closed on Friday because of ice."
    assert clean(opener + said).text == said


def test_small_talk_before_a_talk_is_left_out() -> None:
    talk = (
        "[00:00] Ana: Hi everyone, can you hear me?\n[00:04] Raj: Yes, we can.\n"
        f"[00:06] Ana: Great. {SAID}\n[00:15] Raj: OK, I'll tell the crews of both boats."
    )
    assert clean(talk).text.startswith(SAID)


def test_openers_take_time_in_step_with_the_text() -> None:
    def seconds(text: str) -> float:
        started = time.perf_counter()
        clean(text)
        return time.perf_counter() - started

    for opener in ("Hi ", "so ", "thanks for ", "welcome to ", "Update: ", "\n "):
        assert seconds(opener * 20_000) < 40 * max(seconds(opener * 2_000), 0.01), opener
