"""What a short talk, complaint, review, incident or set of minutes comes to is read first."""

import time

import pytest

from sumfit.text.passages import TextForm
from sumfit.text.points import main_first


def read(text: str, form: TextForm = "article") -> str:
    found = main_first(text, form)
    assert found is not None
    assert found.n_sentences <= found.of_sentences
    return found.text


def test_what_a_talk_settles_comes_first_without_assent() -> None:
    talk = (
        "Who can open the hall on Friday?\nI did it the last two times.\n"
        "OK, then let's give the key to Marek for the whole month.\nGreat, thanks."
    )
    assert read(talk, "talk") == "Give the key to Marek for the whole month."


def test_a_question_stays_where_the_decision_refers_to_it() -> None:
    talk = (
        "is anybody still using the old wiki server?\nnot us.\nnot us, we moved in may.\n"
        "cool. then let's switch it off on friday. we have copies of all pages.\nfine"
    )
    found = main_first(talk, "talk")
    assert found is not None
    assert found.text == "is anybody still using the old wiki server? Switch it off on friday."
    assert found.main == "Switch it off on friday."


def test_of_two_decisions_of_a_talk_the_later_one_counts() -> None:
    talk = (
        "We need a room for forty people.\nLet's take the library.\nIt is being painted.\n"
        "Then let's take the gym."
    )
    assert read(talk, "talk").startswith("Take the gym.")


def test_the_greeting_of_a_desk_is_left_out() -> None:
    talk = (
        "Thanks for calling Northway Travel, my name is Ulla.\nMy flight to Oslo was cancelled.\n"
        "I'm sorry about that.\nWe will put you on the flight at noon tomorrow.\nThank you."
    )
    assert read(talk, "talk") == (
        "We will put you on the flight at noon tomorrow. My flight to Oslo was cancelled."
    )


def test_of_an_interview_the_answers_are_read() -> None:
    talk = (
        "You have led the museum for nine years. Why do you leave?\n"
        "Nine years are enough.\nWhat comes next for you?\n"
        "I will write a book about the whaling ships of the town."
    )
    found = read(talk, "talk")
    assert found.startswith("I will write a book")
    assert "You have led" not in found


def test_of_questions_with_answers_below_the_answers_are_read() -> None:
    text = (
        "How do I renew my card?\nShow your passport at the desk.\n"
        "Where can I park?\nThe yard behind the library is free after six."
    )
    assert read(text) == (
        "Show your passport at the desk. The yard behind the library is free after six."
    )
    assert main_first(text.replace("Show", "Yes, show")) is None


@pytest.mark.parametrize("label", ["Decision: ", "AGREED: ", "Resolved - ", "Outcome: "])
def test_a_labelled_decision_comes_first_without_its_label(label: str) -> None:
    text = f"Garden club.\nEight members came.\n{label}the pond is dug in March.\nTea followed."
    assert read(text).startswith("The pond is dug in March. ")


def test_a_vote_in_minutes_comes_first() -> None:
    text = (
        "Minutes of the tenants' meeting.\nApologies: Mr Bell.\nThe roof was discussed.\n"
        "Members voted 7 to 3 to replace the lift.\nThe next meeting is in May."
    )
    assert read(text).startswith("Members voted 7 to 3 to replace the lift. ")
    assert main_first(text.replace("Minutes of the tenants' meeting.", "Leeds.")) is None


def test_a_mail_begins_with_what_it_settles() -> None:
    text = (
        "Both caterers sent their offers this week. The second one is cheaper. "
        "So let's go with the second one. Menus follow next week."
    )
    assert read(text, "thread").startswith("Go with the second one. ")
    assert main_first(text.replace("let's go with", "I prefer"), "thread") is None


