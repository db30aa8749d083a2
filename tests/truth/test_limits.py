"""Exceptions, conditions that follow, and who says something."""

import time

import pytest

from sumfit.truth import joints_of, support

FERRIES = (
    "All ferries to the islands are cancelled on Thursday except the morning crossing to Hale, "
    "the operator said."
)
STRIKE = "The union said nurses will strike on Monday unless the hospital agrees to a pay rise."
POOL = (
    "Only members of the swimming club may use the outdoor pool until repairs of the main hall "
    "end in March."
)
PERMIT = "Only residents with a blue permit can park in the old town until the tunnel reopens."
CHARITY = (
    "A charity that surveyed 2,300 children says one in five of them goes to school without "
    "breakfast."
)
AUNT = "The aunt of a boy who survived the bus crash says the driver had asked for a break twice."
FLIGHTS = "The airline said its flights to Tarsk will not resume before July."


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        (FERRIES, "All ferries to islands cancelled on Thursday"),
        (FERRIES, "Ferries to islands cancelled on Thursday"),
        (STRIKE, "Nurses to strike on Monday"),
        (STRIKE, "Nurses will strike on Monday, union says"),
        (POOL, "Swimming club may use outdoor pool until repairs"),
        (PERMIT, "Only residents can park in old town"),
        (FLIGHTS, "Flights to Tarsk will not resume, airline says"),
        ("Unless it rains, the harvest begins on Monday.", "Harvest begins on Monday"),
    ],
)
def test_a_lost_limit_is_found(source: str, summary: str) -> None:
    found = support(source, summary)
    assert found.lost_limits
    assert not found.supported
    assert found.checks["modality"] is False


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        (FERRIES, "Most ferries to islands cancelled on Thursday"),
        (FERRIES, "Ferries to islands cancelled on Thursday except morning crossing"),
        (STRIKE, "Union says nurses will strike unless hospital agrees"),
        (STRIKE, "Nurses threaten to strike over pay"),
        (POOL, "Only members may use outdoor pool until March"),
        (POOL, "Swimming club members may use outdoor pool"),
        (PERMIT, "Only residents with permit can park in old town"),
        (FLIGHTS, "Airline says Tarsk flights will not resume before July"),
        (
            f"{FERRIES} Ferries to islands are cancelled on Thursday.",
            "Ferries to islands cancelled",
        ),
    ],
)
def test_a_kept_limit_is_supported(source: str, summary: str) -> None:
    assert not support(source, summary).lost_limits


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        (CHARITY, "2,300 children say who go to school without breakfast"),
        (CHARITY, "Children say one in five goes to school without breakfast"),
        (AUNT, "Boy says driver asked for a break"),
        ("People who asked 900 couples found that one in three left.", "900 couples find one left"),
        (AUNT, "Boy who survived bus crash says driver had asked for a break"),
    ],
)
def test_another_speaker_is_found(source: str, summary: str) -> None:
    found = support(source, summary)
    assert found.wrong_speakers
    assert found.checks["roles"] is False


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        (CHARITY, "One in five children skip breakfast, charity says"),
        ("Police said that they found a body in a well.", "Body found in well"),
        ("A study found that tea helps, its authors say.", "Study finds tea helps"),
        (AUNT, "Aunt of boy who survived bus crash says driver asked for break"),
        ("A spokesman for Ford said the plant will close.", "Ford says plant will close"),
        ("Tesla recalled cars. The company said doors may open.", "Tesla says doors may open"),
        ("Sara Cole, chair of the club, said it is closed.", "Club chair Sara Cole says closed"),
        ('"We are ready," said Jane Smith, mayor of York.', "Mayor of York says city is ready"),
        ("The airport reopened. He said that flights resume.", "Airport says flights resume"),
    ],
)
def test_who_speaks_is_supported(source: str, summary: str) -> None:
    assert not support(source, summary).wrong_speakers


def test_a_place_is_no_subject() -> None:
    source = "A court in Lund acquitted two fishermen."
    assert support(source, "Lund acquitted two fishermen").glued
    assert not support(source, "Lund court acquitted two fishermen").glued


HOSTEL = "Our hostel has 40 beds and a garden. Breakfast costs 6 euros. Work begins in April."


@pytest.mark.parametrize(
    ("summary", "parted"),
    [
        (
            "Our hostel has 40 beds and a garden, breakfast costs 6 euros",
            "Our hostel has 40 beds and a garden; breakfast costs 6 euros",
        ),
        ("Our hostel has 40 beds, a garden", "Our hostel has 40 beds, a garden"),
        ("In our hostel garden, breakfast costs 6", "In our hostel garden, breakfast costs 6"),
        ("Hostel has 40 beds", "Hostel has 40 beds"),
    ],
)
def test_clauses_of_two_sentences_are_parted(summary: str, parted: str) -> None:
    assert joints_of(HOSTEL).parted(summary) == parted


def test_what_no_semicolon_can_part_is_counted() -> None:
    joints = joints_of(HOSTEL)
    assert joints.n_torn("Our hostel has 40 beds and a garden, begins in April") == 1
    assert joints.n_torn("Our hostel has 40 beds and a garden, breakfast costs 6 euros") == 0
    assert joints.n_torn("Our hostel has 40 beds, a garden") == 0


def test_a_label_alone_is_known() -> None:
    joints = joints_of("Severe weather warning: heavy snow expected in the valleys from Friday.")
    assert joints.is_label("Severe weather warning")
    assert not joints.is_label("Heavy snow expected in the valleys")
    assert not joints_of("We won. The cup is ours for the first time.").is_label("We won")


def test_time_grows_in_step_with_the_source() -> None:
    def seconds(n: int) -> float:
        source = "unless only except until not say that who in Lund " * n
        took = []
        for _ in range(3):  # the machine may be busy
            started = time.perf_counter()
            support(source, "Lund says only nurses will strike, not the union, until then")
            took.append(time.perf_counter() - started)
        return min(took)

    seconds(100)
    assert seconds(8000) < 40 * max(seconds(1000), 0.005)
