"""Lines and phrases that stand around a text and say nothing of it.

Owns datelines, credits, calls to read or share more, cookie notices, device signatures and the
trailers of commit messages. In a text of one line only its start and its end are looked at.
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import has_words

__all__ = ["clean_boilerplate"]

_MONTH = (
    r"(?:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?|"
    r"Aug(?:ust|\.)?|"
    r"Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)"
)
_DAY = rf"(?:{_MONTH}[ \t]+\d{{1,2}}|\d{{1,2}}[ \t]+{_MONTH})(?:,?[ \t]+\d{{4}})?"
_AGENCY = r"\((?:[A-Z][\w./&]{1,20})(?:[ \t][A-Z][\w.&]{1,20}){0,3}\)"
_CITY = r"[A-Z][A-Z'’.-]{2,20}(?:[ \t/][A-Z][A-Z'’.-]{1,20}){0,3}"
_PLACE = r"[A-Z][\w'’.-]{1,20}(?:[ \t/][A-Z][\w'’.-]{1,20}){0,3}"
_REGION = r"(?:,[ \t]+[A-Z][\w.]{1,20}(?:[ \t][A-Z][\w.]{1,20})?)?"
_DASH = r"[ \t]*(?:--|[-–—])[ \t]+"
_DATELINE = re.compile(
    rf"\A\s*(?:{_CITY}{_REGION}(?:,[ \t]+{_DAY})?(?:[ \t]*{_AGENCY})?{_DASH}"
    rf"|{_PLACE}{_REGION}(?:,[ \t]+{_DAY})?[ \t]*{_AGENCY}{_DASH}"
    rf"|{_PLACE}{_REGION},[ \t]+{_DAY}{_DASH}"
    rf"|{_CITY}{_REGION},?[ \t]+{_DAY}[ \t]*{_AGENCY}[ \t]+)(?=[A-Z\"“'‘\d])"
)
_FLASH = re.compile(
    r"\A\s*(?:BREAKING(?:[ \t]NEWS)?|JUST IN|EXCLUSIVE|WATCH|FLASH|URGENT|DEVELOPING)[ \t]*"
    r"(?::|\||--|[-–—])[ \t]+(?=\S)"
)
_CREDITS = (
    r"(?:file )?(?:photo|picture|image|video|photograph|graphic)(?: credit)? ?:.{0,200}",
    r"(?:photos?|pictures?|images?) by .{0,120}|(?:pictured|credit|caption) ?:.{0,200}",
    r"(?:reporting|editing|writing) by .{2,160}|\d{1,2} min(?:ute)?s? read",
    r"(?:written )?by [A-Z][\w.'’-]+(?: [A-Z][\w.'’-]+){1,3}",
    r"(?:posted|(?:first )?published|(?:last )?updated)(?: on| at| by)? ?:? "
    r"[^.!?]{0,20}\d[^.!?]{0,60}",
    r"(?:copyright )?(?:©|\(c\)) ?.{0,20}\d{4}.{0,120}|copyright \d{4}.{0,120}",
    r"all rights reserved\W*",
)
_CALLS = (
    r"(?:read|see|find out|learn|show|load|view) more\b.{0,120}",
    r"(?:continue|keep) reading\b.{0,120}",
    r"read (?:also|next|the (?:full|whole|rest)|full)\b.{0,120}|also read\b.{0,120}",
    r"related ?:.{0,120}|(?:see|watch) also ?:.{0,120}|trending(?: now)?|most (?:read|popular)",
    r"related (?:articles?|stories|posts?|links?|news|topics?|content|coverage) ?:?.{0,120}",
    r"more from.{0,60}|recommended(?: for you)?|sponsored(?: content)?|promoted|advertisements?",
    r"(?:article|story) continues below.{0,40}|loading\W*|click here\b.{0,80}|tap here\b.{0,80}",
    r"share (?:this|on|via)\b.{0,80}|(?:share|tweet|pin|print|e-?mail|save|copy link|reply|like)",
    r"(?:\d+ )?comments?(?: \(\d+\))?|leave a (?:comment|reply)|follow @?\w+ on\b.{0,80}",
    r"(?:follow|like|join|find) us on\b.{0,120}|unsubscribe\b.{0,120}",
    r"(?:sign up|subscribe|register)\b.{0,60}\b(?:newsletter|updates|inbox|mailing list|free)\b"
    r".{0,120}",
    r"you(?: are|'re) receiving this\b.{0,200}",
    r"view (?:this (?:e-?mail|message) )?(?:in|on) (?:your|the|a) (?:browser|web)\b.{0,60}",
)
_MENUS = (
    r"sign in|log in|sign up|subscribe|register|menu|search|home|skip|close|next|previous",
    r"newsletter|contact(?: us)?|about(?: us)?|privacy(?: policy)?|terms (?:of|and|&).{0,40}",
    r"skip to (?:main content|content|navigation)|back to top|jump to (?:navigation|search)",
)
_COOKIES = (
    r".{0,60}\b(?:we|site|website|page)\b.{0,40}\buses?\b.{0,40}\bcookies\b.{0,400}",
    r"(?:accept|reject|manage|allow)(?: (?:all|only|optional|necessary|essential)){0,2} cookies"
    r".{0,60}",
    r"cookie (?:settings|policy|preferences|notice).{0,60}",
    r"by (?:continuing|using|clicking)\b.{0,200}\b(?:agree|accept|consent)\b.{0,200}",
)
_KEY = r"(?:[\w./-]{0,60}#\d{1,9}|(?-i:[A-Z][A-Z0-9]{1,9})-\d{1,9}|https?://\S{1,200})"
_SIGNATURES = (
    r"sent from my .{2,40}|get outlook for .{2,30}",
    r"(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?) #\d{1,9}(?:,? (?:and )?#\d{1,9}){0,8}\.?",
    r"(?:closes|fixes|resolves|refs?) ?: #\d{1,9}",
    r"\(cherry picked from commit [0-9a-f]{6,64}\)",
    r"(?:signed-off|reviewed|acked|tested|co-authored|reported|suggested|approved|helped|co-developed)"
    r"-by: .{0,100}<[^<>\s]{1,80}@[^<>\s]{1,80}>(?: ?#.{0,60})?",
    r"(?:cc|commit-queue|auto-submit) ?: .{0,60}<[^<>]{1,80}@[^<>]{1,80}>|cc ?: \S{1,80}@\S{1,80}",
    r"change-id: I[0-9a-f]{1,64}|(?:cr-commit-position|cq-depend): .{1,200}",
    r"(?:reviewed-on|link) ?: https?://\S+|fixes ?: [0-9a-f]{7,40}\b.{0,160}",
)
_SURE_TRAILER = re.compile("|".join(_SIGNATURES[1:]), re.IGNORECASE)
_KEYED_TRAILER = re.compile(
    r"(?:refs?|references|bugs?|issues?|closes|fixes|resolves|see-also|jira|ticket|task|related)"
    rf" ?[:=] ?{_KEY}(?:, ?{_KEY}){{0,8}}",
    re.IGNORECASE,
)
_LINE = re.compile("|".join((*_CREDITS, *_CALLS, *_MENUS, *_COOKIES, *_SIGNATURES)), re.IGNORECASE)
_TRAILER = re.compile(
    r"(?:Refs?|Bug|Issue|Closes|Fixes|Resolves|C[Cc]|"
    r"[A-Z][a-z]{1,20}(?:-[A-Za-z]{1,20}){1,4}): \S.{0,200}"
)
_REVERTS = re.compile(
    r"(?m)^[ \t]{0,8}This reverts commit\s{1,4}[0-9a-f]{6,64}"
    r"(?:,?\s{1,4}reversing\s{1,4}changes\s{1,4}made\s{1,4}to\s{1,4}[0-9a-f]{6,64})?"
    r"(?:\.?[ \t]{0,8}(?:\n|\Z)|\.[ \t]{1,8}(?=[A-Z]))"
)
_LONGEST_LINE = 700
_TAIL = re.compile(
    r"(?<=[.!?…\"”’\])])[ \t\n]+(?:\(?(?:Read|See|Learn|Find out) more\b[^.!?\n]{0,80}|"
    r"Continue reading[^.!?\n]{0,80}|Click here[^.!?\n]{0,80}|"
    r"Read (?:the )?(?:full|whole) (?:story|article|post)[^.!?\n]{0,80}|"
    r"Sent from my [^.!?\n]{2,40}|(?:Photo|Picture|Image)(?: credit)?: [^.!?\n]{1,120}|"
    r"All rights reserved|Advertisement)\)?[ \t]*[.!…»→>]*\s*\Z"
)
_ELISION = re.compile(r"[ \t]*(?:\[(?:\.{3}|…|&hellip;)\]|\[\+\d+ chars\])\s*\Z")
_TAIL_CHARS = 300


def clean_boilerplate(text: str, *, sure: bool = False) -> str:
    """Take out what stands around a text; other text stays as it is.

    Args:
        text: The text.
        sure: No difference.

    Returns:
        The text without it; unchanged if nothing would be left.
    """
    found = _REVERTS.sub("", text)
    if "\n" in found:
        lines = found.split("\n")
        kept = [line for line in _without_trailers(lines) if not _is_boilerplate(line.strip())]
        if len(kept) < len(lines):
            found = "\n".join(kept)
    if found != text:
        found = found.strip()
    head, tail = found[:-_TAIL_CHARS], found[-_TAIL_CHARS:]
    found = head + _ELISION.sub("", _TAIL.sub("", tail))
    start = found[:_TAIL_CHARS]
    found = _DATELINE.sub("", _FLASH.sub("", start), count=1) + found[_TAIL_CHARS:]
    return found if has_words(found) else text


def _is_boilerplate(line: str) -> bool:
    if (
        not 0 < len(line) <= _LONGEST_LINE or line[0].islower()
    ):  # "image: scale by two" is no credit
        return False
    return _LINE.fullmatch(line) is not None


def _without_trailers(lines: list[str]) -> list[str]:
    """A commit message without its last paragraph, if that is all trailers ("Refs: SHOP-12").

    One of them must be a sure one, as content can look like the others ("Use-by: 4 May 2027").
    """
    n_full = next((n for n in range(len(lines), 0, -1) if lines[n - 1].strip()), 0)
    n_above = next((n for n in range(n_full, 0, -1) if not lines[n - 1].strip()), 0)
    last = lines[n_above:n_full]
    has_sure_one = any(map(_SURE_TRAILER.fullmatch, last))
    if n_above and all(
        _KEYED_TRAILER.fullmatch(line)
        or _is_boilerplate(line)
        or (has_sure_one and _TRAILER.fullmatch(line))
        for line in last
    ):
        return lines[:n_above]
    return lines
