"""What a summary copies without a piece that it needs, and what it takes back the wrong way."""

from __future__ import annotations

import pytest

from sumfit.truth import rank_by_support, support

BROKEN = [
    # clipped words
    ("The spa is looking for a skilled glass blower.", "Skill glass blower for spa"),
    ("The mill was partially rebuilt in May.", "Mill partial rebuilt in May"),
    ("Shops want cheaper parking in the old town.", "Shops want cheap parking in old town"),
    # a small word left out
    ("The jug holds a gallon of milk and folds flat.", "Jug holds a gallon milk"),
    ("Drivers have agreed to park outside the wall.", "Drivers have agreed park outside wall"),
    ("The choir does not sing on holidays.", "Choir does sing on holidays"),
    # ranges without an end
    (
        "The path is shut between gate 3 (Mill Lane) and gate 9 after a landslide.",
        "Path shut between gate 3 after landslide",
    ),
    ("Tickets rise from 12 to 15 crowns in May.", "Tickets rise from 12 crowns in May"),
    ("A bridge between the towns.", "Bridge between"),
    # organisations without their names
    ("The city bought six trams from Norrland Steel last week.", "City buys six trams from Steel"),
    # subjects without their heads
    ("Turnover in the second half was 30 million euros.", "Second half was 30 million euros"),
    ("Plantly for Android 4.1: water your herbs on time.", "Android 4.1: water your herbs"),
    ("When a guest changed their name the list broke.", "Fix guest changed name in the list"),
    # "to" in the place of a verb
    ("Sales in spring were 40 million crowns.", "Spring sales to 40 million crowns"),
    ("Sales in spring were $40 million.", "Spring sales to $40 million"),
    # versions given to the system
    ("Plantly for Android 4.1 is out. It waters your herbs.", "Android 4.1 waters your herbs"),
    # directions turned round, and a multiple without its comparison
    ("The fair moves from Monday to Friday.", "Fair moves from Friday"),
    ("The new mill grinds three times as fast.", "New mill grinds three times"),
    ("We have decided not to open on Sunday.", "Not to open on Sunday"),
    # an order that runs into a statement
    ("The upload does not end when the disk is full.", "Fix upload does not end on full disk"),
    ("Guests are asked for a code.", "Remove guests are asked for code"),
    # clauses without their subjects, and questions with two verbs
    ("The rider was hurt after he lost hold of the rope.", "Rider hurt after lost hold of rope"),
    ("Tell us if you have had the key.", "Tell us if had the key"),
    ("I wonder if anyone had luck with this kiln.", "Is anyone had luck with this kiln"),
    # marks that stand apart
    ("The shirt says Mambo in red.", 'Shirt says " Mambo in red'),
    ("Pre-registration opens in May.", "Pre- registration opens in May"),
]
SOUND = [
    ("The rider fell after he lost the rope.", "Rider fell after losing the rope"),
    ("Wait if you like. Ask if needed.", "Ask if needed"),
    ("Is this a good time to call?", "Is this a good time to call?"),
    ("Care before and after birth is free.", "Pre- and postnatal care is free"),
    ('The shirt says "Mambo" in red.', 'Shirt says "Mambo" in red'),
    ("The spa is looking for a skilled glass blower.", "Spa looks for skilled glass blower"),
    ("The council voted against the plan.", "Councils vote against the plan"),
    ("Added support for dark mode.", "Add support for dark mode"),
    ("The fair moves from Monday to Friday.", "Fair moves to Friday"),
    ("The shop opens Friday. It moves to Friday hours.", "Shop open from Friday"),
    ("She won the race three times. It is twice as fast.", "She won three times"),
    ("The road is closed and the school was shut.", "Road closed, school shut"),
    ("Mix 2 kg of flour with water.", "Mix 2 kg flour with water"),
    ("The mayor quit on Friday.", "Mayor quit Friday"),
    ("We plan the moving of old books.", "Moving old books planned"),
    ("The path is shut between gate 3 and gate 9.", "Path shut between gate 3 and gate 9"),
    ("Tickets rise from 12 to 15 crowns.", "Tickets rise from 12 to 15 crowns"),
    ("The shop is open from Monday to Friday.", "Shop open from Monday"),
    ("Six trams come from Norrland Steel.", "Six trams from Norrland Steel"),
    ("Norrland Steel grew. Steel is dear.", "City buys Steel"),
    ("Dozens of hikers were lost in fog.", "Hikers were lost in fog"),
    ("Turnover in the second half was 30 million.", "Turnover was 30 million"),
    ("The upload does not end when the disk is full.", "Fix upload that does not end"),
    ("The upload does not end when the disk is full.", "Ensure upload does not end early"),
    ("Mark Larsen is the new mayor of Odda.", "Mark Larsen is new mayor"),
    ("Read_from_disk of the tool reads to_the_end. It is read daily.", "Read from_disk tool"),
    ("Plantly for Android 4.1 is out.", "Plantly for Android 4.1 out"),
    ("We made an app for Android 4.1.", "Android 4.1 app made"),
    ("Android 4.1 is out. Plantly for Android 4.1 is not.", "Android 4.1 is out"),
    ("Sales were 40 million and rise to 40 million.", "Sales to 40 million"),
    ("The list keeps the names guests entered for us.", "Fix names guests entered in list"),
    ("Life in Lund is calm. Lund is small.", "Lund is small"),
]
BROKEN += [
    ("The driver encrypted and extended the trailer.", "Ext encrypted trailer"),
    ("The quay is shut until the end of June.", "Quay shut until June"),
    ("Bees with caffeine remember smells longer.", "Caffeine remembered remember smells"),
    ("A recovered pot has organic matter in it.", "Pot has organ matter in it"),
]
SOUND += [
    ("Care pre-dates and post-dates birth.", "Pre- and postnatal care"),
    ("It is shut until the end of June. By July it opens.", "Shut until the end of June"),
    ("It is shut until June, not until the end of June.", "Shut until June"),
    ("He sees what he saw.", "He sees what he saw"),
    ("The loader is addressed twice.", "Add loader address"),
    ("The blobs of U-Boot are checked twice.", "blob: Check twice"),
]


