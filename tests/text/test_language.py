"""Languages, told where they can be and else not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.text.language import _CODE, language_name, language_of


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "Die Reparatur der alten Brücke dauert sechs Wochen und kostet zwei Millionen Euro.",
            "de",
        ),
        ("Los vecinos cortaron el lunes la calle mayor para pedir más autobuses.", "es"),
        ("Le conseil municipal a décidé lundi de fermer le vieux pont pendant six semaines.", "fr"),
        ("Il consiglio ha deciso lunedì di chiudere il vecchio ponte per sei settimane.", "it"),
        ("De gemeente sluit de oude brug vanaf maandag zes weken voor herstel.", "nl"),
        ("A câmara decidiu na segunda-feira fechar a velha ponte durante seis semanas.", "pt"),
        ("Rada miasta postanowiła w poniedziałek zamknąć stary most na sześć tygodni.", "pl"),
        ("Kommunen stenger den gamle broen i seks uker fra mandag.", "no"),
        ("Kommunen lukker den gamle bro i seks uger fra mandag.", "da"),
        ("Staden stänger den gamla bron i sex veckor från och med måndag.", "sv"),
        ("Belediye eski köprüyü pazartesi günü altı haftalığına kapatacak.", "tr"),
        ("Městská rada se v pondělí rozhodla uzavřít starý most na šest týdnů.", "cs"),
        ("Городской совет решил закрыть старый мост на шесть недель.", "ru"),
        ("የድሮው ድልድይ ለስድስት ሳምንታት ይዘጋል ሲል ምክር ቤቱ ሰኞ ዕለት አስታውቋል።", "am"),
        ("ପୁରୁଣା ପୋଲ ଛଅ ସପ୍ତାହ ପାଇଁ ବନ୍ଦ ରହିବ ବୋଲି ପରିଷଦ ସୋମବାର କହିଛି।", "or"),
        ("市议会周一决定关闭旧桥六周进行维修。", "zh"),
        ("市議会は月曜日に古い橋を六週間閉鎖することを決めました。", "ja"),
        ("The council said on Monday that the old bridge will close for six weeks.", "en"),
        ("Council to close old bridge in May for repairs after storm", "en"),
    ],
)
def test_a_sentence_has_a_language(text: str, code: str) -> None:
    assert language_of(text) == code
    assert language_of(text + " " + text) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12:30, 45 %",
        "Bonjour",
        "Kamar de los Reyes",
        "Real Madrid, Bayern München, Juventus Torino, Ajax Amsterdam, Sporting Lisboa",
        "Fix typo in README",
        "usb: ehci: do not de-init uninited controllers",
        "for (int i = 0; i < n; ++i) { sum += a[i]; } return sum;",
        "sudo apt-get install -y libfoo-dev && make -j8 test",
        "Silicon Valley’s de facto censor",
        "Leeds, part-time, 20 hours",
    ],
)
def test_what_cannot_be_told_is_not_told(text: str) -> None:
    assert language_of(text) in (None, "en")


def test_english_with_words_of_others_is_english() -> None:
    text = "She said that the Weltanschauung of the bourgeoisie was, as the French say, passé."
    assert language_of(text) == "en"


def test_the_larger_part_decides_of_a_long_text() -> None:
    german = "Die Brücke wird am Montag für sechs Wochen geschlossen, sagte der Rat der Stadt. "
    english = "The bridge will close on Monday for six weeks, the council of the city said. "
    assert language_of(german * 200 + english * 5) == "de"
    assert language_of(english * 200 + german * 5) == "en"


def test_languages_have_names() -> None:
    assert language_name("de") == "German"
    assert language_name("xx") == "xx"


def test_one_word_that_another_language_has_too_is_no_alarm() -> None:
    text = "Young octopuses grow faster in warmer seas but die younger, researchers found."
    assert language_of(text) in ("en", None)


@given(st.text(alphabet="`aB1_- \n\t'é/", max_size=20))
def test_code_is_found_as_by_trying_every_letter(text: str) -> None:
    slow = re.compile(r"`[^`\n]*`|\S*[\d_/\\=<>{}@#$|~^]\S*|\b[A-Z]{2,}\b")
    assert _CODE.sub("|", text) == slow.sub("|", text)
