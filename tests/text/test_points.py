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
    assert read(talk, "talk") == "We will put you on the flight at noon tomorrow."


def test_an_offer_counts_once_the_next_to_speak_says_yes() -> None:
    talk = (
        "The hall is locked.\nWe have the rehearsal there at six.\n"
        "I can open the chapel, the key is here.\nPerfect, please do that.\nDone, it's open."
    )
    assert read(talk, "talk").startswith("I can open the chapel, the key is here.")


def test_an_order_settles_a_talk_rather_than_what_leans_on_it() -> None:
    talk = (
        "The projector in the big hall is broken.\nAh, the lamp.\n"
        "Take the one from the library.\nThanks!\nBring it back by five."
    )
    assert read(talk, "talk").startswith("Take the one from the library.")


def test_two_people_who_say_i_are_not_read_together() -> None:
    talk = (
        "Hello, I ordered a lamp in green but got a red one.\nSorry about that.\n"
        "I'm sending you the green one today.\nThank you."
    )
    assert read(talk, "talk") == "I'm sending you the green one today."


def test_a_question_without_a_mark_is_one() -> None:
    talk = (
        "what time is the boat on sunday\nten, but it leaves from the north pier.\n"
        "ok, I'll bring the tickets to the north pier."
    )
    assert "what time" not in read(talk, "talk")


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
    assert read(text).startswith("The pond is dug in March.")


def test_in_minutes_what_is_agreed_counts_more_than_who_does_it() -> None:
    text = (
        "Club meeting, 4 May.\nPresent: Ann, Bo.\nThe fee was discussed.\n"
        "It was agreed unanimously to raise the fee to 20 euros.\nAction: Bo writes the letter."
    )
    assert read(text) == "Raise the fee to 20 euros."


def test_each_line_of_minutes_is_read_by_itself() -> None:
    text = "Minutes of the choir, 4 May\nPresent: Ann, Bo\nFees: it was agreed to raise the fee"
    assert read(text) == "Raise the fee."
    log = "Post-mortem: uploads\nSummary: nobody could upload a file\nFix: the job is on again"
    assert read(log) == "Nobody could upload a file. The job is on again."


def test_of_a_stand_up_in_which_nothing_is_settled_the_blocker_is_read() -> None:
    text = "Stand-up 3 May.\nAnn: reports done.\nBo: blocked by the missing key of the shop.\n"
    assert read(text).startswith("Bo: blocked by the missing key of the shop.")
    assert main_first("The board support was broken. Rework the board files.") is None


def test_a_vote_in_minutes_comes_first() -> None:
    text = (
        "Minutes of the tenants' meeting.\nApologies: Mr Bell.\nThe roof was discussed.\n"
        "Members voted 7 to 3 to replace the lift.\nThe next meeting is in May."
    )
    assert read(text).startswith("Members voted 7 to 3 to replace the lift.")
    assert main_first(text.replace("Minutes of the tenants' meeting.", "Leeds.")) is None


def test_a_mail_begins_with_what_it_settles() -> None:
    text = (
        "Both caterers sent their offers this week. The second one is cheaper. "
        "So let's go with the second one. Menus follow next week."
    )
    assert read(text, "thread").startswith("Go with the second one.")
    assert main_first(text.replace("let's go with", "I prefer"), "thread") is None
    fine = "The brakes are fine. A bearing is worn out. We'd like to order a new one on Friday."
    assert read(fine, "thread").startswith("We'd like to order a new one on Friday.")
    instead = "The museum is closed for a month. We will visit the zoo instead. Bring a lunch."
    assert read(instead, "thread").startswith("We will visit the zoo instead.")


def test_thanks_are_left_out_of_a_mail() -> None:
    text = "Your talk in May. Thanks a lot for the proposal. You are on stage on Saturday at ten."
    assert read(text, "thread") == "Your talk in May. You are on stage on Saturday at ten."
    asked = text.replace("Thanks a lot for", "Thanks, but please change")
    assert main_first(asked, "thread") is None


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
    assert read(text).startswith("The left drawer is broken. I would like a new drawer.")


