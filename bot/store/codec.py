"""Nouns to JSON text and back. Decoding checks shapes, so a damaged row is noticed where it is read."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, TypeAdapter

from bot.core.inbound import Inbound
from bot.core.transcript import Body
from bot.core.view import ApprovalCard

INBOUND: Final[TypeAdapter[Inbound]] = TypeAdapter(
    Annotated[Inbound, Field(discriminator="kind")], config={"ser_json_bytes": "base64", "val_json_bytes": "base64"}
)
BODY: Final[TypeAdapter[Body]] = TypeAdapter(
    Annotated[Body, Field(discriminator="kind")], config={"ser_json_bytes": "base64", "val_json_bytes": "base64"}
)
CARD: Final[TypeAdapter[ApprovalCard]] = TypeAdapter(ApprovalCard)