def test_an_incident_begins_with_the_outage_and_its_end() -> None:
    log = (
        "Incident 31 - search unavailable.\n08:02 Deploy of index 4 finished.\n"
        "08:10 Alert fires.\n08:30 Index 3 is back, search is back to normal.\n"
        "09:00 Root cause: a full disk.\n09:30 More disks were ordered for all of the clusters."
    )
    found = main_first(log)
    assert found is not None
    assert found.text.startswith(
        "Search unavailable. Index 3 is back, search is back to normal. Root cause: a full disk."
    )
    assert found.main == "Search unavailable. Index 3 is back, search is back to normal."


@pytest.mark.parametrize("label", ["[RESOLVED] ", "Resolved: ", "Status: resolved - "])
def test_that_an_incident_is_resolved_stays_with_its_title(label: str) -> None:
    text = f"{label}Slow search in the shop. Results took up to a minute. A disk was full."
    found = main_first(text)
    assert found is not None
    assert found.text.startswith("Slow search in the shop resolved. Results took")
    assert found.main == "Slow search in the shop resolved."


def test_an_incident_that_goes_on_stays_as_it_is() -> None:
    assert main_first("Incident 31 - search unavailable.\nWe look into it.") is None


def test_a_complaint_begins_with_the_fault_and_what_is_wanted() -> None:
    text = (
        "I ordered a desk from your shop in May. The left drawer is broken. "
        "The courier was friendly. I have sent you two mails about it. I would like a new drawer."
    )
    assert read(text).startswith("The left drawer is broken. I would like a new drawer. ")


def test_what_a_fault_refers_to_stands_before_it() -> None:
    text = (
        "I bought your kettle in June and have used it daily. Since Monday it leaks from the lid. "
        "I want my money back."
    )
    assert read(text) == (
        "I bought your kettle in June. Since Monday it leaks from the lid. I want my money back."
    )


def test_a_fault_that_a_ticket_asks_about_is_read_without_the_question() -> None:
    text = (
        "My phone no longer rings since the update. I restarted it twice and it did not help. "
        "Could somebody look at my phone today?"
    )
    found = main_first(text)
    assert found is not None
    assert "?" not in found.text
    assert found.main == "My phone no longer rings since the update."


def test_a_review_begins_with_its_verdict() -> None:
    text = (
        "We stayed two nights in April. The view is lovely. But the heating was off all night. "
        "I would not book this hotel again. 2 stars."
    )
    assert read(text).startswith(
        "I would not book this hotel again. The heating was off all night."
    )


def test_section_labels_and_versions_above_them_are_left_out() -> None:
    text = "v3.1.0.\nNew.\nPrinting in colour.\nFixed.\nCrash on start."
    assert read(text) == "Printing in colour. Fixed. Crash on start."


def test_a_title_that_is_said_again_is_left_out() -> None:
    text = "Bridge closes Monday.\nThe old bridge closes on Monday for repairs. Buses go round."
    assert read(text) == "The old bridge closes on Monday for repairs. Buses go round."
    assert main_first(text.replace("Bridge closes", "Leeds works")) is None


@pytest.mark.parametrize(
    "text",
    [
        "The council voted 9 to 2 to close the pool. It will open again in May, the mayor said.",
        "We study naps. Results: reaction times fell by 12%. Naps may help in hospitals.",
        "The loop slept too long. Use a timer and return at once. I think this is not worth more.",
        "Engineers shut the bridge at 09:00 on Monday. It was back to normal on Friday.",
        "My father was a baker. He told me that bread needs time. I bake every Sunday.",
        "It rained.",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert main_first(text) is None


def test_time_grows_in_step_with_the_text() -> None:
    def seconds(text: str) -> float:
        started = time.perf_counter()
        for form in ("article", "talk", "thread"):
            main_first(text, form)  # type: ignore[arg-type]
        return time.perf_counter() - started

    for unit in ("ok ", "14:00 ", "let's ", "[resolved] ", "I would not ", "incident-1", " \t"):
        assert seconds(unit * 4000) < 1.0
