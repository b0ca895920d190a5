"""The model of Discord's reader, against what its client is known to do."""

from __future__ import annotations

import pytest

from tests.channels.discord.reader import Client, Node, read


def flat(nodes: tuple[Node, ...] | list[Node]) -> str:
    """Nodes as brackets with the kinds of those that are no text."""
    return "".join(_flat(node) for node in nodes)


def _flat(node: Node) -> str:
    if node.kind == "text":
        return node.text
    inner = node.text + flat(node.children) + "|".join(flat(item) for item in node.items)
    return f"[{node.kind}{'=' + node.value if node.value else ''} {inner}]"


@pytest.mark.parametrize(
    ("content", "read_as"),
    [
        ("**b** *i* _i_ __u__ ~~s~~ ||h||", "[strong b] [em i] [em i] [u u] [s s] [spoiler h]"),
        ("***both***", "[em [strong both]]"),
        ("***a* b**", "[strong [em a] b]"),
        ("**a***b*", "[strong a*]b*"),
        ("in**side**word snake_case_name a_b_ c", "in[strong side]word snake_case_name a[em b] c"),
        ("\\*no\\* \\<@1> \\# a", "*no* <@1> # a"),
        ("`a*b` ``a`b`` `` ` ``", "[code a*b] [code a`b] [code `]"),
        ("**a `b**c` d**", "[strong a `b]c` d**"),
        ("```py\nx = 1\n``` a", "[codeBlock=py x = 1] a"),
        ("```\n\nx\n\n```", "[codeBlock x]"),
        ("# H\n\n\ntext", "[heading=1 H]text"),
        ("#\nfoo", "[heading=1 foo]"),
        ("# C#", "[heading=1 C]"),
        ("-# small", "[subtext small]"),
        ("#### four", "#### four"),
        ("> a\n> b\nc", "[quote a\nb\n]c"),
        (">a", ">a"),
        (">>> a\nb", "[quote a\nb]"),
        ("- a\n- b", "[list a|b]"),
        ("- a\n\n- b", "[list a]\n[list b]"),
        ("- a\nb", "[list a]b"),
        ("3. a\n7. b", "[list=3 a|b]"),
        ("0. a", "[list=1 a]"),
        ("- a\n  - b\n  - c\n- d", "[list a[list b|c]|d]"),
        ("1. a\n   - b", "[list=1 a[list b]]"),
        ("- a\n  **b**", "[list a[strong b]]"),
        ("- a\n  \u200b**b**", "[list a\n\u200b[strong b]]"),
        ("**1. a**", "[strong [list=1 a]]"),
        ("**1\\. a**", "[strong 1. a]"),
        ("1) a", "1) a"),
        ("[a](<https://x.example>)", "[link=https://x.example a]"),
        ("[**a** `b`](https://x.example/(c))", "[link=https://x.example/(c) [strong a] [code b]]"),
        ("[a\\*b](<https://x.example>)", "[link=https://x.example a\\*b]"),
        ("[https://y.example](<https://x.example>)", "[https://y.example](<https://x.example>)"),
        ("[@everyone](<https://x.example>)", "[@everyone](<https://x.example>)"),
        ("[a](<https://discord.gg/x>)", "[a](<https://discord.gg/x>)"),
        ("[a](<javascript:x>)", "[a](<javascript:x>)"),
        ("[a](<https://x.example>) b](c)", "[a](<https://x.example>) b](c)"),
        ("<https://x.example/a_b>", "[link=https://x.example/a_b https://x.example/a_b]"),
        ("(https://x.example/a).", "([link=https://x.example/a https://x.example/a])."),
        ("<a@x.example>", "[link=mailto:a@x.example a@x.example]"),
        (
            "@everyone <@1> <#2> <:a:3> <t:4:R> :smile:",
            " ".join(f"[special {one}]" for one in ("@everyone", "<@1>", "<#2>", "<:a:3>", "<t:4:R>", ":smile:")),
        ),
        ("¯\\_(ツ)_/¯", "¯\\_(ツ)_/¯"),
    ],
)
def test_it_reads_as_the_client_does(content: str, read_as: str) -> None:
    assert flat(read(content)) == read_as


def test_clients_differ_in_lists_below_a_line_that_ends_with_markup() -> None:
    assert flat(read("**a**\n- - b", Client.OLD)) == "[strong a]\n[list [list b]]"
    assert flat(read("**a**\n- - b", Client.NEW)) == "[strong a][list - b]"