def test_where_much_is_wanted_more_is_read() -> None:
    text = (
        "I ordered a desk in May. The left drawer is broken. The courier was friendly. "
        "I would like a new drawer."
    )
    few = main_first(text)
    assert few is not None
    assert few.text == "The left drawer is broken. I would like a new drawer."
    many = main_first(text, least=20)
    assert many is not None
    assert many.text == f"{few.text} I ordered a desk in May. The courier was friendly."


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


def test_a_review_begins_with_what_its_verdict_is_about() -> None:
    text = (
        "We stayed two nights in April. The view is lovely. But the heating was off all night. "
        "I would not book this hotel again. 2 stars."
    )
    assert read(text) == "The heating was off all night."


def test_a_review_that_praises_begins_with_praise_and_not_with_how_it_came_about() -> None:
    text = (
        "We had dinner at the Old Mill on Friday. The trout was fresh and the bread the best in "
        "town. Service was a little slow. We will definitely be back."
    )
    assert read(text) == ("The trout was fresh and the bread the best in town.")
    starred = "★★★★☆ Bought this bag in May. It is sturdy and well padded. The strap is long."
    assert read(starred).startswith("It is sturdy and well padded.")
    tried = "Used this roofer in May. He was on time and left everything clean. A kind man, too."
    assert read(tried).startswith("He was on time and left everything clean.")


def test_of_a_sentence_that_praises_and_blames_the_side_of_the_verdict_is_read() -> None:
    text = (
        "I stayed at the Crown in May. The bed was comfortable, but the heating broke every night. "
        "Avoid."
    )
    assert read(text) == "The heating broke every night."
    assert read(text.replace("Avoid.", "I would certainly come back.")).startswith(
        "The bed was comfortable. I would certainly come back."
    )


def test_the_fields_of_a_ticket_are_left_out_but_its_subject() -> None:
    text = (
        "Ticket 4411\nProduct: Loom 3\nSubject: No sound\n"
        "Since the update no video has sound. Restarting did not help. Is there a fix?"
    )
    assert read(text).startswith("No sound. Since the update no video has sound.")
    assert "Is there a fix" not in read(text)
    assert main_first("Place: Leeds\nDate: 4 May\nThe choir sings. Tickets are free.") is None


def test_of_a_question_with_a_fault_the_fault_is_read() -> None:
    text = (
        "First post here. My boiler is three years old, but the pilot light dies every night. "
        "I cleaned the jet. Has anyone had this?"
    )
    assert read(text).startswith(
        "My boiler is three years old, but the pilot light dies every night."
    ) or read(text).startswith("The pilot light dies every night.")


def test_section_labels_and_versions_above_them_are_left_out() -> None:
    text = "v3.1.0.\nNew.\nPrinting in colour.\nFixed.\nCrash on start."
    assert read(text) == "Printing in colour. Fixed. Crash on start."


def test_how_to_repeat_a_fault_is_not_read() -> None:
    text = (
        "Describe the bug.\nTables lose their width.\nTo reproduce.\nPaste a table.\n"
        "Expected behavior.\nThe width stays."
    )
    assert read(text) == "Tables lose their width. The width stays."


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (
            "Background: Naps are popular. Methods: We compared two groups. Results: No "
            "difference. Conclusions: Naps did not help drivers.",
            "Naps did not help drivers.",
        ),
        (
            "Why frogs call in autumn is unclear. We recorded 40 ponds. Using small radios, we "
            "found that frogs call when it rains. Rain was rare.",
            "Frogs call when it rains.",
        ),
        (
            "Many people take iron at night. We compared night and morning in adults. Levels "
            "rose alike. Iron may be taken at any time.",
            "Iron may be taken at any time.",
        ),
        (
            "Whether music helps is disputed. We let adults sum figures in three rooms. They made "
            "14 percent more mistakes with music than without. Many liked it.",
            "They made 14 percent more mistakes with music than without.",
        ),
        (
            "Today will be dry with light winds in the east. Tonight heavy rain and gusts move "
            "in from the west. Tomorrow cloudy with showers.",
            "Tonight heavy rain and gusts move in from the west.",
        ),
        (
            "Ann Bell saved twice as ten-man Redhill beat Northam 3-2 on Sunday. They are top.",
            "Ten-man Redhill beat Northam 3-2 on Sunday. Ann Bell saved twice.",
        ),
        (
            "Ann Bell scored 30 points. Her Hawks beat Northam 90-88 on Friday. They play again.",
            "Her Hawks beat Northam 90-88 on Friday. Ann Bell scored 30 points.",
        ),
    ],
)
def test_an_abstract_a_forecast_and_a_match_begin_with_how_they_end(text: str, begins: str) -> None:
    assert read(text).startswith(begins)


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


