"""Datelines, credits, links, emoji codes."""

import pytest

from sumfit.cleaning import clean

FACT = "The old bridge will close on Monday."


@pytest.mark.parametrize(
    "text",
    [
        f"LONDON, May 3 (Agency) - {FACT}",
        f"LONDON (Reuters) - {FACT}",
        f"Moscow (AP) — {FACT}",
        f"NEW YORK, 3 May 2026 – {FACT}",
        f"BREAKING: {FACT}",
        f"{FACT} Read more",
        f"{FACT} Continue reading...",
        f"{FACT} [...]",
        f"{FACT}\nPhoto: A. Lee",
        f"Share this article\n{FACT}",
        f"{FACT}\nWe use cookies to make this site better. Accept all cookies",
        f"{FACT}\nSign up for our free newsletter\n© 2026 The Paper",
        f"{FACT}\n\nThis reverts commit 9f04be1.\n\nRefs: SHOP-12\nChange-Id: I4f\nCc: Ann Lee",
        f"{FACT}\n\nThis reverts commit 9f04be1, reversing\nchanges made to 1234567.",
        f"{FACT}\n\nFixes #12\nRefs: the plan of May\nFixes: #14",
        f"{FACT}\n\nRefs: SHOP-12, SHOP-14\nBug: https://x.org/b/4\n",
        f"{FACT}\n\nCo-authored-by: Ann Lee <ann@example.org>\nSee-also: the plan of May\n",
        f"This reverts commit 9f04be1a. {FACT}",
        f"{FACT}\n\nThis reverts commit\n9f04be1a2b3c4d5e6f.\n",
        f"This reverts commit 9f04be1a, reversing changes\nmade to 1234567. {FACT}",
        f"{FACT}\n\n(cherry picked from commit 9f04be1a2b3c)",
        f'{FACT}\nSigned-off-by: Ann Lee <ann@example.org>\nFixes: 1a2b3c4 ("bridge")',
    ],
)
def test_what_stands_around_a_text_goes(text: str) -> None:
    found = clean(text)
    assert found.text == FACT
    assert found.removed == ("boilerplate",)


@pytest.mark.parametrize(
    "text",
    [
        "NASA - the agency - said so.",
        "Read more books, she said.",
        "Paris (AP) said so.",
        "image: scale by two\nThe picture was small.",
        "Related work is rare.\nWe add to it.",
        "The photo: a bridge.",
        "Fixes: a leak in the roof\nIt was wet.",
        "It rained.\n\nDrop-in: Mondays at five",
        "It rained.\nThis reverts commit 9f04be1, which broke the roof.",
        "The issue: 12 roofs\nIt was wet.",
        "This reverts commit 9f04be1 because it broke the roof.",
        "This reverts commit 9f04be1.2 of the roof.",
        "It rained all day.\n",
        "It rained.\n\nIt was wet.\n\n",
        "Concert in the park on 4 May.\nTicket: 12.50\nBring a chair.",
        "The sprint is over.\nIssues: 12\nBugs: 3\nTasks: 40",
        "The week is over.\n\nIssues: 12\nBugs: 3\nTasks: 40",
        "The farm is closed.\nBug: H5N1\nIt spreads.",
        "The cheese is soft.\n\nUse-by: 4 May 2027\nPack-size: 2 litres",
        "Ana was hired.\n\nRefs: Ana Hart and Ben Lee",
        "The roof is tested.\n\nTested-by: Ana Hart",
        "The magazine is out.\nIssue: #4\nIt has 40 pages.",
        "Issue: #4\nTicket: #12",
        "The boat is late.\nStand-by: call Ann <ann@example.org> first.\nIt rained.",
        "The site uses cookies, and that is all.",
    ],
)
def test_sentences_that_look_alike_stay(text: str) -> None:
    assert clean(text).text is text


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Book at https://www.example.org/a?b=c.", "Book at example.org."),
        ("Put it there at https://x.org/a by 15 April.", "Put it there by 15 April."),
        ("Sign up at www.x.org/b or write to c@y.org.", "Sign up or write to c@y.org."),
        ("Register on www.x.org/b or write to us.", "Register on x.org or write to us."),
        ("The form is out, see https://x.org/f.", "The form is out, see x.org."),
        ("Buy tickets here: https://x.org/t?a=b before May.", "Buy tickets before May."),
        ("The page at https://x.org/a is down.", "The page at x.org is down."),
        ("Go to https://x.org/a and register.", "Go to x.org and register."),
        ("The minutes are at https://x.org/a.", "The minutes are at x.org."),
        ("It rained. Please book rooms via https://x.org/a.", "It rained. Please book rooms."),
        ("Book rooms at https://x.org/ now.", "Book rooms at x.org now."),
        ("We moved from https://x.org/a to https://y.org/b.", "We moved from x.org to y.org."),
        ("We vote at https://x.org/a or www.y.org/b today.", "We vote at x.org or y.org today."),
        ("Write to us via https://x.org/a or by phone.", "Write to us via x.org or by phone."),
        ("More information at https://x.org/a.", "More information at x.org."),
        ("Do not pay at https://x.org/a today.", "Do not pay at x.org today."),
        ("Put it there at\nhttps://x.org/a by May.", "Put it there by May."),
        ("Deal done. Go to\nhttps://x.org/a today.", "Deal done. Go to\nx.org today."),
        ("Deal done. https://x.org/a has the map.", "Deal done. x.org has the map."),
        ("See https://x.org/f for details.", "See x.org for details."),
        ("Deal done (https://example.org/x). It rained.", "Deal done. It rained."),
        ("Deal done. https://example.org/x", "Deal done."),
        ("Deal done\nhttps://example.org/x\nIt rained", "Deal done.\nIt rained"),
        ("Read WWW.Example.org now", "Read Example.org now"),
        ("[1]: https://example.org/x\nDeal done", "Deal done"),
        (
            "<!here> tills in the <https://example.org/n|north shop> are down",
            "tills in the north shop are down",
        ),
        ("Call <mailto:ann@example.org|Ann> <@U02AB> now", "Call Ann <@U02AB> now"),
        ("<@U123|Ana> will replace the pump.", "Ana will replace the pump."),
        ("Ask <!subteam^S1|@ops> by <!date^1^{date}|18 Feb>.", "Ask @ops by 18 Feb."),
        ("It broke.\n<@U123> who can help?", "It broke.\nwho can help?"),
        ("<!here>\nThe pump broke.", "The pump broke."),
        ("<@U123>, <!channel> the pump broke.", "the pump broke."),
        ("Leeds win 3-1 at home t.co/abc123", "Leeds win 3-1 at home"),
        ("Leeds win 3-1 at home https://t.co/a…", "Leeds win 3-1 at home"),
        ("Leeds win again! pic.twitter.com/xyzAB12", "Leeds win again!"),
        ("t.co/abc123 Leeds win 3-1", "Leeds win 3-1"),
        ("Leeds win, t.co/abc bit.ly/3xY #LUFC", "Leeds win #LUFC"),
        ("The pool closes bit.ly/3abc Read the plan", "The pool closes. Read the plan"),
        ("The pool closes t.co/abc and a gym opens.", "The pool closes and a gym opens."),
        ("The pool closes (bit.ly/3abc).", "The pool closes."),
        ("Vote at bit.ly/3abc to keep it", "Vote at bit.ly to keep it"),
        ("The page t.co/abc is down for all", "The page t.co is down for all"),
        ("The map is here: t.co/abc", "The map is here: t.co"),
    ],
)
def test_of_a_link_its_host_stays_at_most(text: str, right: str) -> None:
    found = clean(text)
    assert found.text == right
    assert found.removed[0] == "links"


