"""Mail: the sender's own words, without headers, quoted mail, greeting and signature.

Owns what counts as mail, as a message file or as pasted text, one message or a thread.
"""

from __future__ import annotations

import email
import email.policy
import re
from email.message import EmailMessage

from sumfit.cleaning.blocks import has_words, joined

__all__ = ["clean_mail"]

_HEADER = re.compile(
    r"(?:From|To|Cc|Bcc|Sent|Date|Subject|Reply-To|Message-I[Dd]|In-Reply-To|References|Received|"
    r"Return-Path|Sender|List-[A-Z]\w+|X-[\w-]+|MIME-Version|Content-[\w-]+|DKIM-Signature|"
    r"Delivered-To|User-Agent|Importance|Attachments?|Auto-Submitted|Precedence|Thread-\w+|"
    r"Authentication-Results)[ \t]*:(?:[ \t]|$)"
)
_SUBJECT = re.compile(r"Subject[ \t]*:[ \t]*(?:(?:Re|RE|Fwd?|FW|Aw|AW|WG)(?:\[\d+\])?:[ \t]*)*(.*)")
_TAG = re.compile(r"\A(?:\[[^\[\]]{1,40}\][ \t]*)+")
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.")
_QUOTED = re.compile(r"[ \t]{0,3}>+(?:[ \t]|$|>)|[ \t]{0,3}>(?=\S)")
_WROTE = re.compile(
    r"(?:On[ \t].{3,200}|.{1,200}<[^<>@\s]{1,64}@[^<>\s]{1,255}>[^:]{0,60}|"
    r"[A-Z].{0,60}[ \t](?:at|on)[ \t].{0,60}\d.{0,60})[ \t](?:wrote|writes|said)[ \t]*:[ \t]*"
)
_DIVIDER = re.compile(
    r"-{2,}[ \t]*(?:Original Message|Forwarded message|Forwarded by .{1,200}|Original Appointment)"
    r"[ \t]*-{2,}[ \t]*|Begin forwarded message:[ \t]*|_{10,}[ \t]*"
)
_ORIGINAL = re.compile(r"-{2,}[ \t]*Original (?:Message|Appointment)[ \t]*-{2,}")
_SIGNED = re.compile(r"--[ \t]?")
_DEVICE = re.compile(
    r"(?:Sent|Get Outlook|Envoyé|Von meinem) (?:from|via|using|for|de) .{2,60}|"
    r"Sent from my .{2,40}\.?",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:(?:with )?(?:best|kind|warm|kindest|warmest|many)(?: (?:regards|wishes|thanks))?|regards|"
    r"cheers|thanks|thank you|thanks again|many thanks|thanks(?: in advance|,? all| so much)|"
    r"sincerely|yours(?: (?:sincerely|truly|faithfully))?|all the best|best|talk soon|rgds|br|"
    r"take care|see you|respectfully|ta)[ \t]*[,.!–-]*",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|greetings|morning)"
    r"(?:[ \t]+[\w.'’&-]+){0,5}[ \t]*[,.!:;–-]*",
    re.IGNORECASE,
)
_CONFIDENTIAL = re.compile(
    r"\A\W*(?:(?:confidentiality|legal|privacy) notice|disclaimer|"
    r"(?:this|the information (?:in|contained in) this) (?:e-?mail|message|communication|"
    r"transmission)\b.{0,120}\b(?:confidential|privileged|intended (?:only|solely))|"
    r"please consider the environment|you (?:are receiving|received) this (?:e-?mail|message))",
    re.IGNORECASE,
)
_LONGEST_NAME = 60  # characters of a line below a closing
_MOST_BELOW = 8  # lines below a closing
_FEWEST_WORDS = 4  # of one's own, beside quoted mail
_SHORTEST_SUBJECT = 3  # words of one that says something
_MOST_PARTS = 50  # of a message file


def clean_mail(text: str, *, sure: bool = False) -> str:
    """Take the sender's own words out of mail; other text stays as it is.

    Headers, quoted lines and what introduces them, greetings, closings with the name below,
    signatures and notices of confidentiality are left out; a subject that says more than "Re:"
    becomes the first sentence. Where the sender adds next to nothing, as in a forwarded mail,
    the quoted text is what counts.

    Args:
        text: The text.
        sure: It is mail.

    Returns:
        The words; unchanged if it is no mail or nothing would be left.
    """
    lines = text.split("\n")
    evidence = _evidence(lines)
    if not (sure or evidence):
        return text
    body = _decoded(text) if _n_headers(lines) > 1 else None
    lines = (body if body is not None else text).replace("\r", "").split("\n")
    own = joined(_own_words(lines, keep_quoted=False))
    if len(own.split()) < _FEWEST_WORDS:
        own = joined(_own_words(lines, keep_quoted=True)) or own
    return own if has_words(own) else text


