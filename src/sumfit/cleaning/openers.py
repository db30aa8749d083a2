"""Greetings, headings that fit any text, and phrases that only lead up to what is said.

Owns what counts as one of these at the beginning of a text. What follows it begins with a capital.
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import has_words

__all__ = ["clean_openers", "without_small_talk"]

_HAIL = r"(?i:hi|hello|hey|hiya|greetings|(?:good )?(?:morning|afternoon|evening)|good day)"
_ALL = (
    r"(?i:again|all|everyone|everybody|folks|team|friends|guys|there|both|world|y['’]all|"
    r"(?:dear )?(?:neighbou?rs|colleagues|members|guests|parents|residents|readers|customers))"
)
_TITLED = r"(?i:mr|mrs|ms|dr|prof)\.? [A-Z][\w'’-]{1,30}"
_NAME = r"[A-Z][\w'’-]{1,30}(?: (?:and|&) [A-Z][\w'’-]{1,30})?"
_MARK = r"(?:[ \t]*(?::[a-z_]{2,30}:|[^\w\s\"'“‘(\[]+|\n)\s*)"
_APPOSITION = r"(?!\s*(?:the|an?|which|who|whose)\b[^.!?\n]{0,80},)"  # "Hello Kitty, the cat, ..."
_GREETING = re.compile(
    rf"\s*(?:{_HAIL},?(?: {_ALL}){{0,2}}{_MARK}|(?:All|Everyone|Everybody|Folks|Team|Friends|Guys|"
    rf"Neighbou?rs|Colleagues)(?:[,!]\s+|[ \t]*\n\s*)|"
    rf"{_HAIL},? (?:{_TITLED}|{_NAME}){_MARK}{_APPOSITION}"
    rf"|(?i:(?:to )?all (?:\w+ )?(?:members|residents|parents|passengers|staff|customers|students|"
    rf"tenants|visitors|guests|drivers|employees))[.:!]\s+"
    rf"|(?i:dear) (?:{_TITLED}|(?i:{_ALL}|customer|guest|member|sir or madam|user|parent|reader|"
    rf"friend|applicant|tenant|student)s?){_MARK}|(?i:dear) {_NAME}[,:]?[ \t]*\n\s*"
    rf"|(?i:to whom it may concern)[,:.]?[ \t]*\n\s*)"
)
_KIND = (
    r"(?:status|summary|updates?|news|announcements?|notice|overview|introduction|intro|newsletter|"
    r"minutes|agenda|important|attention|urgent|fyi|psa|heads[ -]up|thread|story|info|information|"
    r"one|"
    r"recap|bulletin|alert|notification|message)"
)
_ADDED = (
    r"(?:a|an|and|the|our|your|some|please|pls|so|ok|okay|well|just|now|all|everyone|residents|"
    r"customers|members|folks|to|parents|passengers|staff|drivers|students|visitors|tenants|"
    r"weekly|monthly|daily|quick|short|brief|big|sad|good|great|bad|"
    r"exciting|service|security|traffic|travel|general|public|system|status|time|very|project|team)"
)
_STATE = (  # of a ticket, a field and no heading
    r"[ \t]*status[ \t]*:[ \t]*(?:(?:re)?open(?:ed)?|new|closed|(?:un)?resolved|(?:un)?assigned|"
    r"solved|fixed|done|to do|in (?:progress|review)|pending|on hold|blocked|triaged?|active|"
    r"waiting(?: (?:for|on) [\w ]{1,20})?|(?:un)?confirmed|under review|investigating|"
    r"escalated|won['’]t fix|duplicate|draft)[ \t.]*(?:\n|\Z)"
)
_HEADING = re.compile(
    rf"(?!{_STATE})\s*(?:{_ADDED}[ ,.…]{{1,4}}){{0,3}}{_KIND}(?: {_ADDED}){{0,3}}"
    r"[ \t]*(?:[.!:…–—]+(?:\s+|$)|\n\s*)(?=\S)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"\s*(?:(?:this is |here['’]s )?(?:just )?(?:(?:a|an|our|your|the) )?(?:(?:quick|short|brief|"
    r"friendly|gentle|kind|weekly|monthly|final) ){0,2}(?:note|reminder|heads[ -]up|update|word) "
    r"(?:to (?:say|let you (?:all )?know) )?that "
    r"|(?:(?:just|i['’]m|i am|we['’]re|we are|this is)(?: writing)? )?to (?:let you (?:all )?know|"
    r"inform you(?: all)?|tell you|say) that "
    r"|(?:(?:i['’]m|i am|we['’]re|we are|so|very|really|super) ){0,3}(?:happy|pleased|delighted|"
    r"excited|thrilled|proud|glad|sad|sorry) to (?:share|announce|say|report|tell you|inform you|"
    r"let you know) that "
    r"|(?:i['’]m|i am|we['’]re|we are) (?:afraid|sorry)(?: that)?,? "
    r"(?=(?:we|i|it|the|that|you|your)\b)"
    r"|it['’]s official: |(?:just )?a (?:quick|short|brief) (?:update|note|word)"
    r"(?: (?:from|on|about) [\w ]{3,25})?: "
    r"|please (?:note|be aware|be advised|be informed) that "
    r")",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"\s*([^.!?\n]{1,160})[.!?…]*(?:\s+|$)")
_PLEASANTRY = re.compile(
    r"(?:(?:many )?thanks|thank you)(?: (?:so|very) much)? for "
    r"(?:your|the|getting|reaching|writing|contacting|having|joining|coming|tuning|"
    r"taking)\b[^,;]{0,90}|"
    r"(?:thanks|thank you)(?: (?:so|very) much)?|"
    r"(?:i )?hope (?:this|you|everyone|all)\b.{0,50}\b(?:well|day|week|weekend)|how are you.{0,20}|"
    r"sorry to (?:bother|disturb) you.{0,30}|(?:my )?first(?:[- ]time)? post(?:er)?(?: here)?|"
    r"(?:newbie|new|beginner) here|long[- ]time (?:reader|lurker|listener)\b.{0,40}|"
    r"we have read your .{0,40} with interest",
    re.IGNORECASE,
)
_THANKS_BUT = re.compile(
    r"\s*(?:thanks|thank you)(?: (?:so|very) much)? for [^.!?,;\n]{1,80}[,;] but (?=\w)",
    re.IGNORECASE,
)
_CHAT = re.compile(
    rf"(?:(?:{_HAIL})\b.{{0,40}}?(?:[,!] |,? and |$))?"
    r"(?:welcome\b(?: back)?(?:,? (?:to|everyone|everybody|all|folks|friends)\b[^:]{0,90})?"
    r"|(?:hey|hi|hello)\b(?: \w+)? welcome\b[^:]{0,60}|.{0,40}\bhow (?:can|may) i help\b.{0,30}"
    r"|(?:can|could) (?:you|everyone|everybody|anyone) (?:all )?hear me\b.{0,20}"
    r"|(?:is )?everyone (?:here|ready|there)|(?:thanks|thank you)\b[^,;:]{0,60}"
    r"|(?:oh|yes|yep|yeah|no|ok|okay|sure|great|right|alright|perfect|cool|good|fine|exactly|hello|"
    r"hi|hey|um|uh|mm-hmm|all good)\b(?:,? (?:oh|hello|hi|we can|i can|we do|i do|sure|yes|thanks|"
    r"thank you|all|everyone|friends|guys|folks|there|let['’]s (?:start|begin|go)|it is)\b){0,3}"
    r"|this is [^:]{3,60}\b(?:calling|speaking)\b.{0,60}"
    r"|(?:(?:okay|ok|so|well|right|alright|all right),? )?(?:i (?:think|guess|believe) )?"
    r"(?:that['’]s everyone|(?:we(?:['’]re| are)|every(?:one|body)(?:['’]s| is)) (?:all |now )?"
    r"(?:here|in|on|ready|set|complete|present|recording))(?: now| today)?"
    r"|(?:(?:okay|ok|so|well|right|alright|all right),? )?let['’]s (?:get (?:started|going)|start|"
    r"begin|kick off|(?:dive|jump) (?:right )?in)(?: then| now)?"
    r"|let['’]s (?:give|wait)\b.{0,60}|(?:okay|ok),? (?:i think )?we(?:['’]re| are) live"
    r"|(?:sorry|so),? i was on mute|no worries|nice to (?:see|meet|be)\b.{0,40})?",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"\s*(?:so )?(?:today|tonight|in this (?:video|episode|tutorial|clip)),? "
    r"(?:i|we)(?:['’](?:m|re|ll)| am| are| will)? (?:going to )?"
    r"(?:show(?:ing)?|teach(?:ing)?) you (?=how to\b)",
    re.IGNORECASE,
)
_MOST = 12  # openers in a row
_LEAST_WORDS = 5  # that must be left
_LOOKED_AT = 2_000  # characters


def clean_openers(text: str, *, sure: bool = False) -> str:
    """Take greetings, headings such as "Update" and phrases such as "please note that" off.

    Args:
        text: The text.
        sure: No difference.

    Returns:
        The text from where it says something; unchanged if hardly anything would be left.
    """
    found = _without(text, (_GREETING, _HEADING, _THANKS_BUT, _LEAD_IN), _PLEASANTRY)
    return found if _says_enough(found) else text


def without_small_talk(text: str) -> str:
    """Take the small talk off the beginning of what is said, one turn a line.

    Args:
        text: What is said.

    Returns:
        The text from where it says something; unchanged if hardly anything would be left.
    """
    found = _without(text, (_GREETING, _SHOWN), _CHAT)
    return found if _says_enough(found) else text


def _without(text: str, beginnings: tuple[re.Pattern[str], ...], sentence: re.Pattern[str]) -> str:
    """A text without what a pattern matches at its beginning, again and again."""
    start = text[:_LOOKED_AT]
    at = 0
    for _ in range(_MOST):
        found = next((match for one in beginnings if (match := one.match(start, at))), None)
        if found is None:
            first = _SENTENCE.match(start, at)
            if first is None or not sentence.fullmatch(first.group(1).rstrip(" ,")):
                break
            found = first
        if found.end() == at:
            break
        at = found.end()
    if not at:
        return text
    rest = text[at:].lstrip()
    return rest[:1].upper() + rest[1:]


def _says_enough(text: str) -> bool:
    return has_words(text) and len(text[:_LOOKED_AT].split()) >= _LEAST_WORDS
