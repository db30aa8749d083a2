"""Patches and stack traces."""

import time

import pytest

from sumfit.cleaning import clean

PATCH = (
    "diff --git a/src/cache.py b/src/cache.py\nindex 1a2b3c4..5d6e7f8 100644\n--- a/src/cache.py\n"
    "+++ b/src/cache.py\n@@ -10,3 +10,3 @@ def get(key):\n     lock()\n-    return None\n"
    "+    return store[key]\n"
)


def test_a_patch_says_which_file_and_what_changed() -> None:
    found = clean(PATCH)
    assert (
        found.text == "In cache.py, def get(key): use `return store[key]` instead of `return None`."
    )
    assert (found.kind, found.removed) == ("diff", ("diff",))


def test_what_a_condition_guards_is_told_with_it() -> None:
    patch = PATCH.replace("-    return None\n", "").replace(
        "+    return", "+    if key in store:\n+        return"
    )
    assert clean(patch).text.endswith("add `return store[key]` if `key in store`.")


def test_a_line_that_only_moves_is_not_told() -> None:
    patch = PATCH.replace(
        "+    return store", "+    with lock:\n+        return None\n+    return store"
    )
    assert clean(patch).text.endswith("add `with lock:`; add `return store[key]`.")


@pytest.mark.parametrize(
    "head",
    [
        "",
        "commit 1a2b3c4d5e\nAuthor: Ann <ann@example.org>\nDate:   Mon May 4 2026\n\n    ",
        "From 1a2b3c4d5e Mon Sep 17 2001\nFrom: Ann <ann@example.org>\nDate: Mon\nSubject: "
        "[PATCH v2] ",
    ],
)
def test_the_message_stands_for_its_patch(head: str) -> None:
    message = f"{head}Give the value that is stored\n\nSigned-off-by: Ann <ann@example.org>\n"
    "---\n src/cache.py | 2 +-\n 1 file changed, 1 insertion(+)\n\n"
    assert clean(message + PATCH).text == "Give the value that is stored"


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        (
            "diff --git a/a.txt b/a.txt\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ "
            "b/a.txt\n"
            "@@ -0,0 +1 @@\n+How to bake bread",
            "Add a.txt: add `How to bake bread`",
        ),
        ("diff --git a/a.txt b/a.txt\ndeleted file mode 100644", "Remove a.txt"),
        ("diff --git a/a.png b/a.png\nBinary files a/a.png and b/a.png differ", "Change a.png"),
        (
            "--- a.c\t2026-01-01\n+++ a.c\t2026-01-02\n@@ -1 +1 @@\n-int x;\n+long x;",
            "In a.c: use `long x` instead of `int x`.",
        ),
        ("@@ -1,2 +1,1 @@\n-int x;\n int y;", "In the file: remove `int x`."),
    ],
)
def test_patches_of_every_form_are_told(patch: str, text: str) -> None:
    assert clean(patch).text == text


def patch_of(path: str, *lines: str) -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ -1,9 +1,9 @@\n context\n" + "\n".join(lines)