def _evidence(lines: list[str]) -> bool:
    """Return whether something in it is of mail alone."""
    if _n_headers(lines) > 1:
        return True
    first = next((line for line in lines if line.strip()), "")
    last = next((line for line in reversed(lines) if line.strip()), "")
    is_around = any(_QUOTED.match(line) and not line.startswith(">>> ") for line in (first, last))
    if _HEADER.match(first) and (_ADDRESS.search(first) or first.startswith("Subject")):
        return True
    n_quoted = 0
    for number, line in enumerate(lines):
        below = lines[number + 1 : number + 4]
        if _DIVIDER.fullmatch(line.strip()) and any(map(_HEADER.match, below)):
            return True
        if line.rstrip() == "--" and number and len(lines) - number <= _MOST_BELOW:
            return True
        if line.rstrip().endswith(":") and _wrote(lines, number):
            return True
        n_quoted += _QUOTED.match(line) is not None
        if len(line) < _LONGEST_NAME and len(lines) - number <= _MOST_BELOW:
            if number and (_DEVICE.fullmatch(line.strip()) or _closes(lines, number)):
                return True
    return is_around and n_quoted > 1


def _n_headers(lines: list[str]) -> int:
    """Header lines at the top."""
    n_headers = 0
    for line in lines[:200]:
        if _HEADER.match(line):
            n_headers += 1
        elif line.strip() and not (n_headers and line[0].isspace()):
            break
        elif not line.strip() and n_headers:
            break
    return n_headers


def _wrote(lines: list[str], number: int) -> bool:
    """Return whether a line, with the one above it if need be, introduces quoted mail."""
    line = lines[number].strip()
    if len(line) < 300 and _WROTE.fullmatch(line):
        return True
    both = f"{lines[number - 1].strip()} {line}" if number else ""
    return 0 < len(both) < 300 and both.startswith("On ") and _WROTE.fullmatch(both) is not None


def _closes(lines: list[str], number: int) -> bool:
    """Return whether a line is a closing, such as "Best regards,", with short lines below it."""
    line = lines[number].strip()
    if not number or not _CLOSING.fullmatch(line):
        return False
    below = [other.strip() for other in lines[number + 1 : number + 1 + _MOST_BELOW]]
    below = [other for other in below if other]
    return bool(below) and len(below[0]) <= _LONGEST_NAME and below[0][-1] not in ".!?:"


def _decoded(text: str) -> str | None:
    """The readable part of a message file, where its headers say how it is coded."""
    head = text[:20_000].lower()
    if "content-type:" not in head and "content-transfer-encoding:" not in head:
        return None
    if text.lower().count("boundary=") > _MOST_PARTS:
        return None
    message = email.message_from_string(text.lstrip(), policy=email.policy.default)
    if not isinstance(message, EmailMessage):
        return None
    try:
        part = message.get_body(preferencelist=("plain", "html"))
        content = part.get_content() if part is not None else None
    except (LookupError, ValueError, KeyError):  # an unknown character set, a broken part
        return None
    if not isinstance(content, str):
        return None
    subject = str(message.get("subject", "")).replace("\n", " ")
    return f"Subject: {subject}\n\n{content}" if subject else content


def _own_words(lines: list[str], *, keep_quoted: bool) -> list[str]:
    """Paragraphs of the messages, in order."""
    blocks: list[str] = []
    paragraph: list[str] = []
    subjects: set[str] = set()
    in_header, in_signature = _n_headers(lines) > 0, False
    below_header = 0
    for number, full in enumerate(lines):
        line = full.strip()
        if in_header or _starts_header(lines, number):
            in_header = bool(line) and (
                _HEADER.match(line) is not None or (full[0].isspace() and below_header > 0)
            )
            below_header = below_header + 1 if in_header else 0
            if in_header or not line:
                if subject := _SUBJECT.match(line):
                    blocks += [" ".join(paragraph), _said(subject.group(1), subjects)]
                    paragraph = []
                in_signature = False
                continue
        is_quoted = _QUOTED.match(full) is not None
        if is_quoted:
            in_signature = False
            if not keep_quoted:
                continue
            line = line.lstrip("> \t")
        if _ORIGINAL.fullmatch(line) and number and not keep_quoted:
            break
        if _DIVIDER.fullmatch(line) or (line.endswith(":") and _wrote(lines, number)):
            in_signature = False
            blocks.append(" ".join(paragraph))
            paragraph = []
            continue
        if line.startswith("On ") and number + 1 < len(lines) and _wrote(lines, number + 1):
            continue
        if in_signature and not (keep_quoted and is_quoted):
            continue
        if _SIGNED.fullmatch(line) or _closes(lines, number) or _ends(lines, number):
            in_signature = True
            continue
        if not line or _DEVICE.fullmatch(line) or _GREETING.fullmatch(line):
            blocks.append(" ".join(paragraph))
            paragraph = []
        else:
            paragraph.append(line)
    blocks.append(" ".join(paragraph))
    return [block for block in blocks if block and not _CONFIDENTIAL.match(block[:300])]


def _said(subject: str, subjects: set[str]) -> str:
    """A subject that says something and is new."""
    subject = _TAG.sub("", subject).strip()
    if subject in subjects or len(subject.split()) < _SHORTEST_SUBJECT:
        return ""
    subjects.add(subject)
    return subject


def _starts_header(lines: list[str], number: int) -> bool:
    """Return whether the headers of a further message begin here."""
    if not _HEADER.match(lines[number].lstrip("> \t")):
        return False
    return number + 1 < len(lines) and _HEADER.match(lines[number + 1].lstrip("> \t")) is not None


def _ends(lines: list[str], number: int) -> bool:
    """Return whether a line is a closing at the very end, without a name below it."""
    return _CLOSING.fullmatch(lines[number].strip()) is not None and not any(
        map(str.strip, lines[number + 1 : number + 3])
    )