@pytest.mark.parametrize(
    "text",
    [
        "We stopped taking orders on {} in May.",
        "It is illegal to sell knives on {} in Leeds.",
        "It is illegal to buy knives at {} in Leeds.",
        "Nobody should pay at {} before Friday.",
        "Nobody should\nbuy tickets at {} before Friday.",
        "Never do this:\nBuy tickets at {} before Friday.",
        "Stop buying tickets from {} before Friday.",
        "The council banned adverts on {} in May.",
        "They forbade staff to post on {} from May.",
        "Try to avoid paying at {} before Friday.",
        "It happens on {} only.",
        "Our work builds on {} and improves it.",
        "The file is at {} and the other at z.org.",
        "Put the file at {} and the other at z.org.",
        "Buy nothing at {} before May.",
        "Order fewer at {} before May.",
        "Buy tickets anywhere but at {} before May.",
        "Buy tickets at {} only.",
        "Buy tickets at {} by May, never later.",
        "Buy tickets at {} instead of the gate.",
        "Order at {} was lost.",
        "Read more at {}.",
    ],
)
def test_a_sentence_that_an_address_makes_true_keeps_its_host(text: str) -> None:
    assert clean(text.format("https://x.org/a")).text == text.format("x.org")


@pytest.mark.parametrize(
    "text",
    [
        "Book rooms at example.org now.",
        "Use List<#a|b> and Map<!x> in it.",
        "<@U123> will replace the pump.",
        "Ana told\n<@U123> to stop.",
        "Ana told <@U123> and <!here> to stop.",
        "https://example.org/a/b",
        "ann@example.org wrote",
        "t.co/abc123",
        "Leeds win at home.t.co/abc",
        "Twitter shortens links with t.co since 2011",
        "Use `t.co/abc` as the key",
        "Drive to Fitbit.ly/park today",
        "a.b.c",
        "//x",
    ],
)
def test_a_text_of_links_alone_stays(text: str) -> None:
    assert clean(text).text is text


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("quick update :wave: legal signed", "quick update legal signed"),
        (":tada: We ship :+1:", "We ship"),
        ("Done :white_check_mark:, ship it", "Done, ship it"),
    ],
)
def test_emoji_codes_go(text: str, right: str) -> None:
    assert clean(text).text == right
    assert clean(text).removed == ("emoji-codes",)


@pytest.mark.parametrize(
    "text",
    [
        "at 10:30:45 today",
        "std::move::x",
        "a:b:c",
        ":param x: the:x",
        "Use `:wave:` here",
        ":wave:",
    ],
)
def test_other_colons_stay(text: str) -> None:
    assert clean(text).text is text
