"""Which sentence of a short text is read first, and what of it is not read."""

import time

import pytest

from sumfit.text.passages import Passages, TextForm
from sumfit.text.points import parts_of


def main_first(text: str, form: TextForm = "article") -> Passages | None:
    """What is read where no model says which sentence comes first."""
    parts = parts_of(text, form)
    return None if parts is None else parts.read(parts.named or 0)


def read(text: str, form: TextForm = "article") -> str:
    found = main_first(text, form)
    assert found is not None
    assert found.n_sentences <= found.of_sentences
    return found.text


@pytest.mark.parametrize("label", ["Decision: ", "AGREED: ", "Resolved - ", "Outcome: "])
def test_a_labelled_decision_comes_first_without_its_label(label: str) -> None:
    text = f"Garden club.\nEight members came.\n{label}the pond is dug in March.\nTea followed."
    assert read(text).startswith("The pond is dug in March.")


def test_the_conclusions_of_an_abstract_come_first() -> None:
    text = (
        "Objective: to test lamps. Results: mood rose by 2 points with and by 3 without. "
        "Conclusions: Lamps did not lift the mood. More trials are planned."
    )
    assert read(text).startswith("Lamps did not lift the mood. Objective:")


def test_the_fields_of_a_ticket_are_left_out_but_its_subject() -> None:
    text = (
        "Ticket 4411\nProduct: Loom 3\nSubject: No sound\n"
        "Since the update no video has sound. Restarting did not help. Is there a fix?"
    )
    assert sorted(read(text).split(". ")) == [
        "Is there a fix?",
        "No sound",
        "Restarting did not help",
        "Since the update no video has sound",
    ]
    assert main_first("Place: Leeds\nDate: 4 May\nThe choir sings. Tickets are free.") is None


@pytest.mark.parametrize(
    "said",
    [
        "Decision: the board sells the pool.\nPlan: an auction",
        "Plan: the council closes the bridge on 4 May for six weeks",
        "Request: two more nurses for the night shift.",
        "Affected: all trains between Leeds and York.",
    ],
)
def test_what_a_field_says_in_a_sentence_is_read(said: str) -> None:
    text = f"{said}\nThe board met for an hour in the hall. There was tea for the guests."
    found = main_first(text)
    read_ = text if found is None else found.text
    assert all(word in read_ for word in said.split(":")[1].split(".")[0].split()[1:])


def test_each_turn_of_talk_is_parted() -> None:
    parts = parts_of("hi all. anyone there?\nyes\nthe meeting moves to Friday at 10\nok", "talk")
    assert parts is not None
    assert parts.is_open
    assert not parts.is_changed
    found = parts.read(3)
    assert found is not None
    assert found.text.startswith("The meeting moves to Friday at 10. hi all.")
    assert found.n_sentences == found.of_sentences == 5
    assert parts.read(0) is None


def test_two_sentences_stay_in_their_order() -> None:
    parts = parts_of("It rained. The pool closes on 1 May.")
    assert parts is not None
    assert not parts.is_open


def test_an_incident_that_goes_on_stays_as_it_is() -> None:
    assert main_first("Incident 31 - search unavailable.\nWe look into it.") is None


def test_section_labels_and_versions_above_them_are_left_out() -> None:
    text = "v3.1.0.\nNew.\nPrinting in colour.\nFixed.\nCrash on start."
    assert read(text) == "Printing in colour. Fixed. Crash on start."


def test_a_version_above_the_text_does_not_get_between_its_sentences() -> None:
    text = "4.8.\nMinor things.\nThe pool is closed from Monday because the roof leaks.\nBye."
    parts = parts_of(text)
    assert parts is not None
    found = parts.read(2)
    assert found is not None
    assert found.text == "The pool is closed from Monday because the roof leaks. Minor things. Bye."


def test_how_to_repeat_a_fault_is_not_read() -> None:
    text = (
        "Describe the bug.\nTables lose their width.\nTo reproduce.\nPaste a table.\n"
        "Expected behavior.\nThe width stays."
    )
    assert read(text) == "Tables lose their width. The width stays."


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
        "The cause of the rash is unclear. It is rare. It was seen in 46 patients. It is harmless.",
        "How tokens merge is unclear. We propose MERGE, which learns it. It is twice as fast.",
        "Redhill beat Northam 3-2 on Sunday as Ann Bell saved twice. Northam stay first.",
        "Rain fell on the fields. The farmers sold their wheat to the mill in May.",
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
