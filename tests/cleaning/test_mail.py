"""Mail as it is pasted or stored."""

import pytest

from sumfit.cleaning import clean

OWN = "Please split this in two and send it again."


@pytest.mark.parametrize(
    "mail",
    [
        f"On Mon, 4 May 2026, Ann Lee wrote:\n> net: mend the helper\n> It is wrong.\n\n{OWN}",
        f"{OWN}\n\nOn Mon, 4 May 2026 at 10:02, Ann Lee <ann@example.org>\nwrote:\n\n> net: "
        f"mend it\n>> older",
        f"From: bo@example.org\nTo: ann@example.org\nSubject: Re: net\nDate: Mon, 4 May 2026\n\n"
        f"{OWN}",
        f"From: bo@example.org\n\n{OWN}",
        f"Hi Ann,\n\n{OWN}\n\nBest regards,\nBo Berg\nHead of Networks\n+44 20 7946 0000",
        f"Dear all,\n\n{OWN}\n\n-- \nBo Berg\nNorrland Networks\nwww.example.org",
        f"Hello Ann!\n\n{OWN}\n\nThanks,\nBo\n\nSent from my iPhone",
        f"{OWN}\n\nCheers\nBo\n\n-----Original Message-----\nFrom: Ann Lee\nSent: Monday\nTo: "
        f"Bo\nSubject: net\n\n",
        f"{OWN}\n\nBest\nBo\n\n-----Original Message-----\nFrom: Ann Lee\nSent: Monday\nTo: "
        f"Bo\nSubject: net\n\nHi Bo, please mend the helper in the net by Friday.",
        f"Hi Ann,\n\n{OWN}\n\nKind regards,\nBo\n\nThis e-mail is confidential and intended "
        f"only for Ann.",
    ],
)
def test_only_the_senders_own_words_are_read(mail: str) -> None:
    found = clean(mail)
    assert found.text == OWN
    assert found.kind == "mail"


def test_a_forwarded_mail_is_what_was_forwarded() -> None:
    mail = (
        "FYI\n\n---------- Forwarded message ---------\nFrom: Ann <ann@example.org>\n"
        "Date: Mon, 4 May 2026\nSubject: Fwd: Lift\nTo: Bo\n\nThe lift is out of order until "
        "Friday."
    )
    text = clean(mail).text
    assert text.endswith("The lift is out of order until Friday.")
    assert "ann@" not in text
    assert clean("See below.\n\n> The lift is out\n> of order.").text.endswith(
        "The lift is out of order."
    )


def test_a_subject_that_says_something_is_the_first_sentence() -> None:
    mail = (
        "From: ann@example.org\nSubject: Re: [staff] Lift out of order\n\nIt is repaired on Friday."
    )
    assert clean(mail).text == "Lift out of order.\nIt is repaired on Friday."


def test_a_message_file_is_decoded() -> None:
    mail = (
        "MIME-Version: 1.0\nFrom: ann@example.org\nSubject: =?utf-8?q?Caf=C3=A9_shut_today?=\n"
        'Content-Type: multipart/alternative; boundary="b"\n\n'
        "--b\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: "
        "quoted-printable\n\n"
        "The caf=C3=A9 is shut to=\nday.\n--b\nContent-Type: text/html\n\n<p>no</p>\n--b--\n"
    )
    assert clean(mail).text == "Café shut today.\nThe café is shut today."
    broken = mail.replace("utf-8\nContent-Transfer", "no-such-code\nContent-Transfer")
    assert "boundary" not in clean(broken).text


def test_every_message_of_a_thread_is_read() -> None:
    thread = "\n\n".join(
        f"From: P{number} <p{number}@example.org>\nDate: {number} May 2026\nSubject: Re: roof\n\n"
        f"Offer {number} is good.\n\nRegards,\nP{number}"
        for number in range(1, 41)
    )
    text = clean(thread).text
    assert text.split("\n") == [f"Offer {number} is good." for number in range(1, 41)]


@pytest.mark.parametrize(
    "text",
    [
        "Thanks for the update, we ship on Friday.",
        "Hi all, we ship.",
        "From: the start it was clear\nthat 5 > 3.",
        "a > b\nb > c",
        "Subject to change: the time and place.",
        "Dear reader, it rained.",
    ],
)
def test_what_is_no_mail_stays(text: str) -> None:
    assert clean(text).text is text


def test_a_mail_without_words_of_its_own_is_left_alone() -> None:
    signature = "-- \nBo Berg\nHead of Networks"
    assert "Bo Berg" in clean(signature).text
