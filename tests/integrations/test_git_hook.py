"""The hook that proposes subjects, in real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumfit import Summarizer
from sumfit.errors import BudgetError, ConfigError, EmptyInputError, InputError
from sumfit.integrations.commit_message import parse_message, subject_options
from sumfit.integrations.git import Repository
from sumfit.integrations.git_hook import HOOK, install, prepare, script, uninstall
from tests.integrations.conftest import Place
from tests.tiny_model import TEXTS

PARAGRAPH = f"{TEXTS[0]}\n{TEXTS[1]}"


def hook_of(place: Place) -> Path:
    return place.root / ".git" / "hooks" / HOOK


def stage(place: Place, name: str = "bridge.txt", text: str = TEXTS[0]) -> None:
    (place.root / name).write_text(text + "\n", encoding="utf-8")
    place.git("add", name)


def test_installed_by_one_command_it_proposes_from_what_is_staged(place: Place) -> None:
    done = place.sumfit("git-hook", "install")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"installed {hook_of(place)}\n"
    stage(place)
    shown = place.root.parent / "shown"
    place.git("commit", GIT_EDITOR=f"cp '{place.root}/.git/COMMIT_EDITMSG' '{shown}'; true")
    subject = place.message()
    assert 0 < len(subject) <= 50
    assert "\n" not in subject
    first, note, *rest = shown.read_text(encoding="utf-8").split("\n")
    assert first == subject
    assert note.startswith("# The subject above is proposed by sumfit")
    assert any(line.startswith("# Please enter the commit message") for line in rest)
    done = place.sumfit("git-hook", "uninstall")
    assert (done.returncode, done.stderr) == (0, f"removed {hook_of(place)}\n")
    assert not hook_of(place).exists()


def test_a_proposal_that_is_deleted_stops_the_commit_as_ever(place: Place) -> None:
    install(Repository(place.root), 50)
    stage(place)
    done = place.run("git", "commit", GIT_EDITOR="sed -i 1d")
    assert done.returncode == 1
    assert "Aborting commit due to empty commit message" in done.stderr


def test_a_paragraph_gets_a_subject_and_stays(place: Place, fit: Summarizer) -> None:
    install(Repository(place.root), 72)
    done = place.git("commit", "--allow-empty", "-F", "-", stdin=f"{PARAGRAPH}\n\n#12 is mended.\n")
    subject, blank, rest = place.message().split("\n", 2)
    text = parse_message(f"{PARAGRAPH}\n\n#12 is mended.").text
    assert subject == fit(text, preset="git-subject-hard").text
    assert (blank, rest) == ("", f"{PARAGRAPH}\n\n#12 is mended.")
    assert f"sumfit: the message had no subject, so it got one: {subject}" in done.stderr


def test_a_subject_over_the_limit_is_told_and_stays(place: Place, fit: Summarizer) -> None:
    install(Repository(place.root), 50)
    given = "Close the old bridge after an inspection found cracks in it"
    done = place.git("commit", "--allow-empty", "-m", given, "-m", TEXTS[0])
    assert place.message() == f"{given}\n\n{TEXTS[0]}"
    proposed = fit(f"{given}\n\n{TEXTS[0]}", preset="git-subject").text
    assert len(proposed) <= 50
    assert (
        f"sumfit: the subject has {len(given)} characters, at most 50 were asked for. "
        f"One that fits: {proposed}\n"
    ) in done.stderr


def test_what_cannot_be_summarised_is_committed_as_it_is(place: Place) -> None:
    install(Repository(place.root), 50)
    given = "— " * 45 + "."
    done = place.git("commit", "--allow-empty", "-m", given)
    assert "sumfit: no subject is proposed: " in done.stderr
    assert place.message() == given


def test_where_sumfit_is_gone_commits_work(place: Place) -> None:
    hook = hook_of(place)
    hook.write_text(script(50, python="/nowhere/python"), encoding="utf-8")
    hook.chmod(0o755)
    path = "/usr/local/bin:/usr/bin:/bin"
    done = place.git("commit", "--allow-empty", "-m", PARAGRAPH, PATH=path)
    assert "sumfit" in done.stderr
    assert "not found" in done.stderr
    assert place.message() == PARAGRAPH


class Asked:
    """Stands for the model: every call is counted."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> str:
        self.texts.append(text)
        return "A subject"


def prepared(place: Place, text: str, source: str, **environment: str) -> tuple[str, Asked, str]:
    """What the hook makes of a message: what it says, what it asked, the message."""
    file = place.root / "MESSAGE"
    file.write_text(text, encoding="utf-8")
    asked = Asked()
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("GIT_")}
    os.environ.update({"GIT_EDITOR": "vi", **environment})
    try:
        told = prepare(file, source, Repository(place.root), asked, 50)
    finally:
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            del os.environ[name]
        os.environ.update(kept)
    return told, asked, file.read_text(encoding="utf-8")


