"""Transcripts, subtitles, chats, logs."""

import pytest

from sumfit.cleaning import clean


@pytest.mark.parametrize(
    ("transcript", "text"),
    [
        (
            "**Mara Lund:** You left the cloud, didn't you?\n\n**Tom Oda:** Yes, the bill fell "
            "by half.",
            "You left the cloud, didn't you?\nYes, the bill fell by half.",
        ),
        (
            "[00:00:03] HOST: Today: slugs on lettuce\n[00:00:11] GUEST: Copper tape works.",
            "Today: slugs on lettuce.\nCopper tape works.",
        ),
        (
            "0:00 We replace a screen\n0:12 Warm the edge first.\n1:02:40 Lift the glass",
            "We replace a screen.\nWarm the edge first.\nLift the glass",
        ),
        (
            "Ann: The roof leaks again.\nBo: How bad is it?\nAnn: We need a bucket.",
            "The roof leaks again.\nHow bad is it?\nWe need a bucket.",
        ),
        (
            "WEBVTT\n\n1\n00:00:01.000 --> 00:00:04.000\n<v Ann>The roof\n\n2\n00:00:04.000 --> "
            "00:00:05.000\nleaks again.",
            "The roof leaks again.",
        ),
        (
            "12/05/2026, 10:21 - Ann: The roof leaks\n12/05/2026, 10:22 - Bo: Again?",
            "The roof leaks.\nAgain?",
        ),
        (
            "[12/05/2026, 10:20:01] Ann: Messages and calls are end-to-end encrypted.\n"
            "[12/05/2026, 10:21:10] Ann: The roof leaks\n[12/05/2026, 10:22:00] Bo: image omitted\n"
            "[12/05/2026, 10:23:00] Bo left\n[12/05/2026, 10:24:00] Ann: Bo left the keys here",
            "The roof leaks.\nBo left the keys here",
        ),
        (
            "2026-05-04 10:00:01,123 ERROR disk is full\n2026-05-04 10:00:02,456 INFO retry in 5 s",
            "disk is full.\nretry in 5 s",
        ),
        (
            "Ann Lee (00:12):\nThe roof leaks.\n\nBo Berg (00:15):\nHow bad is it?",
            "The roof leaks.\nHow bad is it?",
        ),
        (
            "00:00 Intro\n00:41 What you need\n02:15 Sanding the frame\n05:30 Thanks to our "
            "sponsor Lamps & Co\n12:00 Outro",
            "What you need.\nSanding the frame",
        ),
        (
            "**Q: You've kept bees for years. What changed?**\n\n**Amparo Ruhl:** Because of mites "
            "we lost half.\n\n**Q: And now?**\n\n**Amparo Ruhl:** We breed **our own** queens.",
            "You've kept bees for years. What changed?\nBecause of mites we lost half.\nAnd now?\n"
            "We breed our own queens.",
        ),
        (
            "**Q: Why bees?** My **aunt** kept them.\n\n**Q: And winter?** We lost half.",
            "Why bees? My aunt kept them.\nAnd winter? We lost half.",
        ),
        (
            "*Q: Why bees?*\n\n__A:__ My aunt kept them.\n\n"
            "*Q: And winter?*\n\n__A:__ We lost half.",
            "Why bees?\nMy aunt kept them.\nAnd winter?\nWe lost half.",
        ),
        ("- 0:00 Intro\n- 0:41 What you need\n- 2:15 Sanding", "What you need.\nSanding"),
        ("**Q: Why move?**\n**A:** The rent doubled.", "Why move?\nThe rent doubled."),
        (
            "WEBVTT\n\n00:00:01.000 --> 00:00:04.000\nOkay, uh, I think we're all here.\n\n"
            "00:00:04.000 --> 00:00:08.000\nUm, so the, uh, budget is, erm, cut, um, by half.",
            "So the budget is cut by half.",
        ),
        (
            "[Music]\nSPEAKER 1: Welcome back to us.\nSPEAKER 2: (laughs) Glad to be here.",
            "Welcome back to us.\nGlad to be here.",
        ),
    ],
)
def test_time_stamps_and_speakers_are_not_content(transcript: str, text: str) -> None:
    found = clean(transcript)
    assert found.text == text
    assert found.kind == "transcript"


