"""Model entries: which provider, which model, with what limits; the routes and fallbacks made of them."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, model_validator

from bot.config.match import Match
from bot.config.section import Section, Text, Url
from bot.core import model
from bot.core.model import ModelRef


class Price(Section):
    """USD per million tokens. May be written ``[input, output]``."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]

    @model_validator(mode="before")
    @classmethod
    def _from_pair(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and len(value) == 2:
            return {"input": value[0], "output": value[1]}
        return value


class ModelEntry(Section):
    """One model. May be written ``provider/model``; the embedded model of ``local`` needs no name. ``endpoint`` overrides
    the provider's ``base_url``; ``vision`` None leaves it to the vendor whether the model sees pictures."""

    provider: Text
    model: Text
    max_tokens: Annotated[int, Field(gt=0)] = 8192
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    endpoint: Url = ""
    vision: bool | None = None
    window_tokens: Annotated[int, Field(gt=0)] | None = None
    price: Price | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            provider, slash, model = value.partition("/")
            if not (provider and slash and model):
                raise ValueError("must be a section with provider and model, or a text of the form provider/model")
            return {"provider": provider, "model": model}
        if isinstance(value, dict) and value.get("provider") == "local":
            return {"model": "auto", **value}
        return value

    @model_validator(mode="after")
    def _fits_its_window(self) -> ModelEntry:
        if self.window_tokens is not None and self.max_tokens >= self.window_tokens:
            raise ValueError("max_tokens leaves no room for the question in window_tokens")
        return self

    def ref(self) -> ModelRef:
        """The entry as the Brain and the providers know it; see ``Config.ref`` for what it leaves to its vendor."""
        return ModelRef(
            provider=self.provider,
            model=self.model,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            endpoint=self.endpoint,
            vision=bool(self.vision),
            window_tokens=self.window_tokens,
            price=model.Price(self.price.input, self.price.output) if self.price else None,
        )


class Rule(ModelEntry):
    """A route: the entry is used when ``match`` (CEL) is true. ``private`` keeps it and its fallbacks on local models."""

    match: Match
    private: bool = False


class Alternative(ModelEntry):
    """Another model for a ``share`` of the turns (0.1: one in ten), to be compared by ``bowerbird status --routes``. Turns
    that are private, or for which a model was picked, are never among them."""

    share: Annotated[float, Field(gt=0, le=1)]


DEFAULT_MODEL: Final = ModelEntry(provider="anthropic", model="claude-sonnet-5-5")
DEFAULT_SMALL_MODEL: Final = ModelEntry(provider="anthropic", model="claude-haiku-5-5")
DEFAULT_TRANSCRIBER: Final = ModelEntry(provider="openai", model="gpt-4o-mini-transcribe")
DEFAULT_FALLBACK: Final = (
    ModelEntry(provider="openai", model="gpt-5.4-mini"),
    ModelEntry(provider="ollama", model="llama3.2"),
)