LONG = "word " * 30
COMMENTS = "\n# Please enter the commit message for your changes.\n#\n"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Close the bridge\n", "message"),
        ("Close\nthe bridge\n", "message"),
        ("fixup! " + LONG, "message"),
        ('Revert "' + LONG + '"\n', "message"),
        (f"Merge branch '{'x' * 80}' into main\n", "message"),
        (LONG, "merge"),
        (LONG, "squash"),
        (LONG, "commit"),
        (LONG, "template"),
        (COMMENTS, ""),  # with nothing staged there is nothing to say
        ("", "message"),
    ],
)
def test_messages_that_stay_and_need_no_model(place: Place, text: str, source: str) -> None:
    told, asked, after = prepared(place, text, source)
    assert (told, asked.texts, after) == ("", [], text)


def test_while_other_commits_are_replayed_messages_stay(place: Place) -> None:
    place.git("commit", "--allow-empty", "-m", "first")
    place.git("branch", "other")
    place.git("branch", "third")
    for number, branch in enumerate(("main", "other", "third")):
        place.git("checkout", "-q", branch)
        stage(place, f"{branch}.txt", TEXTS[number])
        place.git("commit", "-m", LONG.strip())
    install(Repository(place.root), 50)
    place.environment["SUMFIT_MODEL"] = "/nowhere"  # it would be said if it were asked
    for command in (
        ("rebase", "-q", "main"),
        ("cherry-pick", "other"),
        ("revert", "--no-edit", "HEAD"),
        ("commit", "--amend", "--no-edit"),
    ):
        done = place.git(*command)
        assert "sumfit" not in done.stderr, command
        assert LONG.strip() in place.message()
    assert place.message().startswith('Revert "')


def test_comments_and_patches_below_a_message_are_no_part_of_it(place: Place) -> None:
    stage(place)
    below = "# ------------------------ >8 ------------------------\n+++ secret\n"
    told, asked, after = prepared(place, f"{COMMENTS}{below}", "")
    (patch,) = asked.texts
    assert told == ""
    assert patch.startswith("diff --git ")
    assert TEXTS[0] in patch
    assert after.startswith("A subject\n# The subject above")
    assert after.endswith(f"{COMMENTS}{below}")


def test_another_comment_mark(place: Place) -> None:
    stage(place)
    place.git("config", "core.commentChar", ";")
    _, asked, after = prepared(place, "\n; Please enter a message\n", "")
    assert len(asked.texts) == 1
    assert after.split("\n")[1].startswith("; The subject above")
    _, asked, _ = prepared(place, f"# {LONG}\n", "message")
    assert asked.texts == [f"# {LONG}".strip()]


@pytest.mark.parametrize(
    ("cleanup", "editor", "is_text"),
    [
        ("default", "vi", False),
        ("default", ":", True),
        ("strip", ":", False),
        ("verbatim", "vi", True),
        ("scissors", "vi", True),
    ],
)
def test_lines_with_the_comment_mark(
    place: Place, cleanup: str, editor: str, is_text: bool
) -> None:
    place.git("config", "commit.cleanup", cleanup)
    _, asked, after = prepared(place, f"#12 {LONG}\n", "message", GIT_EDITOR=editor)
    assert (asked.texts != []) == is_text
    assert after.startswith("A subject\n\n#12 word") == is_text


def test_a_signature_alone_is_no_message(place: Place) -> None:
    stage(place)
    signature = "Signed-off-by: A <a@example.org>\n"
    _, asked, after = prepared(place, f"\n\n{signature}{COMMENTS}", "")
    assert len(asked.texts) == 1
    assert asked.texts[0].startswith("diff --git")
    assert signature in after
    _, asked, _ = prepared(place, f"{LONG}\n\n{signature}", "message")
    assert asked.texts == [LONG.strip()]


def test_bytes_that_are_no_text_come_through(place: Place) -> None:
    file = place.root / "MESSAGE"
    file.write_bytes(b"caf\xe9 " * 20 + b"\n")
    prepare(file, "message", Repository(place.root), Asked(), 50)
    assert file.read_bytes() == b"A subject\n\n" + b"caf\xe9 " * 20 + b"\n"


