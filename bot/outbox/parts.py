"""Which platform messages a view should be, from the first part on that is not sealed: pure, measured, never blank."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.core.texts import say
from bot.core.view import Limits, Part, View
from bot.outbox.compose import buttons, footer
from bot.outbox.fold import open_cards
from bot.outbox.paging import MIN_SIZE, Page, Render, open_page, pages, plain


@dataclass(frozen=True, slots=True)
class Look:
    """What decides, beside the view, how it looks.

    ``plain`` are the indexes of parts whose formatting was refused, ``tight`` of those that were too long, ``elapsed``
    the seconds of running tools by call id. ``note`` stands below a view whose turn goes on after a restart;
    ``copied``: a part was on its way when an earlier process died, and perhaps stands there twice.
    """

    limits: Limits
    render: Render
    language: str
    now: float
    elapsed: Mapping[str, float] = field(default_factory=dict)
    plain: Collection[int] = ()
    tight: Collection[int] = ()
    note: str = ""
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part as it should be. ``end``: once it is shown, the text up to this offset is sealed in it."""

    part: Part
    end: int | None = None

    def digest(self, *, structured: bool) -> str:
        """What the platform is asked to show, as SHA-256: equal digests need no call."""
        part, view = self.part, self.part.view
        shown: tuple[object, ...] = (part.rendered.text, part.rendered.entities, part.buttons, part.final)
        if part.fleeting:
            shown = (*shown, "fleeting")
        if structured and part.last:
            shown = (*shown, view.files, view.phase, view.tools, view.cards, view.notices, view.calls, view.stop)
        return hashlib.sha256(repr(shown).encode("utf-8", "surrogatepass")).hexdigest()


def wanted_parts(view: View, sealed: Sequence[int], look: Look) -> list[Wanted]:
    """The parts after the sealed ones; only the last carries buttons, tools, cards and notices, and only it is fleeting.

    A page that the text has outgrown comes alone: the next one begins where it is sealed. Nothing to see is no part,
    except on a structured channel, which shows the fields of the view.
    """
    structured = look.limits.structured
    if look.note and not view.final:
        view = replace(view, notices=(*view.notices, look.note))
    if look.copied:
        view = replace(view, notices=(*view.notices, say("copy_above", look.language)))
    live = not (view.final or look.note)
    index = len(sealed)
    tail = "" if structured else footer(view, look.elapsed, look.language, live=live and look.limits.can_edit)
    limits, render = _means(look, (index,))
    can_edit = look.limits.can_edit
    growing = live and can_edit and not structured
    page = open_page(view.text, limits, render, sealed, tail, closed=can_edit or not live, growing=growing)
    if not page.last:
        part = Part(view.turn, index, page.start, page.markdown, page.rendered, _text_alone(view), (), False, True)
        return [Wanted(part, page.end)]
    shown = [page, *_overflow(view, index, look, tail)] if tail and not page.tailed else [page]
    if not structured:
        shown = [page for page in shown if page.markdown]
    pressed = buttons(view, look.now, look.language, look.limits.label_chars, stop=live)
    last = len(shown) - 1
    fleeting = live and limits.fleeting > 0 and not open_cards(view.cards)
    return [
        Wanted(
            Part(
                turn=view.turn,
                index=index + number,
                start=page.start,
                markdown=page.markdown,
                rendered=page.rendered,
                view=view if number == last else _text_alone(view),
                buttons=pressed if number == last else (),
                last=number == last,
                final=not live,
                fleeting=fleeting and number == last,
            )
        )
        for number, page in enumerate(shown)
    ]


def _overflow(view: View, index: int, look: Look, tail: str) -> Iterator[Page]:
    """The footer on pages of its own, where it is too long to stand below the text."""
    limits, render = _means(look, range(index + 1, index + 1 + len(tail)))
    for page in pages(tail, limits, render):
        yield replace(page, start=len(view.text), end=len(view.text))


def _means(look: Look, indexes: Sequence[int]) -> tuple[Limits, Render]:
    """The size and the rendering for some parts; the refusal of one counts for all."""
    limits = look.limits
    if any(index in indexes for index in look.tight):
        limits = replace(limits, size=max(MIN_SIZE, limits.size // 2))
    if any(index in indexes for index in look.plain):
        return limits, lambda markdown: plain(markdown, limits.unit)
    return limits, look.render


def _text_alone(view: View) -> View:
    return View(view.turn, text=view.text, phase=view.phase)