@pytest.mark.parametrize(
    ("path", "lines", "text"),
    [
        # values
        ("a.py", ["-retries: int = 3", "+retries: int = 5"], "Raise retries from 3 to 5 in a.py"),
        (
            "a.go",
            ["-  Wait: 0,", "+  Wait: 9 * time.Minute,"],
            "Raise Wait from 0 to 9 min in a.go",
        ),
        ("a.toml", ["-max_size = 80", "+max_size = 8"], "Lower `max_size` from 80 to 8 in a.toml"),
        (
            "a.js",
            ["-const on = true;", "+const on = false;"],
            "Change on from true to false in a.js",
        ),
        ("a.yml", ["-wait: 5s", "+wait: 1m"], "Change wait from 5s to 1m in a.yml"),
        (
            "p.json",
            ['-"mold": "1.2.3",', '+"mold": "1.2.4",'],
            "Update mold from 1.2.3 to 1.2.4 in p.json",
        ),
        (
            "r.txt",
            ["-mold==1.2", "+mold==1.3"],
            "In r.txt: use `mold==1.3` instead of `mold==1.2`.",
        ),
        (
            "go.mod",
            ["-\tx.io/y v1.2.0", "+\tx.io/y v1.3.0"],
            "Update `x.io/y` from 1.2.0 to 1.3.0 in go.mod",
        ),
        (
            "nginx.conf",
            ["-    client_max_body_size 2m;", "+    client_max_body_size 20m;"],
            "Change `client_max_body_size` from 2m to 20m in nginx.conf",
        ),
        ("sshd_config", ["-Login yes", "+Login no"], "Change Login from yes to no in sshd_config"),
        (
            "a.md",
            ["-Bake bread", "+Bake cakes"],
            "In a.md: use `Bake cakes` instead of `Bake bread`.",
        ),
        (
            "a.c",
            ["-int bread;", "+int cakes;"],
            "In a.c: use `int cakes` instead of `int bread`.",
        ),
        (".env", ["-LOG=info", "+LOG=debug"], "Change LOG from info to debug in .env"),
        (
            "a.py",
            ["-log = info", "+log = debug"],
            "In a.py: use `log = debug` instead of `log = info`.",
        ),
        (
            "a.ini",
            ["-url = https://a.example/x", "+url = https://b.example/x"],
            "Change url from a.example to b.example in a.ini",
        ),
        ("a.yml", ["-port: 80", "+port: 8080"], "Change port from 80 to 8080 in a.yml"),
        ("a.py", ["-x = f(1)", "+x = g(1)"], "In a.py: use `x = g(1)` instead of `x = f(1)`."),
        # comments
        (
            "a.rb",
            ["+# Skip guests who left early", "+next if guest.gone?", "+end"],
            "Skip guests who left early",
        ),
        (
            "a.c",
            ["+/* the lamp may be off here */", "+light(lamp);"],
            "In a.c: add `light(lamp)`.\nThe lamp may be off here.",
        ),
        ("a.c", ["+#include <a.h>"], "In a.c: add `#include <a.h>`."),
        (
            "a.py",
            ["+# noqa: the old form is wanted", "+x()"],
            "In a.py: add `# noqa: the old form is wanted`; add `x()`.",
        ),
        # tests and messages
        (
            "test/a.rb",
            ['+  test "a late guest is turned away" do', "+    come(23)", "+  end"],
            "In a.rb: test that a late guest is turned away.",
        ),
        (
            "a_test.go",
            ["+func TestLateGuestWaits(t *testing.T) {"],
            "In a_test.go: test that late guest waits.",
        ),
        (
            "a.py",
            ['+raise Late(f"guest {name} came too late")'],
            'In a.py: add `raise Late(f"guest {name} came too late")`.\nGuest came too late.',
        ),
        # nothing to tell
        ("a.rb", ["+end"], "Change a.rb"),
        ("a.md", ["+# How to bake bread"], "In a.md: add `# How to bake bread`."),
    ],
)
def test_what_lines_say_in_english_is_told(path: str, lines: list[str], text: str) -> None:
    assert clean(patch_of(path, *lines)).text == text


@pytest.mark.parametrize(
    ("n", "rest"),
    [(3, ""), (4, " and 1 more value"), (6, " and 3 more values"), (9, " and more values")],
)
def test_three_values_of_a_file_are_told_and_how_many_more(n: int, rest: str) -> None:
    old = [f"-size_{number}: 1" for number in range(n)]
    new = [f"+size_{number}: 2" for number in range(n)]
    told = [f"Raise `size_{number}` from 1 to 2" for number in range(3)]
    told[-1] += rest
    assert clean(patch_of("a.yml", *old, *new)).text == "\n".join(
        f"{value} in a.yml." for value in told
    )


@pytest.mark.parametrize(
    ("path", "name", "old", "new", "verb"),
    [
        ("ci.yml", "python-version", "3.9", "3.10", "Update"),
        ("ci.yml", "version", "1.10", "1.9", "Update"),
        ("a.py", "VERSION", "2.9", "2.10", "Update"),
        ("a.yml", "python", "3.9", "3.10", "Change"),
        ("a.yml", "conversion", "1.5", "2.5", "Raise"),
        ("a.yml", "rate", "0.25", "0.20", "Lower"),
        ("a.yml", "rate", "1.5", "2", "Raise"),
    ],
)
def test_a_version_is_neither_raised_nor_lowered(
    path: str, name: str, old: str, new: str, verb: str
) -> None:
    mark = ":" if path.endswith("yml") else " ="
    shown = name if name.isalpha() else f"`{name}`"
    text = clean(patch_of(path, f"-{name}{mark} {old}", f"+{name}{mark} {new}")).text
    assert text.startswith(f"{verb} {shown} from {old} to {new} in {path}")


@pytest.mark.parametrize(
    ("path", "old", "new", "text"),
    [
        (
            "a.yml",
            ["- name: a", "  port: 1", "- name: b", "  port: 2"],
            ["- name: a", "  port: 3", "- name: b", "  port: 4"],
            "Change port from 1 to 3 in a.yml.\nChange port from 2 to 4 in a.yml.",
        ),
        (
            "nginx.conf",
            ["server 10.0.0.1;", "server 10.0.0.2;", "server 10.0.0.3;"],
            ["server 10.0.0.4;", "server 10.0.0.2;", "server 10.0.0.5;"],
            "Change server from 10.0.0.1 to 10.0.0.4 in nginx.conf.\n"
            "Change server from 10.0.0.3 to 10.0.0.5 in nginx.conf.",
        ),
        (
            "a.yml",
            ["port: 1", "port: 1"],
            ["port: 2", "port: 2"],
            "Change port from 1 to 2 in a.yml",
        ),
        (  # one more
            "a.yml",
            ["port: 1"],
            ["port: 2", "port: 3"],
            "In a.yml: use `port: 2` instead of `port: 1`; add `port: 3`.",
        ),
        (  # one has moved
            "a.yml",
            ["port: 1", "port: 2"],
            ["port: 2", "port: 3"],
            "In a.yml: use `port: 3` instead of `port: 1`.",
        ),
        (
            "a.yml",
            ["host: 10.0.0.1"],
            ["host: 10.0.0.9"],
            "Change host from 10.0.0.1 to 10.0.0.9 in a.yml",
        ),
    ],
)
def test_values_of_a_name_that_stands_twice_are_paired_in_order(
    path: str, old: list[str], new: list[str], text: str
) -> None:
    lines = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    assert clean(patch_of(path, *lines)).text == text


