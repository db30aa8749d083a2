"""The times of timetables and agendas stay; those of chats, logs and chapters go."""

import pytest

from sumfit.cleaning import clean

_RAIL = "08:15 departs Leeds\n09:42 arrives York\n10:05 departs York\n11:31 arrives Hull"


@pytest.mark.parametrize(
    "text",
    [
        _RAIL,
        "Timetable from Monday:\n08:15 Leeds\n09:42 York",
        "Departures\n08.15 - Leeds\n09.42 - York",
        "09:00 Welcome and coffee\n09:30 Keynote: Ann Bell on bridges\n12:00 Lunch",
        "Mon 4 May\n09:00 - 09:30 Registration\n09:30 - 10:15 Talk by Dr Lee\n11:00 Coffee",
        "9:00 am Breakfast\n11:30 am Visit to the castle\n1:00 pm Lunch at the harbour",
        "Agenda for 4 May\n\n- 10:00 Budget\n- 10:32 New school\n- 11:00 Other business",
        "7:00 pm Doors open\n9:30 pm Ana Lima plays\n11:00 pm Dancing\n2:00 am Last bus",
    ],
)
def test_the_times_of_a_plan_stay(text: str) -> None:
    found = clean(text)
    assert found.kind == "plain"
    lines = [line.removeprefix("- ").rstrip(".") for line in text.split("\n") if line]
    assert [line.rstrip(".") for line in found.text.split("\n")] == lines
    assert all(line[-1] in ".:" for line in found.text.split("\n")[:-1])


@pytest.mark.parametrize(
    "text",
    [
        "10:00 Ana: hi all, the server is down\n10:05 Bo: again? which one\n10:10 Ana: the mail",
        "10:00 the server failed\n10:05 restarted the mail server\n10:20 mail works again",
        "10:00:05 server started\n10:00:10 disk nearly full\n10:01:00 disk full",
        "2026-05-04 10:00 Server up\n2026-05-04 10:05 Disk full\n2026-05-04 10:10 Disk free",
        "[10:00] Server up\n[10:05] Disk full\n[10:10] Disk free",
        "0:00 What a loom is\n5:30 How to thread it\n12:00 Mistakes",
        "2:12 What a loom is\n5:31 How to thread it\n12:04 Mistakes",
        "14:00 The minister arrives and is met.\n14:30 He says that taxes fall.\n15:10 He leaves.",
        "10:00 Bo opened the meeting.\n10:05 The board agreed to sell the pool.\n10:40 All left.",
    ],
)
def test_other_times_at_line_starts_go(text: str) -> None:
    found = clean(text)
    assert found.kind == "transcript"
    assert not any(line[:1].isdecimal() for line in found.text.split("\n"))


def test_what_is_said_to_be_a_transcript_is_one() -> None:
    assert clean(_RAIL, "transcript").text.startswith("departs Leeds.")
