"""Who may talk: empty lists let in nobody, only a star lets in everyone."""

from __future__ import annotations

import pytest

from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.inbox.access import Access
from bot.inbox.gate import Gate, Verdict
from bot.store.people import Person, Standing


def said(user: str, *, direct: bool = True, chat: str = "5", addressed: bool = True, bot: bool = False) -> UserMessage:
    return UserMessage(
        "1", Address("telegram", "main", chat), Sender("telegram", user, is_bot=bot), "hi", 1.0, direct, addressed
    )


@pytest.mark.parametrize(
    ("access", "message", "kind"),
    [
        ({}, said("7"), "refuse"),
        ({"owners": [7]}, said("7"), "welcome"),
        ({"users": ["7"]}, said("7"), "welcome"),
        ({"users": ["*"]}, said("9"), "welcome"),
        ({"users": None}, said("9"), "refuse"),
        ({"users": ["7"]}, said("70"), "refuse"),
        ({"owners": [7]}, said("7", direct=False), "silent"),
        ({"groups": [-100]}, said("9", direct=False, chat="-100"), "welcome"),
        ({"groups": ["*"]}, said("9", direct=False, chat="-3"), "welcome"),
        ({"groups": ["*"]}, said("9", direct=False, addressed=False), "silent"),
        ({"groups": ["*"], "trigger": "always"}, said("9", direct=False, addressed=False), "welcome"),
        ({"groups": ["*"], "trigger": "never"}, said("9", direct=False), "silent"),
        ({"users": ["*"]}, said("9", bot=True), "silent"),
        ({"users": ["*"], "bots": True}, said("9", bot=True), "welcome"),
    ],
)
def test_b232_access(access: dict[str, object], message: UserMessage, kind: str) -> None:
    assert Gate({"telegram": Access.model_validate(access)}).verdict(message).kind == kind


@pytest.mark.parametrize("listed", ["users", "owners"])
def test_b086_a_bot_that_the_list_names_is_heard_and_no_other_and_why_is_kept(listed: str) -> None:
    gate = Gate({"telegram": Access.model_validate({listed: ["70"], "groups": ["5"]})})
    for direct in (True, False):
        assert gate.verdict(said("70", bot=True, direct=direct)).kind == "welcome"
        assert gate.verdict(said("71", bot=True, direct=direct)) == Verdict("silent", "a bot")


def test_a_channel_without_access_lets_in_only_the_person_it_has_proven() -> None:
    gate = Gate({})
    here = Address("web", "main", "c")
    assert gate.verdict(UserMessage("1", here, Sender("web", "owner"), "hi", 1.0)).kind == "welcome"
    assert gate.verdict(UserMessage("1", here, Sender("web", "visitor"), "hi", 1.0)).kind == "refuse"
    assert gate.is_owner(Sender("web", "owner")) and not gate.is_owner(Sender("web", "visitor"))


def test_the_person_at_the_page_is_an_owner_even_where_the_section_names_others() -> None:
    gate = Gate({"web": Access.model_validate({"users": ["someone"]})})
    assert (
        gate.verdict(UserMessage("1", Address("web", "main", "c"), Sender("web", "owner"), "hi", 1.0)).kind == "welcome"
    )


@pytest.mark.parametrize(
    ("access", "standing", "message", "kind"),
    [
        ({}, "user", said("7"), "welcome"),
        ({}, "owner", said("7"), "welcome"),
        ({}, "revoked", said("7"), "refuse"),
        ({}, "user", said("70"), "refuse"),
        ({"pairing": False}, "user", said("7"), "welcome"),
        ({"users": ["*"]}, "revoked", said("7"), "refuse"),
        ({"users": ["*", "7"]}, "revoked", said("7"), "welcome"),
        ({"owners": ["7"]}, "revoked", said("7"), "welcome"),
        ({}, "owner", said("7", direct=False), "silent"),
        ({"groups": ["5"]}, "user", said("7", direct=False), "welcome"),
        ({"groups": ["5"]}, "revoked", said("7", direct=False), "silent"),
        ({"groups": ["5"], "owners": ["7"]}, "revoked", said("7", direct=False), "welcome"),
        ({}, "user", said("7", bot=True), "silent"),
    ],
)
def test_being_let_in_or_sent_away_counts_beside_the_configuration(
    access: dict[str, object], standing: Standing, message: UserMessage, kind: str
) -> None:
    gate = Gate({"telegram": Access.model_validate(access)})
    gate.learn(Person("telegram", "7", "Ann", standing))
    assert gate.verdict(message).kind == kind


def test_an_owner_by_pairing_is_one_on_that_channel_until_sent_away() -> None:
    gate = Gate({"telegram": Access(), "discord": Access()})
    gate.learn(Person("telegram", "7", "Ann", "owner"))
    assert gate.is_owner(Sender("telegram", "7"))
    assert not gate.is_owner(Sender("discord", "7")) and not gate.is_owner(Sender("telegram", "70"))
    gate.learn(Person("telegram", "7", "Ann", "revoked"))
    assert not gate.is_owner(Sender("telegram", "7"))


def test_everyone_whom_the_configuration_names_is_listed() -> None:
    gate = Gate({"telegram": Access(owners=("7",), users=("*",)), "discord": Access(pairing=False)})
    assert [(one.identity, one.standing) for one in gate.configured()] == [
        ("telegram:7", "owner"),
        ("telegram:*", "user"),
    ]
    assert gate.owned == {"telegram"}
    assert (gate.pairs("telegram"), gate.pairs("discord"), gate.pairs("terminal")) == (True, False, False)


@pytest.mark.parametrize(
    ("message", "trigger", "standing", "is_call"),
    [
        (said("9", direct=False), "mention", None, True),
        (said("9", direct=False), "never", None, False),
        (said("9", direct=False), "mention", "revoked", False),
        (said("9", direct=False, addressed=False), "always", None, False),
        (said("9", direct=False, bot=True), "mention", None, False),
    ],
)
def test_a_call_where_nothing_is_answered_is_a_persons_who_was_not_sent_away(
    message: UserMessage, trigger: str, standing: Standing | None, is_call: bool
) -> None:
    gate = Gate({"telegram": Access.model_validate({"bots": True, "trigger": trigger})})
    if standing is not None:
        gate.learn(Person("telegram", "9", "Bob", standing))
    assert gate.verdict(message).reason == "group not allowed" and gate.is_call(message) is is_call
