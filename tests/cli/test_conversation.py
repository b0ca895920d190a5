from __future__ import annotations

from typing import Any

from bot.cli.chat_view import ChatView
from bot.cli.conversation import Conversation, Done, Past, Said, Told
from bot.cli.paint import settled


def part(
    turn: str, text: str = "", *, index: int = 0, stop: str = "", last: bool = True, **more: Any
) -> dict[str, Any]:
    plain: dict[str, Any] = {"phase": "writing", "tools": [], "cards": [], "notices": [], "files": [], "buttons": []}
    fixed = {
        "type": "part",
        "turn": turn,
        "index": index,
        "text": text,
        "stop": stop,
        "last": last,
        "final": bool(stop),
    }
    return plain | fixed | more


def entry(
    who: str, turn: str, text: str, *, message_id: str = "", stop: str = "answered", notice: str = ""
) -> dict[str, Any]:
    return {
        "who": who,
        "turn": turn,
        "text": text,
        "message_id": message_id,
        "stop": stop,
        "notice": notice,
        "at": 0.0,
    }


def history(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"type": "history", "entries": list(entries)}


def talk() -> Conversation:
    return Conversation(lambda: 0.0)


def view_of(conversation: Conversation) -> ChatView:
    view = ChatView(conversation, None)
    view.resize(60)
    return view


def test_an_answer_grows_and_is_done_once() -> None:
    chat = talk()
    assert chat.take(part("t1", "Hel")) == []
    assert chat.growing["t1"].text == "Hel"
    [done] = chat.take(part("t1", "Hello.", stop="answered"))
    assert isinstance(done, Done)
    assert done.turn.text == "Hello."
    assert chat.growing == {}
    assert chat.take(part("t1", "Hello.", stop="answered")) == [], "a late repetition shows nothing"


def test_the_parts_of_an_answer_stand_in_order_and_removed_ones_are_gone() -> None:
    chat = talk()
    chat.take(part("t1", "two", index=1))
    chat.take(part("t1", "one", index=0, last=False))
    assert chat.growing["t1"].text == "one\n\ntwo"
    chat.take({"type": "removed", "turn": "t1", "index": 1})
    assert chat.growing["t1"].text == "one"
    chat.take({"type": "removed", "turn": "t1", "index": 0})
    assert chat.growing == {}
    chat.take({"type": "removed", "turn": "unknown", "index": 0})


def test_the_first_history_is_shown_and_a_second_one_shows_only_what_is_new() -> None:
    chat = talk()
    first = history(entry("person", "t1", "hi", message_id="m1"), entry("bot", "t1", "hello", notice="n"))
    assert chat.take(first) == [Said("hi"), Past("hello", "n")]
    again = history(*first["entries"], entry("person", "t2", "more", message_id="m2"), entry("bot", "t2", "yes"))
    assert chat.take(again) == [Said("more"), Past("yes", "")]


CHART = {"name": "chart \x1b[31m.png", "media_type": "image/png", "path": "/data/files/ab/abcd", "size": 4300}


def test_a_file_is_told_by_its_name_its_size_and_its_place_now_and_later() -> None:
    chat = talk()
    [done] = chat.take(part("t1", "Here.", stop="answered", files=[CHART]))
    [past] = chat.take(history({**entry("bot", "t2", "Here."), "files": [CHART, {**CHART, "size": 0}]}))
    line = "file: chart ␛[31m.png (4 KB), at /data/files/ab/abcd"
    assert view_of(chat).printed(done)[-1] == line
    assert view_of(chat).printed(past)[-2:] == [line, "file: chart ␛[31m.png, no longer here"]
    chat.take(part("t3", "Half"))
    [ended] = chat.take(history({**entry("bot", "t3", "Half and half"), "files": [CHART]}))
    assert view_of(chat).printed(ended)[-1] == line


def test_what_this_terminal_wrote_is_not_shown_twice() -> None:
    chat = talk()
    chat.wrote("m1")
    assert chat.take({"type": "said", "id": "m1", "turn": "t1", "text": "hi"}) == []
    assert chat.take({"type": "said", "id": "m2", "turn": "t1", "text": "other"}) == [Said("other")]
    assert chat.take(history(entry("person", "t1", "hi", message_id="m1"))) == []


def test_an_answer_that_ended_while_the_connection_was_gone_ends_here_too() -> None:
    chat = talk()
    chat.take(part("t1", "half"))
    [done] = chat.take(history(entry("bot", "t1", "half and half", notice="Stopped.")))
    assert isinstance(done, Done)
    assert done.turn.text == "half and half"
    assert done.turn.last["notices"] == ["Stopped."]
    assert chat.growing == {}


def test_an_answer_that_still_runs_is_not_taken_from_the_history() -> None:
    chat = talk()
    assert chat.take(history(entry("bot", "t1", "half", stop=""))) == []
    chat.take(part("t1", "half more"))
    assert chat.growing["t1"].text == "half more"


