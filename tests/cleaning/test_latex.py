r"""LaTeX, as abstracts are pasted."""

import pytest

from sumfit.cleaning import clean


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (
            "\\begin{abstract}\nWe \\emph{sort} $3 \\times n$ boards~\\cite{knuth73} -- fast.\n"
            "\\end{abstract}",
            "We sort 3 × n boards – fast.",
        ),
        (
            r"A threshold at $\lambda \approx 4.27$ is \textbf{sharp} (see Section~\ref{sec:x}).",
            "A threshold at λ ≈ 4.27 is sharp.",
        ),
        (
            r"The ``\emph{cut}'' of `main()' costs \$5 or 50\% of $O(n^2 \log n)$, says Erd\H{o}s.",
            "The “cut” of ‘main()’ costs $5 or 50% of O(n² log n), says Erdős.",
        ),
        (
            r"We \emph{bound} $\mathcal{O}(n^{k+1})$ and $a<b$ by $\frac{a}{b}$, $x_1$, $10^{-3}$.",
            "We bound O(n^(k+1)) and a < b by a/b, x₁, 10⁻³.",
        ),
        (
            "We \\emph{show} it.\n\\begin{equation}\nE = mc^2\n\\end{equation}\nIt "
            "holds\\footnote{No}.",
            "We show it.\n\nIt holds.",
        ),
        (
            "\\section{Plan}\nWe move:\n\\begin{itemize}\n\\item Desks\n\\item Lamps\n"
            "\\end{itemize}",
            "Plan.\nWe move:\nDesks.\nLamps",
        ),
        (
            r"\citet{knuth73} \emph{proved} $2^{O(\sqrt{n})}$ and $\Pr[X] \to 0$~\citep[p.~3]{a}.",
            "Knuth proved 2^(O(√n)) and Pr[X] → 0.",
        ),
    ],
)
def test_the_text_is_taken_out_of_latex(latex: str, text: str) -> None:
    found = clean(latex)
    assert found.text == text
    assert found.removed[0] == "latex"


def test_a_formula_too_long_for_a_sentence_is_left_out() -> None:
    latex = rf"We \emph{{bound}} the sum ${'x + ' * 30}y$ by \textbf{{one}}."
    assert clean(latex).text == "We bound the sum by one."


def test_a_sum_is_said_without_its_limits() -> None:
    latex = r"We \emph{bound} $\sum_{i=1}^{n} x_i \le n$ by \textbf{one}."
    assert clean(latex).text == "We bound ∑ x_i ≤ n by one."


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (
            r"\emph{Growth} of $\sim 3$ percent, $X \sim N(0,1)$ and $a~b$ was \textbf{found}.",
            "Growth of ~ 3 percent, X ~ N(0,1) and a b was found.",
        ),
        (
            r"A \emph{mass} of $\sim$5 kg, $\times$10, $>$3 m, $\leq$0.5 and $-$2 \textbf{held}.",
            "A mass of ~5 kg, ×10, >3 m, ≤0.5 and -2 held.",
        ),
        (
            r"It \emph{costs} $5 or $6, \textbf{not} $7-$8 or $8<$9.",
            "It costs $5 or $6, not $7-$8 or $8<$9.",
        ),
    ],
)
def test_a_sign_before_a_number_is_said(latex: str, text: str) -> None:
    assert clean(latex).text == text


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (
            r"We \emph{gave} 2~\textmu g at 5\textdegree C or 5\,\textdegree{}C to \textbf{all}.",
            "We gave 2 µg at 5°C or 5 °C to all.",
        ),
        (
            r"\textless 5 \emph{men}, \textgreater{} 9 nurses and \textasciitilde 3 \textbf{more}.",
            "<5 men, > 9 nurses and ~3 more.",
        ),
        (
            r"It \emph{has} \SI{5}{\kilo\gram}, \SIrange{1}{2}{\gram} or \num{7} \textbf{grams}.",
            r"It has \SI{5}{\kilo\gram}, \SIrange{1}{2}{\gram} or 7 grams.",
        ),
        (
            r"It \emph{is} 5\ensuremath{\mu}g, 10\textsuperscript{-3} of \textbf{20~\oddunit}.",
            r"It is 5μg, 10⁻³ of 20 \oddunit.",
        ),
    ],
)
def test_no_unit_is_lost(latex: str, text: str) -> None:
    assert clean(latex).text == text


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (
            r"The bridge\footnote{The \emph{old} one, built in 1901.} closes on \textbf{Monday}.",
            "The bridge closes on Monday.",
        ),
        (
            r"It \emph{holds}\footnote{See \textbf{\url{https://x.org/a}}.}and closes.",
            "It holds and closes.",
        ),
        (
            r"\textcolor{red}{Red} \href{https://x.org}{site} \emph{is} {\color{blue}up}.",
            "Red site is up.",
        ),
    ],
)
def test_a_footnote_and_a_link_leave_the_sentence_whole(latex: str, text: str) -> None:
    assert clean(latex).text == text


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (
            r"In \cite{smith}, we \emph{see} it. As \cite{a} and \citet{x} say, \textbf{so} be it.",
            "In [smith], we see it. As [a] and [x] say, so be it.",
        ),
        (
            r"See Section~\ref{sec:x} for \emph{all}. \cite{b} says~\cite{c} so. Compare \cite{e}.",
            "See Section [sec:x] for all. [b] says so. Compare [e].",
        ),
        (
            r"It \emph{is} faster (see Figure~\ref{x}) than the method of \cite{e} (\cite{f}).",
            "It is faster than the method of [e].",
        ),
        (
            r"\newcommand{\name}{Bridgefix} We \emph{present} \name, a tool. \name{} \emph{works}.",
            "We present Bridgefix, a tool. Bridgefix works.",
        ),
        (
            r"We \emph{present} \name, a tool with {\bf one} \textbf{mode}.",
            r"We present \name, a tool with one mode.",
        ),
    ],
)
def test_what_the_sentence_needs_stays(latex: str, text: str) -> None:
    assert clean(latex).text == text


