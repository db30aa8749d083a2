"""Leave out of a language model the pieces that some texts never use.

``python shrink.py LM TEXTS... -o SMALL``. LM holds ``lm.gguf``, ``config.json`` and
``tokenizer.json``. SMALL gets the same, ``lm.gguf`` with the rows of the pieces that are used, and
``pieces.json``, which pieces these are. Half of a vocabulary for a hundred languages is never used
by English texts; without it less is carried, and drawing a piece costs less.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from files import STYLES, records
from gguf import GGUFReader, GGUFWriter
from transformers import PreTrainedTokenizerFast

AT_ONCE = 1000


def texts_of(paths: Iterable[str]) -> Iterator[str]:
    """Read every text and line of some files."""
    for path in paths:
        for row in records(path):
            yield row["source"]
            yield row["genre"]
            yield from (" " + line for line in [row.get("line", ""), *row.get("c", [])])


def used_pieces(tokenizer: PreTrainedTokenizerFast, texts: Iterable[str]) -> set[int]:
    """Collect the pieces of some texts, and every single byte."""
    words = ["\n=>", " | at most ", " characters\n", *map(str, range(1000)), *STYLES]
    used: set[int] = set()
    batch = words
    for text in texts:
        batch.append(text)
        if len(batch) >= AT_ONCE:
            used.update(*tokenizer(batch, add_special_tokens=False)["input_ids"])
            batch = []
    if batch:
        used.update(*tokenizer(batch, add_special_tokens=False)["input_ids"])
    vocabulary = tokenizer.get_vocab()
    return used | {number for piece, number in vocabulary.items() if len(piece) == 1}


def shrink(source: Path, target: Path, kept: list[int]) -> None:
    """Copy weights, of the matrix of pieces only some rows."""
    reader = GGUFReader(str(source))
    names = {tensor.name for tensor in reader.tensors}
    writer = GGUFWriter(str(target), reader.fields["general.architecture"].contents())
    for tensor in reader.tensors:
        data = tensor.data
        if tensor.name == "token_embd.weight" and "output.weight" in names:
            continue  # one matrix with `output.weight`, in fewer bits
        if tensor.name in ("token_embd.weight", "output.weight"):
            data = data[kept]
        writer.add_tensor(tensor.name, data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("lm", type=Path)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(options.lm / "tokenizer.json"))
    config = json.loads((options.lm / "config.json").read_text(encoding="utf-8"))
    special = {config["bos_token_id"], config["eos_token_id"]}
    kept = sorted(used_pieces(tokenizer, texts_of(options.texts)) | special)
    options.output.mkdir(parents=True, exist_ok=True)
    shrink(options.lm / "lm.gguf", options.output / "lm.gguf", kept)
    (options.output / "pieces.json").write_text(json.dumps(kept), encoding="utf-8")
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(options.lm / name, options.output)


if __name__ == "__main__":
    main()
