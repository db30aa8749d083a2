"""Whether a commit subject begins with an order, as it should: "Fix", "Add", "Let", not "Crash".

Owns the verbs with which subjects of commits begin.
"""

from __future__ import annotations

import re

__all__ = ["order_of"]

_VERBS = frozenset(
    """
    abort accept account adapt add adjust align allow always annotate apply assert assign attach
    automate avoid backport bail bind block break bring bump cache calculate call cancel catch
    change check clamp clarify clean cleanup clear close collapse collect combine compare compile
    complete compress compute configure connect consider consolidate constrain convert copy correct
    count cover create cut deactivate deal decode decouple decrease default defer define delay
    delete deny depend deprecate derive describe detach detect determine disable discard display
    distinguish do document download don't downgrade drop dump duplicate edit eliminate emit empty
    enable encode enforce ensure escape exclude execute exit expand expect export expose extend
    extract factor fail fall fetch fill filter find finish fix flag flatten flip flush fold follow
    forbid force format forward free gate generate get give group grow guard handle harden hide hold
    honor honour implement import improve include increase indent inform init initialise initialize
    inline insert inspect install instrument integrate introduce invert invoke isolate join keep
    kill label launch leave let lift limit link lint list load localize lock log look loosen lower
    make manage map mark match measure memoize mention merge migrate mock modernize modify move mute
    name narrow never normalise normalize notify omit only open optimise optimize order override pad
    parse pass patch pause permit persist pick pin poll polish populate port postpone prefer prefix
    prepare prevent print prioritize process prohibit promote propagate protect provide prune pull
    purge push put queue quote raise read rearrange rebase rebuild recognize record recover redirect
    redo reduce refactor refine refresh refuse regenerate register reimplement reject relax release
    reload relocate remember remove rename render reorder reorganize repair replace replicate report
    require rerun reset reshape resize resolve respect restart restore restrict restructure retire
    retry return reuse revert revise rework rewrite roll rotate round run sanitize save scale
    schedule scroll select send separate serialize serve set share shift shorten show shrink shut
    silence simplify skip sort specify speed split squash stabilize start stop store stream strip
    style support suppress swap switch sync synchronize take teach tell terminate test throttle
    throw tidy tighten toggle trace track translate treat trigger trim truncate try tune turn tweak
    unblock undo unify uninstall unlock unpin unset unwrap update upgrade upload use utilize
    validate verify wait warn widen wire wrap write yield
    """.split()
)
_BEGINNING = re.compile(r"(?:[^\s:]{1,60}: |\[[^\[\]]{1,40}\] )*([A-Za-z][\w'’-]*)")


def order_of(subject: str) -> str:
    """Find the verb with which a subject orders something.

    Args:
        subject: The subject, such as ``"net: fix a leak"``.

    Returns:
        Its first word behind labels, in lower case; ``""`` if that is no plain form of a verb.
    """
    found = _BEGINNING.match(subject)
    verb = found[1].lower().replace("’", "'") if found else ""
    return verb if verb in _VERBS else ""
