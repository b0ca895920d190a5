"""Exact decimal arithmetic over a small expression grammar; nothing is evaluated as code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal, DecimalException, localcontext
from typing import Final

from bot.core.errors import ToolFailed
from bot.core.tool import ToolContext
from bot.tools.registry import tool

DIGITS: Final = 50
MAX_EXPRESSION_CHARS: Final = 400
MAX_EXPONENT: Final = 10_000
_SIGNS: Final = str.maketrans({"×": "*", "÷": "/", "−": "-", "，": ",", "（": "(", "）": ")", "^": "\x00", "%": "\x01"})


def _floor(left: Decimal, right: Decimal) -> Decimal:
    return (left / right).to_integral_value(ROUND_FLOOR)


_BINARY: Final[dict[type[ast.operator], Callable[[Decimal, Decimal], Decimal]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: _floor,
    ast.Mod: lambda left, right: left - right * _floor(left, right),
}
_FUNCTIONS: Final[dict[str, Callable[..., Decimal]]] = {
    "sqrt": lambda x: x.sqrt(),
    "abs": abs,
    "round": lambda x, places=Decimal(0): round(x, int(places)) + Decimal(0),
    "min": min,
    "max": max,
    "ln": lambda x: x.ln(),
    "log10": lambda x: x.log10(),
    "exp": lambda x: x.exp(),
}


def _value(node: ast.expr) -> Decimal:
    match node:
        case ast.Constant(value=bool()):
            raise ToolFailed("Only numbers can be calculated.")
        case ast.Constant(value=int() | float() | str() as value):
            return Decimal(str(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(op=ast.Pow(), left=left, right=right):
            base, exponent = _value(left), _value(right)
            if abs(exponent) > MAX_EXPONENT:
                raise ToolFailed(f"The exponent {exponent} is too large; at most {MAX_EXPONENT}.")
            return base**exponent
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*map(_value, args))
    raise ToolFailed(
        f"This is not arithmetic that can be calculated. Use numbers, + - * / // ^ ( ) and {', '.join(_FUNCTIONS)}."
    )


def _percent(expression: str) -> str:
    """``15 % of 80`` and ``15%`` mean hundredths; ``17 % 5`` between two numbers is the remainder."""
    pieces = expression.split("\x01")
    joined = pieces[0]
    for piece in pieces[1:]:
        rest = piece.lstrip()
        if rest.startswith("of "):
            joined += "/100*" + rest[3:]
        elif rest[:1].isdigit() or rest[:1] in ("(", "."):
            joined += "%" + piece
        else:
            joined += "/100" + piece
    return joined


def _written(value: Decimal) -> str:
    if value == value.to_integral_value() and abs(value) < Decimal(10) ** DIGITS:
        return str(value.quantize(Decimal(1)))
    rounded = value.normalize(Context(prec=28))
    return format(rounded, "f") if -12 < rounded.adjusted() < DIGITS else str(rounded)


def calculated(expression: str) -> str:
    """The exact value of ``expression`` as decimal text. Raises ``ToolFailed`` in words for the model."""
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise ToolFailed(f"The expression is longer than {MAX_EXPRESSION_CHARS} characters.")
    source = _percent(expression.strip().rstrip("=?？").translate(_SIGNS)).replace("\x00", "**")
    try:
        tree = ast.parse(source, mode="eval")
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, float | int)
                and not isinstance(node.value, bool)
            ):
                node.value = ast.get_source_segment(source, node) or str(
                    node.value
                )  # the digits as written, not a binary float
        with localcontext(Context(prec=DIGITS)):
            return _written(_value(tree.body))
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError) as error:
        raise ToolFailed(f"{expression!r} is not an arithmetic expression.") from error
    except DecimalException as error:
        raise ToolFailed(f"{expression!r} has no value ({type(error).__name__}).") from error


@tool()
async def calculate(expression: str, *, context: ToolContext) -> str:
    """Calculate an arithmetic expression exactly, such as 17*23, (2+3)^2, 15% of 80 or sqrt(2).

    expression: the expression, with numbers written in digits
    """
    return f"{expression.strip()} = {calculated(expression)}"
