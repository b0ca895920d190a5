"""How a function becomes a tool: ``@tool`` reads its signature and docstring, ``find_tools`` collects a package's."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

import bot.tools
from bot.core.errors import ToolFailed
from bot.core.tool import Effect, ToolContext, ToolResult, ToolSpec

Function = Callable[..., Awaitable[ToolResult | str]]


def _documented(function: Function) -> tuple[str, dict[str, str]]:
    """The docstring's first paragraph, and its ``name: meaning`` lines by argument."""
    text = inspect.getdoc(function) or ""
    paragraph, _, rest = text.partition("\n\n")
    arguments = {}
    for line in rest.splitlines():
        name, colon, meaning = line.strip().partition(":")
        if colon and name.isidentifier():
            arguments[name] = meaning.strip()
    return " ".join(paragraph.split()), arguments


def _arguments_model(function: Function, documented: Mapping[str, str]) -> type[BaseModel]:
    hints = get_type_hints(function)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "context":
            continue
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[name] = (hints[name], Field(default, description=documented.get(name)))
    return create_model(f"{function.__name__}_arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    for entry in (schema, *schema.get("properties", {}).values()):
        entry.pop("title", None)
    return schema


class FunctionTool:
    """Implements ``bot.core.ports.Tool`` over an async function whose last parameter is ``context: ToolContext``."""

    def __init__(self, function: Function, **facts: Any) -> None:
        description, arguments = _documented(function)
        self._function = function
        self._model = _arguments_model(function, arguments)
        self._spec = ToolSpec(function.__name__, description, _schema(self._model), **facts)

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    def check(self, args: Mapping[str, Any]) -> str:
        try:
            self._model.model_validate(dict(args))
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()[:5])
            return f"Wrong arguments for {self._spec.name}: {faults}. The arguments must fit {self._spec.parameters!r}."
        return ""

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        wrong = self.check(args)
        if wrong:
            raise ToolFailed(wrong)
        values = self._model.model_validate(dict(args))
        named = {name: getattr(values, name) for name in type(values).model_fields}
        result = await self._function(**named, context=context)
        return result if isinstance(result, ToolResult) else ToolResult(result)


def tool(
    *,
    effect: Effect = Effect.READ,
    idempotent: bool = True,
    timeout: float = 30.0,
    untrusted_output: bool = False,
    own_reach: bool = False,
) -> Callable[[Function], FunctionTool]:
    """Make a tool of an async function. Its docstring's first paragraph is what the model reads; lines of the form
    ``name: meaning`` after it describe the arguments."""

    def decorate(function: Function) -> FunctionTool:
        return FunctionTool(
            function,
            effect=effect,
            idempotent=idempotent,
            timeout=timeout,
            untrusted_output=untrusted_output,
            own_reach=own_reach,
        )

    return decorate


def find_tools(packages: Iterable[Any] = (bot.tools,)) -> dict[str, FunctionTool]:
    """Every tool of the packages' modules by name. Raises ``ValueError`` when two share a name."""
    found: dict[str, FunctionTool] = {}
    for package in packages:
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(info.name)).values():
                if isinstance(value, FunctionTool) and found.setdefault(value.spec.name, value) is not value:
                    raise ValueError(f"two tools are named {value.spec.name!r}")
    return found