def test_a_colleague_who_cannot_come_is_no_complaint() -> None:
    mail = (
        "The room for the review is taken, so we meet on Friday at 10 instead. Please send me your "
        "slides by Thursday noon. Karim can't come and will join by phone."
    )
    assert main_first(mail) is None
    talk = main_first(mail.replace(". ", ".\n"), "talk")
    assert talk is not None
    assert talk.main.startswith("The room for the review is taken, so we meet on Friday")


def test_an_agreed_offer_counts_more_than_a_promise_about_another_thing() -> None:
    talk = (
        "the bus is cancelled, I am stuck.\nI could drive you home at nine?\n"
        "oh really, that'd be lovely.\nwait at the gate.\nwill do, I'll carry your bags."
    )
    assert read(talk, "talk") == "I could drive you home at nine."
    besides = talk.replace("carry your bags", "be ready at nine")
    assert read(besides, "talk").startswith("Will do, I'll be ready at nine.")


def test_a_thing_that_a_talk_does_not_name_is_not_read_alone() -> None:
    talk = (
        "The pump in the cellar is worn out.\nCan it be mended?\n"
        "No. We will bring you another one.\nFine."
    )
    assert read(talk, "talk") == "The pump in the cellar is worn out."


def test_of_an_interview_that_plans_nothing_the_longest_answer_is_read() -> None:
    talk = (
        "Why did you buy a lighthouse?\nI was tired of the city.\nHow is the winter there?\n"
        "I read by the stove and count ships for the coast guard.\n"
    )
    assert read(talk, "talk") == "I read by the stove and count ships for the coast guard."


def test_a_review_needs_neither_stars_nor_a_verdict() -> None:
    text = (
        "Went to the new pool with our girls. The water was cold and the showers were dirty. "
        "When we said so, the man at the desk laughed. We left after an hour."
    )
    assert read(text) == "The water was cold and the showers were dirty."
    reported = text.replace("Went to the new pool with our girls.", "The pool opened in May.")
    assert main_first(reported) is None


def test_of_a_visit_that_nothing_judges_the_fault_is_read() -> None:
    text = (
        "Took my parents to the zoo. We paid 30 euros. The lift to the tower was not running. "
        "We had tea at home."
    )
    assert read(text) == "The lift to the tower was not running."


def test_what_is_so_only_till_then_settles_nothing() -> None:
    talk = (
        "The copier is out of paper again.\nI'll buy ten packs this afternoon.\n"
        "We write by hand till then."
    )
    assert read(talk, "talk") == "I'll buy ten packs this afternoon."


def test_of_a_book_that_is_presented_the_judgement_is_read() -> None:
    text = (
        '"Low Tide" is a novel about two brothers on an island. One of them dives for pearls. '
        "Moreau writes beautifully about the sea. It is a book that you will recommend."
    )
    assert read(text) == "Moreau writes beautifully about the sea."


def test_of_two_clauses_of_a_judgement_the_first_is_read() -> None:
    text = (
        "Bought this chair for my desk. It came in May. After a week one of the wheels broke off, "
        "and the seat squeaks. Avoid."
    )
    assert read(text) == "After a week one of the wheels broke off."


def test_a_heading_with_those_present_is_not_read() -> None:
    text = (
        "Rowing crew of the Lower Weir, 4 May, boat house. Present: Ann, Bo.\n"
        "The boat is dry.\nIt was agreed to buy four new oars before the regatta.\n"
    )
    text = text.replace("house. Present", "house Present")
    assert read(text) == "Buy four new oars before the regatta."


def test_an_outage_that_says_its_end_is_read_alone() -> None:
    text = (
        "Incident summary 12.\nBetween 9:00 and 9:40 on Monday, nobody could upload a file. "
        "A certificate had expired. Follow-up: add an alert."
    )
    assert read(text) == "Between 9:00 and 9:40 on Monday, nobody could upload a file."
