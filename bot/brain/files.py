"""What came with a message, in the prompt and in words for the person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.attachments.intake import MOST_BYTES, MOST_FILES
from bot.brain.fencing import fenced
from bot.brain.tokens import estimated_tokens
from bot.core.model import ImageBlock, Message, ResultBlock
from bot.core.text import shortened
from bot.core.texts import say
from bot.core.transcript import GivenRow, KeptFile, Row, UserRow, as_revised
from bot.store.files import Files

PICTURE_TYPE: Final = "image/jpeg"
_MARKS: Final = re.compile(r"[\\`*\[\]<>|#$&]+")
"""What a file's name must not bring into the bot's own sentences."""


def files_of(rows: Sequence[Row]) -> Iterator[KeptFile]:
    for row in as_revised(rows):
        if isinstance(row.body, UserRow):
            yield from row.body.files


def in_prompt(file: KeptFile, pictures: Mapping[str, bytes]) -> str:
    """Whatever a file says is from outside, but for the person's own voice. ``pictures`` has those that the model sees."""
    if file.spoken and file.text:
        return fenced("voice", file.text)
    lines = [f"{file.name} ({file.media_type})" + (", of the quoted message" if file.quoted else "")]
    if file.picture:
        lines[0] += ": this picture" if file.picture in pictures else ": a picture, which is not shown here"
    if file.trouble:
        lines.append(f"[The person was told: {_sentence(file, 'en')}]")
    return fenced("file", "\n".join(lines) + (f"\n\n{file.text}" if file.text else ""))


def shown(files: Iterable[KeptFile], pictures: Mapping[str, bytes]) -> tuple[ImageBlock, ...]:
    return tuple(ImageBlock(PICTURE_TYPE, pictures[file.picture]) for file in files if file.picture in pictures)


def fitting(rows: Sequence[Row], tokens: int) -> Sequence[Row]:
    """The rows with the texts of their files cut, all by the same share, to ``tokens`` together."""
    whole = sum(estimated_tokens(file.text) for file in files_of(rows) if file.text)
    if whole <= tokens:
        return rows

    def cut(file: KeptFile) -> KeptFile:
        return replace(file, text=shortened(file.text, len(file.text) * tokens // whole)) if file.text else file

    return [
        replace(row, body=replace(row.body, files=tuple(map(cut, row.body.files))))
        if isinstance(row.body, UserRow) and row.body.files
        else row
        for row in rows
    ]


async def pictures_of(rows: Sequence[Row], files: Files) -> Mapping[str, bytes]:
    """Those that the rows speak of, by their paths. One that is gone is not shown."""
    pictures: dict[str, bytes] = {}
    for file in files_of(rows):
        if file.picture and (content := await files.read(file.picture)) is not None:
            pictures[file.picture] = content
    return pictures


def is_unreadable(rows: Sequence[Row], *, sees: bool) -> bool:
    """Whether files are all that was said, and there is nothing in them that a model could answer."""
    if any(isinstance(row.body, GivenRow) and _ends_with_results(row.body.messages) for row in rows):
        return False
    said = [row.body for row in as_revised(rows) if isinstance(row.body, UserRow)]
    files = [file for body in said for file in body.files]
    words = any(body.text.strip() or (body.quote is not None and body.quote.text.strip()) for body in said)
    return bool(files) and not words and not any(file.text or (file.picture and sees) for file in files)


def _ends_with_results(messages: Sequence[Message]) -> bool:
    """The results of an API client's tools are what is to be answered; the files came earlier."""
    return bool(messages) and any(isinstance(block, ResultBlock) for block in messages[-1].content)


def told(rows: Sequence[Row], language: str, *, sees: bool) -> list[str]:
    """What the person has to know of the files, a sentence each. ``sees``: the model that answers sees pictures."""
    sentences = []
    for file in files_of(rows):
        if file.picture and not sees:
            sentences.append(say("file_unseen", language, name=_plain(file.name)))
        elif file.trouble:
            sentences.append(_sentence(file, language))
    return list(dict.fromkeys(sentences))


def _sentence(file: KeptFile, language: str) -> str:
    limit = MOST_BYTES // (1024 * 1024) if file.trouble == "large" else MOST_FILES
    return say(f"file_{file.trouble}", language, name=_plain(file.name), limit=limit)


def _plain(name: str) -> str:
    return _MARKS.sub(" ", name).strip() or "?"