@pytest.mark.parametrize(("source", "summary"), BROKEN)
def test_what_lacks_a_piece_is_found_and_loses(source: str, summary: str) -> None:
    verdict = support(source, summary)
    assert verdict.broken
    assert "copied without a piece that it needs" in " ".join(verdict.reasons)
    whole, broken = rank_by_support(source, [source, summary])
    assert broken > whole


@pytest.mark.parametrize(("source", "summary"), SOUND)
def test_what_lacks_nothing_is_not_found(source: str, summary: str) -> None:
    assert support(source, summary).broken == ()


TAKEN_BACK = (
    "This reverts commit 77ab01.\n\nMoving the mail queue to the new broker lost letters. Go "
    "back to plain files until that is understood."
)


@pytest.mark.parametrize(
    "summary", ["Revert mail queue to the new broker", "Move mail queue to the new broker"]
)
def test_what_is_taken_back_is_not_what_is_gone_back_to(summary: str) -> None:
    verdict = support(TAKEN_BACK, summary)
    assert verdict.turned
    assert not verdict.supported


@pytest.mark.parametrize(
    "summary",
    [
        "Revert mail queue to plain files",
        'Revert "Move mail queue to the new broker"',
        "Go back to plain files",
        "Mail queue back to plain files",
    ],
)
def test_what_is_gone_back_to_is_supported(summary: str) -> None:
    assert not support(TAKEN_BACK, summary).turned


def test_a_change_that_is_ordered_is_no_return() -> None:
    source = "Revert the lock. Move the queue to the new broker, which needs none."
    assert not support(source, "Move queue to the new broker").turned


def test_a_broken_form_alone_does_not_make_a_summary_untrue() -> None:
    assert support("The jug holds a gallon of milk.", "Jug holds a gallon milk").supported
