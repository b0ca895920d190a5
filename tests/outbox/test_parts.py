from __future__ import annotations

from dataclasses import replace

from bot.core.stop import StopReason
from bot.core.view import ApprovalCard, Limits, Phase, ToolLine, View
from bot.outbox.parts import Look, Wanted, wanted_parts
from tests.outbox.renders import identity

CARD = ApprovalCard("c1", "1", "shell", "run", "why", '{"cmd": "ls"}', 2000.0)
LOOK = Look(Limits(size=500), identity("chars"), "en", now=0.0)
STRUCTURED = replace(LOOK, limits=Limits(size=500, structured=True))


def parts(view: View, look: Look = LOOK, sealed: tuple[int, ...] = ()) -> list[Wanted]:
    return wanted_parts(view, sealed, look)


def test_a_growing_answer_is_one_part_with_a_stop_button() -> None:
    (want,) = parts(View("t", text="Hello", phase=Phase.WRITING))
    assert want.part.markdown == "Hello"
    assert [button.payload for button in want.part.buttons] == ["b:t:stop"]
    assert want.part.last and not want.part.final and want.end is None


def test_a_finished_answer_is_final_and_bare() -> None:
    (want,) = parts(View("t", text="Hello", phase=Phase.DONE, stop=StopReason.ANSWERED))
    assert want.part.final and want.part.last and want.part.buttons == ()
    assert want.part.markdown == "Hello"


def test_b012_a_failing_tool_is_told_below_the_text_that_stays() -> None:
    text = "Here is the plan. " * 16
    view = View("t", text=text, phase=Phase.THINKING, tools=(ToolLine("1", "web", "x", 30.0, True),))
    (want,) = parts(view)
    assert want.part.markdown == f"{text.strip()}\n\n*web failed · thinking…*"


def test_a_page_that_is_outgrown_comes_alone_bare_and_final() -> None:
    view = View("t", text="word " * 200, phase=Phase.WRITING, tools=(ToolLine("1", "web", "x"),), cards=(CARD,))
    (want,) = parts(view)
    assert want.end is not None and want.part.final and not want.part.last
    assert want.part.buttons == () and want.part.view.tools == () and want.part.view.cards == ()
    (then,) = parts(view, sealed=(want.end, 2 * want.end))
    assert then.part.index == 2 and then.part.start == 2 * want.end and then.part.last


def test_b026_a_long_card_is_split_and_its_buttons_come_once_on_the_last_part() -> None:
    card = replace(CARD, reason="Because of this. " * 150, arguments='{"text": "' + "x" * 2500 + '"}')
    found = parts(View("t", text="Text before.", phase=Phase.WAITING, cards=(card,)))
    assert len(found) > 8
    assert [bool(want.part.buttons) for want in found] == [False] * (len(found) - 1) + [True]
    assert [want.part.last for want in found] == [False] * (len(found) - 1) + [True]
    assert all(want.part.rendered.length <= 500 and want.end is None for want in found)
    assert len(found[-1].part.buttons) == 5
    assert [want.part.index for want in found] == list(range(len(found)))
    assert found[0].part.markdown == "Text before."
    assert sum(want.part.markdown.count("x") for want in found) >= 2500


def test_nothing_to_see_is_no_part_but_a_structured_channel_shows_the_phase() -> None:
    assert parts(View("t", phase=Phase.WRITING)) == []
    assert parts(View("t", stop=StopReason.ANSWERED)) == []
    (want,) = parts(View("t"), STRUCTURED)
    assert want.part.markdown == "" and want.part.view.phase is Phase.THINKING


def test_a_structured_channel_gets_fields_and_buttons_instead_of_a_footer() -> None:
    view = View("t", text="Hello", phase=Phase.WAITING, cards=(CARD,), notices=("Note.",))
    (want,) = parts(view, STRUCTURED)
    assert want.part.markdown == "Hello" and want.part.view == view
    assert len(want.part.buttons) == 5


def test_a_platform_that_takes_nothing_back_gets_no_passing_words_and_open_fences() -> None:
    look = replace(LOOK, limits=Limits(size=500, can_edit=False))
    assert parts(View("t", tools=(ToolLine("1", "web", "x"),)), look) == []
    (want,) = parts(View("t", text="```py\nx = 1", phase=Phase.WRITING), look)
    assert want.part.markdown == "```py\nx = 1"
    (want,) = parts(View("t", text="```py\nx = 1", stop=StopReason.ANSWERED), look)
    assert want.part.markdown == "```py\nx = 1\n```"


def test_a_note_makes_parts_look_final_and_keeps_what_can_be_decided() -> None:
    look = replace(LOOK, note="Restarting.")
    (want,) = parts(View("t", text="Hello", phase=Phase.WAITING, cards=(CARD,)), look)
    assert want.part.final and want.part.markdown.endswith("\n\nRestarting.")
    assert [button.payload.rsplit(":")[-1] for button in want.part.buttons] == ["once", "chat", "always", "deny"]
    assert want.part.view.stop is None and want.part.view.notices == ("Restarting.",)


def test_refused_formatting_is_shown_as_written_in_that_part_only() -> None:
    look = replace(LOOK, render=lambda markdown: identity("chars")(markdown.replace("*", "")), plain={0})
    (want,) = parts(View("t", text="**Hello**", phase=Phase.WRITING), look)
    assert want.part.rendered.text == "**Hello**"
    (want,) = parts(View("t", text="**a** " * 120, phase=Phase.WRITING), look, sealed=(480,))
    assert "*" not in want.part.rendered.text


def test_a_part_that_was_too_long_gets_half_the_size() -> None:
    (want,) = parts(View("t", text="word " * 90, phase=Phase.WRITING), replace(LOOK, tight={0}))
    assert want.end is not None and want.part.rendered.length <= 250


def test_digests_compare_what_is_shown() -> None:
    view = View("t", text="Hello", phase=Phase.WRITING)

    def digest(view: View, *, structured: bool = False) -> str:
        (want,) = parts(view, STRUCTURED if structured else LOOK)
        return want.digest(structured=structured)

    assert digest(view) == digest(replace(view, text="Hello \n"))
    assert digest(view) != digest(replace(view, stop=StopReason.ANSWERED))
    assert digest(view) != digest(replace(view, text="Hello!"))
    (want,) = parts(view)
    last = replace(want, part=replace(want.part, final=True))
    assert want.digest(structured=False) != last.digest(structured=False)
    thinking = replace(view, phase=Phase.THINKING)
    assert digest(view, structured=True) != digest(thinking, structured=True)
