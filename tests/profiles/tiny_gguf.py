"""A model file of some 100 kilobytes: llama's form, weights that mean nothing.

What it writes is noise, unless a schema holds it: then it is valid, whatever the noise. So the
machinery around a model is tried without a model.
"""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

UINT32, FLOAT32, STRING, ARRAY, INT32 = 4, 6, 8, 9, 5

EMBED, HEADS, FEED, CONTEXT = 32, 2, 64, 4096
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}<assistant>"
)


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _value(kind: int, value: Any) -> bytes:
    if kind == STRING:
        return _text(value)
    if kind == FLOAT32:
        return struct.pack("<f", value)
    return struct.pack("<I" if kind == UINT32 else "<i", value)


def _entry(name: str, kind: int, value: Any) -> bytes:
    return _text(name) + struct.pack("<I", kind) + _value(kind, value)


def _list(name: str, kind: int, values: list[Any]) -> bytes:
    head = _text(name) + struct.pack("<IIQ", ARRAY, kind, len(values))
    return head + b"".join(_value(kind, value) for value in values)


def write(path: Path, *, seed: int = 7) -> Path:
    """Write the model to `path`."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3, *[6] * 256]  # unknown, control, byte
    entries = [
        _entry("general.architecture", STRING, "llama"),
        _entry("general.name", STRING, "tiny"),
        _entry("llama.context_length", UINT32, CONTEXT),
        _entry("llama.embedding_length", UINT32, EMBED),
        _entry("llama.block_count", UINT32, 1),
        _entry("llama.feed_forward_length", UINT32, FEED),
        _entry("llama.attention.head_count", UINT32, HEADS),
        _entry("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
        _entry("llama.rope.dimension_count", UINT32, EMBED // HEADS),
        _entry("tokenizer.ggml.model", STRING, "llama"),
        _list("tokenizer.ggml.tokens", STRING, tokens),
        _list("tokenizer.ggml.scores", FLOAT32, [0.0] * len(tokens)),
        _list("tokenizer.ggml.token_type", INT32, kinds),
        _entry("tokenizer.ggml.bos_token_id", UINT32, 1),
        _entry("tokenizer.ggml.eos_token_id", UINT32, 2),
        _entry("tokenizer.ggml.unknown_token_id", UINT32, 0),
        _entry("tokenizer.chat_template", STRING, TEMPLATE),
    ]
    vocabulary = len(tokens)
    shapes = {
        "token_embd.weight": (EMBED, vocabulary),
        "output_norm.weight": (EMBED,),
        "output.weight": (EMBED, vocabulary),
        "blk.0.attn_norm.weight": (EMBED,),
        "blk.0.attn_q.weight": (EMBED, EMBED),
        "blk.0.attn_k.weight": (EMBED, EMBED),
        "blk.0.attn_v.weight": (EMBED, EMBED),
        "blk.0.attn_output.weight": (EMBED, EMBED),
        "blk.0.ffn_norm.weight": (EMBED,),
        "blk.0.ffn_gate.weight": (EMBED, FEED),
        "blk.0.ffn_up.weight": (EMBED, FEED),
        "blk.0.ffn_down.weight": (FEED, EMBED),
    }
    noise = random.Random(seed)
    infos, data = b"", b""
    for name, shape in shapes.items():
        infos += _text(name) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", size) for size in shape)
        infos += struct.pack("<IQ", 0, len(data))  # 32-bit floats, at this place
        count = 1
        for size in shape:
            count *= size
        scale = 1.0 if len(shape) == 1 else 0.5
        values = [1.0] * count if len(shape) == 1 else [noise.gauss(0, scale) for _ in range(count)]
        data += struct.pack(f"<{count}f", *values)
        data += b"\0" * (-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(entries)) + b"".join(entries) + infos
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)
    return path