@pytest.mark.parametrize(
    "text",
    [
        "Place: Leeds\nSalary: 30,000 a year\nHours: 20 a week, mornings",
        "Note: it rains.\nWarning: it is wet outside.",
        "The train leaves at 10:21.\nIt is late.",
        "A: Hello, how are you? B: Fine, and you?",
        "Breaking: it rained all day.",
        "net: mend the helper\nfs: close the file",
        "10:30 is the time",
        "- 0:00 The start",
        "snake__case and 2** and a_",
        "Um, so I think the roof leaks.",
    ],
)
def test_what_is_no_transcript_stays(text: str) -> None:
    found = clean(text)
    assert set(found.removed) <= {"paragraphs"}
    assert found.text.replace(".\n", "\n") == text.replace(".\n", "\n")


def test_names_in_small_letters_are_left_out_of_a_stamped_chat() -> None:
    chat = "[10:02] dana: why is the site down?\n[10:03] luis: i moved the database"
    assert clean(chat).text == "why is the site down?\ni moved the database"
    log = "10:02:01 sshd: session opened\n10:02:03 cron: job started"
    assert "sshd: session opened" in clean(log).text


def test_a_talk_begins_where_it_says_something() -> None:
    hello = "Ann: Okay, I think we're all here. Right, let's get started."
    talk = f"{hello}\nBo: The roof leaks again today."
    assert clean(talk, "transcript").text == "The roof leaks again today."


def test_chapters_that_say_nothing_stay_if_there_are_no_others() -> None:
    assert clean("00:00 Intro\n12:00 Outro").text == "Intro.\nOutro"


def test_words_like_fillers_stay() -> None:
    said = (
        "Ann: Uh-huh, the Umbrella um... leaks.\nBo: Uh. Yes, and the drum.\nAnn: It is, um, old."
    )
    assert clean(said).text == "Uh-huh, the Umbrella leaks.\nYes, and the drum.\nIt is old."
    german = "Ann: Wir treffen uns um zehn, ja.\nBo: Um zehn ist gut.\nAnn: Dann bis um zehn."
    assert clean(german).text == german.replace("Ann: ", "").replace("Bo: ", "")


def test_a_name_after_an_hour_is_no_half_of_the_day() -> None:
    log = "09:02 Amina restarts the server.\n09:11 pm2 reports it up.\n09:15 UTC All is well."
    assert clean(log).text == "Amina restarts the server.\npm2 reports it up.\nAll is well."


@pytest.mark.parametrize(
    "chat",
    [
        "dana: why is the site down?\nluis: i moved the database\ndana: ok, tell me when it is up",
        "<dana> why is the site down?\n<luis> i moved the database\n<dana> ok, tell me when it is "
        "up",
        "10:02 dana: why is the site down\n10:03 Luis: i moved\n10:04 Luis: the database\n"
        "10:05 dana: ok, tell me when it is up",
    ],
)
def test_names_in_small_letters_are_left_out_of_other_chats(chat: str) -> None:
    said = clean(chat).text
    assert said.startswith("why is the site down")
    assert not any(name in said.lower() for name in ("dana", "luis"))


def test_marks_within_what_is_said_stay() -> None:
    chat = "Ann: Is it 2**3 or a__b now?\nBo: It is 2**3, I think.\nAnn: Then add __init__ to it."
    assert clean(chat).text == chat.replace("Ann: ", "").replace("Bo: ", "")


def test_the_times_of_a_day_stay_in_a_list() -> None:
    assert "10:00" in clean("- 10:00 Doors open\n- 11:30 The band plays").text


@pytest.mark.parametrize(
    "said",
    [
        "Ana: Hallo, wann treffen wir uns am WE?\nBen: Um drei, oder um vier?\nAna: Gut, um drei.",
        "Ana: Temos um plano para a ponte?\nRui: Sim, um plano, I guess.\nAna: E um barco, sim.",
        "Ana: The port of Umm Qasr is shut.\nBen: Is Umm Qasr in Iraq?\nAna: Yes, it is near us.",
    ],
)
def test_um_stays_where_it_may_be_a_word(said: str) -> None:
    found = clean(said).text
    assert [word.lower() for word in found.split()] == [
        word.lower() for word in said.split() if word not in ("Ana:", "Ben:", "Rui:")
    ]


def test_only_what_begins_at_zero_has_chapters() -> None:
    day = "9:00 Welcome\n9:30 Introduction\n10:00 Talk by Ana Hart\n11:00 Ad break\n12:00 Lunch"
    assert "Ad break" in clean(day).text
    video = day.replace("9:00", "0:00")
    assert "Ad break" not in clean(video).text
