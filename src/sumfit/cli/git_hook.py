"""``sumfit git-hook`` and ``sumfit check-subject``: subjects of commits and titles of requests."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from sumfit.cli.options import ModelFlags, with_flags
from sumfit.errors import InputError, SumfitError
from sumfit.text.printable import printable

__all__ = ["app", "check_subject", "install", "run", "uninstall"]

app = typer.Typer(
    add_completion=False,
    rich_markup_mode="rich",
    no_args_is_help=True,
    help="Propose subjects for commits, as a hook of git.",
    context_settings={"help_option_names": ["--help", "-h"]},
)

MaxChars = Annotated[
    int, typer.Option(help="Most characters of a subject: 50 by git's rule, 72 by many sites'.")
]


@app.command()
def install(max_chars: MaxChars = 50) -> None:
    """Put the hook prepare-commit-msg into the repository of this folder.

    sumfit git-hook install

    sumfit git-hook install --max-chars 72

    A hook that is there already is never overwritten, unless sumfit made it.
    """
    from sumfit.integrations.git import Repository
    from sumfit.integrations.git_hook import install as put

    repository = Repository.at(Path.cwd())
    path = put(repository, max_chars)
    print(f"installed {printable(str(path))}", file=sys.stderr)
    if repository.shares_hooks:
        print("note: every repository that uses this folder of hooks has it now", file=sys.stderr)


@app.command()
def uninstall() -> None:
    """Remove the hook, if it is as sumfit made it.

    sumfit git-hook uninstall
    """
    from sumfit.integrations.git import Repository
    from sumfit.integrations.git_hook import uninstall as remove

    path = remove(Repository.at(Path.cwd()))
    print(f"removed {printable(str(path))}", file=sys.stderr)


@app.command()
@with_flags(model=ModelFlags)
def run(
    file: Annotated[Path, typer.Argument(help="The message's file.")],
    source: Annotated[str, typer.Argument(help="Where the message comes from.")] = "",
    commit: Annotated[str, typer.Argument(help="The commit it comes from.")] = "",
    max_chars: MaxChars = 50,
    *,
    model: ModelFlags,
) -> None:
    """Do what the hook does, with the arguments that git gives it.

    sumfit git-hook run .git/COMMIT_EDITMSG message

    It writes a subject where there is none and says where one is too long. It never stops a
    commit: where nothing can be proposed the message stays as it is.
    """
    from sumfit.integrations.git import Repository
    from sumfit.integrations.git_hook import prepare

    repository = Repository.at(Path.cwd())
    told = prepare(file, source, repository, _proposer(model, max_chars), max_chars)
    if told:
        print(f"sumfit: {printable(told)}", file=sys.stderr)


@with_flags(model=ModelFlags)
def check_subject(
    file: Annotated[
        str, typer.Argument(help="A commit's message file, or - for standard input.")
    ] = "-",
    max_chars: MaxChars = 50,
    *,
    model: ModelFlags,
) -> None:
    """Check the subject of a message, and propose a shorter one where it is too long.

    sumfit check-subject .git/COMMIT_EDITMSG --max-chars 72

    sumfit check-subject --max-chars 72 < title-and-description.txt

    The proposal goes to standard output; the exit code is 1. A file is read as git reads it,
    without comments; standard input as it is. Merges, reverts, fixups and empty messages pass.
    """
    from sumfit.cli.text import read_text
    from sumfit.integrations.commit_message import check_limit, over_limit, parse_message

    check_limit(max_chars)
    message = parse_message(read_text("-") if file == "-" else _read_message(Path(file)))
    if message.length <= max_chars or message.is_made_by_git:
        return
    print(f"error: {over_limit(message, max_chars)}", file=sys.stderr)
    try:
        proposal = _proposer(model, max_chars)(message.text)
    except SumfitError as error:
        print(f"no other can be proposed: {printable(str(error))}", file=sys.stderr)
    else:
        print("This one fits:", file=sys.stderr)
        print(proposal)
    raise typer.Exit(1)


def _read_message(file: Path) -> str:
    from sumfit.integrations.git import Repository

    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{printable(str(file))} is not UTF-8 at byte {error.start}; convert it"
        ) from error
    return Repository.at(Path.cwd()).without_comments(text)


def _proposer(model: ModelFlags, max_chars: int) -> Callable[[str], str]:
    """What turns a text into a subject; the model is loaded when it is first asked."""

    def propose(text: str) -> str:
        from sumfit.integrations.commit_message import subject_options

        return str(model.load(n_workers=1)(text, **subject_options(max_chars)).text)

    return propose