def test_a_huge_change_is_read_in_part(place: Place) -> None:
    stage(place, "large.txt", "line of text\n" * 200_000)
    assert 0 < len(Repository(place.root).staged()) <= 400_000


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "changed", "folder"])
def test_a_foreign_hook_is_neither_overwritten_nor_removed(place: Place, kind: str) -> None:
    hook = hook_of(place)
    if kind == "file":
        hook.write_text("#!/bin/sh\necho mine\n", encoding="utf-8")
    elif kind == "changed":
        install(Repository(place.root), 50)
        with hook.open("a", encoding="utf-8") as file:
            file.write("echo mine\n")
    elif kind == "folder":
        hook.mkdir()
    else:
        target = place.root / ("nothing" if kind.startswith("dangling") else "hook.sh")
        if kind == "link":
            target.write_text(script(50), encoding="utf-8")
        hook.symlink_to(target)
    before = hook.read_bytes() if hook.is_file() else b""
    with pytest.raises(InputError, match=r"there is a hook already, .*nothing was written"):
        install(Repository(place.root), 72)
    with pytest.raises(InputError, match="is not as sumfit made it, so it stays"):
        uninstall(Repository(place.root))
    assert os.path.lexists(hook)
    assert (hook.read_bytes() if hook.is_file() else b"") == before
    assert [path.name for path in hook.parent.iterdir() if path.name.startswith(".")] == []


def test_its_own_hook_is_renewed_and_runs(place: Place) -> None:
    repository = Repository(place.root)
    path = install(repository, 50)
    assert install(repository, 72) == path
    assert path.read_text(encoding="utf-8") == script(72)
    assert os.access(path, os.X_OK)


def test_hooks_elsewhere(place: Place) -> None:
    repository = Repository(place.root)
    assert not repository.shares_hooks
    place.git("config", "core.hooksPath", "my hooks")
    assert install(repository, 50) == place.root / "my hooks" / HOOK
    assert not repository.shares_hooks
    shared = place.root.parent / "shared hooks"
    place.git("config", "core.hooksPath", str(shared))
    done = place.sumfit("git-hook", "install")
    assert done.stderr.startswith(f"installed {shared / HOOK}\nnote: every repository")
    assert (shared / HOOK).is_file()


def test_in_a_worktree_the_hook_goes_where_git_reads_it(place: Place) -> None:
    place.git("commit", "--allow-empty", "-m", "first")
    place.git("worktree", "add", "-q", "../other")
    repository = Repository.at(place.root.parent / "other")
    assert install(repository, 50).resolve() == hook_of(place).resolve()
    assert not repository.shares_hooks


@pytest.mark.parametrize("command", [("install",), ("uninstall",), ("run", "MESSAGE")])
def test_outside_a_repository(outside: Place, command: tuple[str, ...]) -> None:
    (outside.root / "MESSAGE").write_text(LONG)
    done = outside.sumfit("git-hook", *command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: a git repository is needed, ")
    assert "change to a folder of the repository" in done.stderr
    assert [path.name for path in outside.root.iterdir()] == ["MESSAGE"]
    assert (outside.root / "MESSAGE").read_text() == LONG


def test_without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="git is needed and was not found"):
        Repository.at(tmp_path)


def test_nothing_to_remove(place: Place) -> None:
    with pytest.raises(InputError, match="there is no hook to remove"):
        uninstall(Repository(place.root))


@pytest.mark.parametrize("limit", [0, -1, 10**9, True, "50"])
def test_a_limit_that_makes_no_sense(place: Place, limit: object) -> None:
    with pytest.raises(BudgetError, match="max_chars must be a whole number from 1 to"):
        install(Repository(place.root), limit)  # type: ignore[arg-type]
    assert not hook_of(place).exists()


def test_an_error_of_the_model_changes_nothing(place: Place) -> None:
    def fails(text: str) -> str:
        raise EmptyInputError("there is no text")

    file = place.root / "MESSAGE"
    file.write_text(LONG)
    told = prepare(file, "message", Repository(place.root), fails, 50)
    assert told == "no subject is proposed: there is no text"
    assert file.read_text() == LONG


def test_options_for_a_subject() -> None:
    assert subject_options(50) == {"preset": "git-subject"}
    assert subject_options(72) == {"preset": "git-subject-hard"}
    assert subject_options(60) == {"max_chars": 60, "style": "commit"}


_words = st.text("abc é", min_size=1, max_size=30).filter(lambda text: text.strip() != "")


@settings(max_examples=60, deadline=None)
@given(st.lists(_words, min_size=1, max_size=4), st.lists(_words, max_size=4))
def test_a_message_is_parted_at_its_first_blank_line(first: list[str], rest: list[str]) -> None:
    message = parse_message("\n".join([*first, "", *rest]))
    assert message.subject == " ".join(line.strip() for line in first)
    assert message.body == "\n".join(line.rstrip() for line in rest).strip()
    assert message.n_subject_lines == len(first)