def test_refusals_errors_and_answers_to_presses_are_told() -> None:
    chat = talk()
    assert chat.take({"type": "receipt", "id": "m", "turn": "", "duplicate": False, "refused": "No."}) == [Told("No.")]
    assert chat.take({"type": "receipt", "id": "m", "turn": "t", "duplicate": False, "refused": ""}) == []
    assert chat.take({"type": "error", "id": "m", "text": "Full."}) == [Told("Full.")]
    assert chat.take({"type": "answer", "press": "p", "text": "Noted."}) == [Told("Noted.")]
    assert chat.take({"type": "something of a newer house"}) == []


def test_a_long_answer_moves_up_block_by_block_and_every_line_is_shown_once() -> None:
    chat = talk()
    view = view_of(chat)
    text = "".join(f"paragraph {number}\n\n" for number in range(30))
    above: list[str] = []
    for end in range(0, len(text), 7):
        chat.take(part("t1", text[:end]))
        above += view.settle(chat.growing["t1"], room=6)
        assert len(view.growing(chat.growing["t1"], 0.0, room=6)) <= 8
    assert above, "it did not wait for the end"
    [done] = chat.take(part("t1", text, stop="answered"))
    above += view.printed(done)
    shown = [line for line in above if line]
    assert shown == [f"paragraph {number}" for number in range(30)]


def test_text_that_is_taken_back_after_it_moved_up_is_written_anew_below_a_note() -> None:
    chat = talk()
    view = view_of(chat)
    chat.take(part("t1", "first\n\nsecond\n\nthird"))
    above = view.settle(chat.growing["t1"], room=2)
    assert "first" in above
    [done] = chat.take(part("t1", "other", stop="answered"))
    after = [line for line in view.printed(done) if line]
    assert after == ["(the answer is written anew)", "other"]


def test_a_single_block_taller_than_the_window_shows_its_end() -> None:
    chat = talk()
    view = view_of(chat)
    chat.take(part("t1", "```\n" + "\n".join(f"line {number}" for number in range(50))))
    assert view.settle(chat.growing["t1"], room=10) == []
    grown = view.growing(chat.growing["t1"], 3.0, room=10)
    assert any("line 49" in line for line in grown)
    assert not any("line 1 " in f"{line} " for line in grown)
    assert "3 s" in grown[-1]


def test_tools_cards_and_notices_are_shown() -> None:
    chat = talk()
    view = view_of(chat)
    tool = {"call_id": "c1", "name": "web_search", "summary": "birds", "seconds": None, "error": False}
    card = {
        "id": "k1",
        "call_id": "c1",
        "tool": "shell",
        "effect": "run",
        "reason": "why",
        "arguments": "{\n}",
        "decision": "",
    }
    offered = [{"payload": "b:k1:once"}, {"payload": "b:k1:deny"}]
    chat.take(part("t1", "text", tools=[tool], cards=[card], buttons=offered, notices=["note"], phase="waiting"))
    grown = "\n".join(view.growing(chat.growing["t1"], 0.0, room=20))
    for expected in ("… web_search  birds", "text", "/once  /deny", "note", "waiting for your decision"):
        assert expected in grown
    assert "/always" not in grown
    question = "\n".join(view.card(chat.desk.open[0]))
    for expected in ("1. May shell run? (run)", "why", "{\n}"):
        assert expected in question
    ended = [tool | {"seconds": 1.25}]
    [done] = chat.take(part("t1", "text", tools=ended, cards=[card | {"decision": "deny"}], stop="answered"))
    printed = "\n".join(view.printed(done))
    for expected in ("✓ web_search  birds  1.2 s", "text", "shell: Denied."):
        assert expected in printed


def test_the_whole_of_a_long_question_can_be_read_before_it_is_answered() -> None:
    chat = talk()
    arguments = "\n".join(f"argument {number}" for number in range(100))
    card = {"id": "k1", "tool": "shell", "effect": "run", "reason": "", "arguments": arguments, "decision": ""}
    chat.take(part("t1", cards=[card], buttons=[{"payload": "b:k1:once"}]))
    assert "argument 99" in "\n".join(view_of(chat).card(chat.desk.open[0]))


def test_a_turn_that_ends_without_a_word_says_why() -> None:
    chat = talk()
    [done] = chat.take(part("t1", "", stop="empty"))
    assert "(no answer: empty)" in view_of(chat).printed(done)


def test_the_language_of_the_house_is_used() -> None:
    chat = talk()
    chat.take({"type": "hello", "chat": "main", "address": "a", "language": "zh"})
    chat.take(part("t1", phase="thinking"))
    assert "思考中" in view_of(chat).growing(chat.growing["t1"], 0.0, room=9)[-1]
    chat.take({"type": "hello", "chat": "main", "address": "a", "language": "auto"})
    assert chat.language == "zh"


def test_what_moves_up_is_whole_blocks() -> None:
    text = "one\n\ntwo\n\nthree"
    assert text[: settled(text)] == "one\n\ntwo\n\n"
