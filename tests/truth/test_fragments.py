"""What of a summary is a fragment, and whose number does not agree."""

from __future__ import annotations

import pytest

from sumfit.truth import rank_by_support, support

DISAGREEING = [
    # a verb put into the present
    ("Norrland officials accused the mill of dumping.", "Norrland officials accuses mill", "acc"),
    ("The mayor and her aide praised the choir.", "Mayor and aide praises the choir", "aide"),
    ("Larsen accused the mill of dumping.", "Larsen accuse mill of dumping", "Larsen"),
    ("The old kettle leaked on the first day.", "Old kettle leak on first day", "kettle"),
    # "is" and "are"
    ("The old kettle is too loud for us.", "Old kettle are too loud", "kettle are"),
    ("Our trains are too loud for us.", "Trains is too loud", "Trains is"),
    ("Most kettles are loud.", "Kettle are loud", "Kettle are"),
    ("Are ferries late today?", "Are ferry late today?", "Are ferry"),
    # a plural behind "a"
    ("The value is an arbitrary rune value.", "Value is an arbitrary rune values", "an arb"),
    ("It reads each entry of the list.", "It reads each entries of list", "each entries"),
    # "a" and "an"
    ("We sell an old album and a book.", "We sell an book", "an book"),
    ("We had a good evening.", "We had a evening", "a evening"),
]
AGREEING = [
    ("We ate an old egg and a union man left.", "We ate an egg, union man left"),
    ("The council hired a long-serving user.", "Council hires a user"),
    ("They chose an MP3 of an hour.", "They chose an hour"),
    ("Norrland officials accused the mill.", "Norrland officials accuse mill"),
    ("The chair of the officials accused the mill.", "Chair of the officials accuses mill"),
    ("The Times accused the mill.", "Times accuses mill"),
    ("The team accused the mill.", "Team accuse mill"),
    ("The mayor praised the choir.", "Mayor praises choir"),
    ("The mayor and the aide praised the choir.", "Mayor, aide praise choir"),
    ("Police shot a wolf.", "Police fatally shoot wolf"),
    ("The old kettle is too loud.", "Old kettle and pan are too loud"),
    ("The kettle is loud. Kettles are loud.", "Kettles are loud"),
    ("The value is an arbitrary rune value.", "Value is an arbitrary rune value"),
    ("The man is running through a park.", "A man runs through a park"),
    ("Are ferries late today?", "Are ferries late?"),
    ("A teacher union met.", "A teachers union met"),
]
FRAGMENTS = [
    # a clause without the other
    ("1/If the guild is attacked so often, that means it is feared.", "1/If the guild is attacked"),
    ("When you choose a glaze, consider the clay.", "When you choose a glaze"),
    ("We move in if a tap and a door are built.", "If a tap and a door are built"),
    # a verb without its object
    ("A lender shall not make any false statement.", "Lender shall not make"),
    ("The rider said that he lost his rope.", "Rider says he lost"),
    ("The judge blamed Olsen for not seeking the rope.", "Judge blames Olsen for not seeking"),
    # the continuation of another sentence
    ("The bus was late. But the driver got us home.", "But driver got us home"),
    ("The mill, y'know, is shut again.", "So y'know the mill is shut"),
    # a subject behind a preposition that has something else behind it
    ("I lose my keys at the moment that I need them.", "I lose my keys at I need them"),
    # letters
    ("It is the lowest level in the U.S. in a generation.", "S lowest level in a generation"),
    ("A stray cat rode the tram to Odda.", "Stay cat rode tram to Odda"),
    ("The council voted seven to four against selling the field.", "Council votes to four against"),
    # denied for a time alone
    (
        "The council will no longer collect leaves in December.",
        "Council will no longer collect leaves",
    ),
    ("The probe will not launch before 2031.", "Probe will not launch"),
    ("The lamp does not work if the phone is off.", "Lamp does not work"),
]
WHOLE = [
    ("If you park here, you pay 40 crowns.", "If you park here, you pay 40 crowns"),
    ("If you park here you pay 40 crowns.", "If you park here you pay"),
    ("As of May the quay is shut, we hear.", "As of May quay is shut"),
    ("The once-busy port is shut, we hear.", "Once-busy port is shut"),
    ("We tell you when to avoid the road, as always.", "When to avoid the road"),
    ("A lender shall not make a loan. That is what they make.", "What a lender shall not make"),
    ("I sent money, but he has not received it.", "Money not received"),
    ("The choir plans to sing this week.", "Choir plans to sing"),
    ("The choir comes to Lund this May.", "Choir comes to Lund"),
    ("Two men won the cup and left.", "Two men left"),
    ("Olsen found the fishing a bore. He went fishing.", "Olsen went fishing"),
    ("The bus was late but got us home.", "Late bus got us home"),
    ("The keys are for the I/O port.", "Keys for I/O port"),
    ("I like the keys for the i.mx6 board.", "Keys for i.mx6 board liked"),
    ("Take it at the time of I, Claudius.", "I take it"),
    ("It is the lowest level in the U.S. in years.", "Lowest level in U.S. in years"),
    ("A plan by J.K. Olsen.", "J. K. Olsen's plan"),
    ("It earned 40 million dollars in May.", "Company earned $40M in May"),
    ("The technology firm of Odda closed its laboratory.", "Tech firm closes lab"),
    ("A stray cat rode the tram.", "Stray cat rode the trams"),
    ("The cats stayed.", "Cats stay"),
    ("The club voted to raise the fee from 4 to 6 euros.", "Club to raise fee to 6 euros"),
    ("The council voted seven to four to sell.", "Council voted seven to four to sell"),
    ("The probe will not launch before 2031.", "Probe will not launch before 2031"),
    ("The probe will not launch before 2031.", "Probe launch is for 2031, not now"),
    ("The lamp does not work. If you are away, call.", "Lamp does not work"),
]


@pytest.mark.parametrize(("source", "summary", "words"), DISAGREEING)
def test_what_does_not_agree_is_found_and_loses(source: str, summary: str, words: str) -> None:
    broken = support(source, summary).broken
    assert any(words in one for one in broken), broken
    whole, wrong = rank_by_support(source, [source, summary])
    assert wrong > whole


@pytest.mark.parametrize(("source", "summary"), FRAGMENTS)
def test_a_fragment_is_found_and_loses(source: str, summary: str) -> None:
    assert support(source, summary).broken
    whole, fragment = rank_by_support(source, ["", summary])
    assert fragment > whole


@pytest.mark.parametrize(("source", "summary"), AGREEING + WHOLE)
def test_what_is_whole_is_not_found(source: str, summary: str) -> None:
    assert support(source, summary).broken == ()