def test_a_comment_at_the_end_of_a_line_goes() -> None:
    latex = "It \\emph{fell} by 5 % of all.  % not checked\nIt \\textbf{rose} 5 \\% % or 6\nin May."
    assert clean(latex).text == "It fell by 5 % of all.\nIt rose 5 %\nin May."


@pytest.mark.parametrize(
    "text",
    [
        "It costs between $5 and $6.",
        r"We study $k$-means with $\epsilon$ and $\delta$.",
        r"In LaTeX, \emph{x} is emphasis and \textbf{x} is bold.",
        r"Type `\emph{x}` or `\textbf{x}` there.",
        r"Save it in C:\new\texts and C:\old.",
        r"Save it in C:\new\table\emph{x} and C:\begin{y}.",
        r"Only \emph{one} mark.",
    ],
)
def test_what_is_no_latex_stays(text: str) -> None:
    assert "latex" not in clean(text).removed


@pytest.mark.parametrize(
    ("latex", "right"),
    [
        (r"as shown by \cite{smith}.", "as shown by [smith]."),
        (r"as shown by~\cite{smith}.", "as shown by [smith]."),
        (r"and we thank \cite{smith} for it.", "and we thank [smith] for it."),
        (r"and we closely follow \cite{smith}.", "and we closely follow [smith]."),
        (r"it outperforms \cite{smith} by 2.", "it outperforms [smith] by 2."),
        (r"as Smith et al.~\cite{smith} say.", "as Smith et al. say."),
        (r"as \textcite{smith2019} says.", "as Smith says."),
        (r"they say \parencite{smith2019}.", "they say."),
        (r"mice too \parencite{smith2019}.", "mice too."),
        (r"and we use naps \cite{smith}.", "and we use naps."),
        (r"it has been shown \cite{smith}.", "it has been shown."),
        (r"it was shown recently \cite{smith}.", "it was shown recently."),
        (r"mice too (the SLEEP; \citealp{smith}).", "mice too (the SLEEP)."),
        (r"shape (n,) too \cite{smith}.", "shape (n,) too."),
        (r"similar to mice \cite{smith}.", "similar to mice."),
    ],
)
@pytest.mark.parametrize("start", ["Naps help, ", r"\emph{Naps} help, "])
def test_a_citation_leaves_no_hole_behind_a_verb(start: str, latex: str, right: str) -> None:
    assert clean(start + latex).text == f"Naps help, {right}"


def test_somebody_who_is_cited_and_did_something_stays() -> None:
    text = r"Recently \cite{smith} slept. It was \emph{known} recently \cite{smith}."
    assert clean(text).text == "Recently [smith] slept. It was known recently."


def test_one_citation_in_a_text_about_it_stays() -> None:
    text = r"In LaTeX you write \cite{smith} for that. It is easy."
    assert clean(text).text == text
