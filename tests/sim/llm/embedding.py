"""Deterministic embeddings: texts that share words and letter groups are near each other, on every machine."""

import base64
import hashlib
import math
import struct
from collections.abc import Sequence

OPENAI_DIMENSIONS = {"text-embedding-3-large": 3072, "text-embedding-3-small": 1536, "text-embedding-ada-002": 1536}
OLLAMA_DIMENSIONS = 768


def embed(text: str, dimensions: int) -> list[float]:
    """A unit vector of hashed words and trigrams; the empty text is the first axis."""
    lowered = text.lower()
    features = lowered.split() + [lowered[n : n + 3] for n in range(max(0, len(lowered) - 2))]
    vector = [0.0] * dimensions
    for feature in features or [""]:
        digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
        vector[int.from_bytes(digest[:4], "big") % dimensions] += 1.0 if digest[4] % 2 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    if length == 0.0:
        return [1.0] + [0.0] * (dimensions - 1)
    return [value / length for value in vector]


def as_base64(vector: Sequence[float]) -> str:
    """Little-endian float32 in base64, the format the openai library asks for by default."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
