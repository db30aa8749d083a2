"""What of a ticket is not read: its fields, how to repeat the fault, what was expected."""

import time

import pytest

from sumfit.cleaning import clean
from sumfit.text.points import parts_of
from sumfit.text.tickets import without_fields

_FIELDS = "Ticket: 4711\nPriority: high\nProduct: Loom Desk 3\n"
_STEPS = "Steps: 1. Open a table. 2. Choose Export. 3. Wait.\n"
_LISTED = "Steps to reproduce:\n1. Open a table\n2. Choose Export\n"


def read(text: str) -> str:
    parts = parts_of(clean(text).text)
    assert parts is not None
    found = parts.read(parts.named or 0)
    assert found is not None
    return found.text


@pytest.mark.parametrize("steps", [_STEPS, _LISTED, "Environment: Windows 11\n" + _LISTED, ""])
@pytest.mark.parametrize("fields", [_FIELDS, "Ticket #881\nStatus: open\nReporter: Ana Lima\n", ""])
@pytest.mark.parametrize("end", [".", ""])
def test_what_is_wrong_is_read_of_a_ticket(fields: str, steps: str, end: str) -> None:
    actual = f"Actual: the export hangs and the processor is busy for an hour{end}"
    text = f"{fields}{steps}{actual}\nExpected: a file is saved{end}"
    assert read(text) == "The export hangs and the processor is busy for an hour."


def test_the_description_of_a_ticket_is_read_without_its_label() -> None:
    text = (
        f"{_FIELDS}\nDescription: Large tables are not saved since May.\n{_LISTED}Actual: it hangs"
    )
    assert read(text) == "Large tables are not saved since May. It hangs."


def test_a_subject_and_prose_between_fields_stay() -> None:
    text = "Case 12\nSubject: Export hangs\nBrowser: Ferret 3\nIt began in May.\nActual: no file"
    assert without_fields(text) == ("Export hangs.\nIt began in May.\nNo file", True)


def test_what_a_field_says_in_a_sentence_stays_beside_sections() -> None:
    text = "Case 12\nAffected: all trains between Leeds and York.\nDescription: A tree fell."
    assert "Affected: all trains between Leeds and York." in without_fields(text)[0]


def test_a_remark_in_a_ticket_stays() -> None:
    text = f"{_FIELDS}Actual: it hangs\nWorkaround: restart"
    assert without_fields(text)[0] == "It hangs\nWorkaround: restart"


@pytest.mark.parametrize("state", ["open", "in progress", "pending", "Waiting for customer"])
@pytest.mark.parametrize("rest", ["", "Priority: high\n", "Assignee: none\n\n"])
def test_a_state_on_the_first_line_is_not_read(state: str, rest: str) -> None:
    said = "Customers in Leeds cannot pay by card since Monday. Cash works."
    assert read(f"Status: {state}\n{rest}{said}") == said


def test_that_a_fault_is_over_is_read() -> None:
    text = "Status: resolved\nThe search was down for an hour. Sorry."
    assert "Resolved." in read(text)
    assert without_fields("Status: Resolved\nSubject: Search down\nSorry.")[0].startswith(
        "Search down resolved."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Description: a lamp of brass.\nColour: gold\nIt is made in Leeds.",
        "Steps: 1. Boil the water. 2. Add the pasta.\nServe it hot with cheese.",
        "Actual costs: 4 million\nThe council was told on Monday.",
    ],
)
def test_what_is_no_ticket_stays(text: str) -> None:
    assert without_fields(text) == (text, False)


def test_time_grows_in_step_with_the_text() -> None:
    started = time.perf_counter()
    for unit in ("a:", "A: ", "Steps: 1\n", "Actual: x\nExpected: y\n", "Status: open\n", "A "):
        without_fields(unit * 20_000)
    assert time.perf_counter() - started < 3.0
