"""Long texts whose point is known: a thread of 40 mails and a transcript of an hour.

Written for these tests. Turns are drawn from a fixed list by number, so that they are the same
everywhere; what the text is about comes back in many of them, what was decided comes late.
"""

DECISION = "So it is decided: we move the warehouse to Dunmore in September and keep all 40 jobs."
THREAD_END = "We agreed with the landlord: the Dunmore warehouse is ours from 1 September."

_TALK = (
    "The warehouse in Kells is too small, and the roof leaks whenever it rains.",
    "Can you share your screen?",
    "I looked at the rent in Dunmore, and it is a fifth less than in Kells.",
    "Yeah, exactly.",
    "The drivers say that Dunmore is closer to the motorway.",
    "My daughter had her birthday on Saturday, so I was not online.",
    "What about the forty people who work in the Kells warehouse?",
    "Most of them live between Kells and Dunmore, so nobody would have to move.",
    "Sorry, I was on mute.",
    "The shelves can be taken apart and carried to Dunmore in two weekends.",
    "Insurance for the new building is about the same.",
    "The canteen could do with better coffee, by the way.",
    "A new roof in Kells would cost more than moving the warehouse.",
    "Let me check whether the forklift fits through the door in Dunmore.",
)

_MAIL = (
    "I have called the landlord of the Dunmore warehouse, who wants an answer by Friday.",
    "Could somebody send me the plan of the loading bay?",
    "The plan is attached, and the bay takes two trucks at a time.",
    "I am away on Thursday, but you can reach me by phone.",
    "The bank says that the deposit for the Dunmore warehouse is no problem.",
    "Has anybody asked the drivers what they think of Dunmore?",
    "Please use the new template for expenses from now on.",
    "The landlord lowered the rent of the warehouse by three percent.",
)


def transcript() -> str:
    """An hour of talk, a turn every eight seconds; the decision is near its end."""
    lines = []
    for number in range(450):
        said = _TALK[(number * 5 + number // 14) % len(_TALK)]
        if number == 0:
            said = "Hello everyone, welcome to the call, can you all hear me?"
        if number == 430:
            said = DECISION
        minute, second = divmod(number * 8, 60)
        name = ("ANNA", "BO", "CARL")[number % 3]
        lines.append(f"[00:{minute:02}:{second:02}] {name}: {said}")
    return "\n".join(lines)


def thread() -> str:
    """Forty mails, the last one with what was agreed."""
    mails = []
    for number in range(1, 41):
        said = f"{_MAIL[number % 8]} {_MAIL[(number * 3 + 1) % 8]}"
        if number == 40:
            said = f"Good news. {THREAD_END} Thanks to all who helped."
        mails.append(
            f"From: Person {number % 5} <p{number % 5}@example.org>\nDate: {number} May 2026\n"
            f"Subject: Re: where we store things\n\nHi all,\n\n{said}\n\nBest regards,\nPerson\n\n"
            f"On {number - 1} May 2026 Person wrote:\n> {_MAIL[(number - 1) % 8]}\n"
        )
    return "\n".join(mails)