def test_a_line_that_gets_only_a_comma_is_not_told() -> None:
    patch = patch_of("a.json", '-"size": 1', '+"size": 1,', '+"wait": 2')
    assert clean(patch).text == 'In a.json: add `"wait": 2`.'


def test_names_that_stand_twice_are_not_paired_where_lines_are_left_out() -> None:
    lines = [f"-port: {number}" for number in range(1, 8)]
    lines += [f"+port: {number}" for number in range(11, 18)]
    assert "from" not in clean(patch_of("a.yml", *lines)).text


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.toml", "numpy >= 1.2", "numpy == 1.2"),
        ("a.toml", "numpy >= 1.2", "numpy == 1.3"),
        ("p.json", '"lodash": "^4.17.0"', '"lodash": "~4.17.0"'),
        ("a.js", "x == 1", "x = 1"),
        ("a.js", "x == 1", "x === 1"),
        ("a.js", "size: 'a'", 'size: "a"'),
        ("a.yml", 'size: "5"', "size: 5"),
    ],
)
def test_a_value_that_stays_is_not_told_as_changed(path: str, old: str, new: str) -> None:
    text = clean(patch_of(path, f"-{old}", f"+{new}")).text
    assert text == f"In {path}: use `{new}` instead of `{old}`."


def test_a_test_is_told_behind_what_it_tests() -> None:
    patches = [
        patch_of("tests/test_oven.py", "+def test_a_cold_oven_waits():"),
        patch_of("oven.py", "-heat = 180", "+heat = 200"),
    ]
    assert clean("\n".join(patches)).text == (
        "Raise heat from 180 to 200 in oven.py.\nIn test_oven.py: test that a cold oven waits."
    )


def test_code_is_shown_without_the_marks_at_its_end() -> None:
    text = clean(patch_of("a.js", "-  size: wide(1),", "+  size: narrow(2),", "+  open() {")).text
    assert text == "In a.js: use `size: narrow(2)` instead of `size: wide(1)`; add `open()`."


def test_a_hundred_thousand_lines_are_told_in_a_few() -> None:
    lines = "".join(f"-old line {number}\n+new line {number}\n" for number in range(50_000))
    started = time.perf_counter()
    text = clean(PATCH + lines + PATCH * 2000).text
    assert time.perf_counter() - started < 10
    assert text.count("cache.py") == 12
    assert text.endswith("1989 more files change.")
    assert len(text) < 5000


@pytest.mark.parametrize(
    "text", ["- old\n+ new", "See diff --git in the manual", "a @@ -1 b", "--- \n+++ \n"]
)
def test_what_is_no_patch_stays(text: str) -> None:
    assert "diff" not in clean(text).removed


@pytest.mark.parametrize(
    ("trace", "text"),
    [
        (
            'It fails:\nTraceback (most recent call last):\n  File "a/b.py", line 3, in <module>\n'
            '    f()\n    ~^^\n  File "a/c.py", line 9, in f\n    raise ValueError("x")\n'
            "ValueError: the list is empty",
            "It fails:\nValueError: the list is empty in f (c.py, line 9).",
        ),
        (
            'Exception in thread "main" java.lang.IllegalStateException: pool is closed\n'
            "\tat org.x.Pool.get(Pool.java:33)\n\tat org.x.Main.main(Main.java:9)\n"
            "Caused by: java.io.IOException: disk full\n\t... 3 more",
            "IllegalStateException: pool is closed\nCaused by: IOException: disk full",
        ),
        (
            "TypeError: x is not a function\n    at f (/srv/a.js:1:2)\n    at async main "
            "(b.js:3:4)",
            "TypeError: x is not a function",
        ),
        (
            "panic: no key\n\ngoroutine 1 [running]:\nmain.f()\n\t/srv/a.go:12 +0x1d\nexit "
            "status 2",
            "panic: no key\n\nmain.f()",
        ),
    ],
)
def test_a_trace_is_its_error(trace: str, text: str) -> None:
    found = clean(trace)
    assert found.text == text
    assert found.kind == "trace"


@pytest.mark.parametrize("text", ["Meet at Anna's (noon)", "at 10:30\nat 11:30 we leave"])
def test_what_is_no_trace_stays(text: str) -> None:
    assert "trace" not in clean(text).removed
