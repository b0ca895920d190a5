"""Forms that carry files (RFC 7578)."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_BREAKS_HEADERS: Final = re.compile(r'[\x00-\x1f\x7f"\\]+')


@dataclass(frozen=True, slots=True)
class FormFile:
    """One file of a form, under the name of its field."""

    field: str
    name: str
    media_type: str
    content: bytes


def multipart(fields: Mapping[str, str], files: Sequence[FormFile]) -> tuple[bytes, str]:
    """The body and its content type. Names go as UTF-8, which is what browsers send; what would break a header in one is
    replaced."""
    boundary = f"bowerbird-{secrets.token_hex(16)}".encode()
    pieces: list[bytes] = []
    for name, value in fields.items():
        head = f'Content-Disposition: form-data; name="{_safe(name)}"'
        pieces += [b"--", boundary, b"\r\n", head.encode(), b"\r\n\r\n", value.encode("utf-8", "replace"), b"\r\n"]
    for file in files:
        head = f'Content-Disposition: form-data; name="{_safe(file.field)}"; filename="{_safe(file.name)}"'
        head += f"\r\nContent-Type: {_safe(file.media_type) or 'application/octet-stream'}"
        pieces += [b"--", boundary, b"\r\n", head.encode("utf-8", "replace"), b"\r\n\r\n", file.content, b"\r\n"]
    pieces += [b"--", boundary, b"--\r\n"]
    return b"".join(pieces), f"multipart/form-data; boundary={boundary.decode()}"


def _safe(text: str) -> str:
    return _BREAKS_HEADERS.sub("_", text)
