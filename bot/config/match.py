"""A look at a rule's ``match``: signs, brackets and names in the words of who wrote it, then the expression itself."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from bot.config.hints import did_you_mean

NAMES: Final = ("intent", "complexity", "privacy", "channel", "person", "images", "length")
"""What a rule may ask about."""

_SAMPLES: Final = {"images": False, "length": 0}

_TOKEN: Final = re.compile(
    r"""\s+|//[^\n]*|[rRbB]{0,2}("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<number>\d[\w.]*)
    |(?P<name>\.?\s*[A-Za-z_]\w*(?P<call>\s*\()?)|(?P<sign>==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,]|[()\[\]{}])|(?P<bad>.)""",
    re.VERBOSE | re.DOTALL,
)
_BOUND: Final = re.compile(r"\.(?:all|exists|exists_one|filter|map)\(\s*(\w+)\s*,")
_WORDS: Final = frozenset({"in", "true", "false", "null"})
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_REMARKS: Final = {"=": "a single = ; write ==", '"': "a quote that is not closed", "'": "a quote that is not closed"}
_PYTHON: Final = {"and": "&&", "or": "||", "not": "!"}


def checked_match(text: str) -> str:
    """``text`` if it can be an expression over ``NAMES``. Raises ``ValueError`` with a sentence."""
    bound = set(_BOUND.findall(text))
    brackets: list[str] = []
    for token in _TOKEN.finditer(text):
        if token["bad"]:
            raise ValueError(f"holds {_REMARKS.get(token['bad'], 'a sign that expressions do not know')}")
        if token["name"] and not token["name"].startswith("."):
            name = token["name"].rstrip("( \t\n")
            if name not in bound:
                _check_name(name, is_call=bool(token["call"]))
        for sign in token["call"] or token["sign"] or "":
            if sign in "([{":
                brackets.append(sign)
            elif sign in _PAIRS and (not brackets or brackets.pop() != _PAIRS[sign]):
                raise ValueError("a bracket is closed that was not opened")
    if brackets:
        raise ValueError("a bracket is opened and not closed")
    _try(text)
    return text


def _try(text: str) -> None:
    """Ask it of an empty message: what cannot be evaluated now never could."""
    import cel  # only whoever has rules pays for it

    facts = {name: _SAMPLES.get(name, "") for name in NAMES}
    try:
        answer = cel.compile(text).execute(facts)
    except ValueError as error:
        raise ValueError("is no expression (CEL): look at its signs and their order") from error
    except TypeError as error:
        raise ValueError(
            "compares what cannot be compared: images is true or false, length is a number, the rest is text"
        ) from error
    except RuntimeError as error:
        raise ValueError("calls a function that expressions do not know") from error
    except LookupError:
        return  # of an empty message; others may have what is looked for
    if not isinstance(answer, bool):
        raise ValueError("must be true or false in the end")


def _check_name(name: str, *, is_call: bool) -> None:
    if name in _PYTHON:
        raise ValueError(f"{name} is not known in an expression; write {_PYTHON[name]}")
    if not is_call and name not in NAMES and name not in _WORDS:
        raise ValueError(f"{name} is not known in an expression{did_you_mean(name, NAMES)} (known: {', '.join(NAMES)})")


Match = Annotated[str, Field(min_length=1), AfterValidator(checked_match)]
