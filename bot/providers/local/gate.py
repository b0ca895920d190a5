"""Which tools a message may need. A model of this size calls whatever it is shown, so it is shown only what fits.

Measured with Qwen2.5-Coder-0.5B: with three tools on offer it called one for 18 of 18 messages that needed none; asked
beforehand whether a message needs a tool, in four wordings and by the odds of yes and no, it was right half the time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.core.tool import Effect, ToolSpec

MOST_TOOLS: Final = 3
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SECTION: Final = re.compile(r"<([a-z_-]+)\b[^>]*>.*?</\1>", re.DOTALL | re.IGNORECASE)


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Family:
    """Tools with one of ``words`` in their name serve messages that ``asks`` finds."""

    words: frozenset[str]
    asks: re.Pattern[str]


_CLOCK = _pattern(
    r"\bwhat(?:'s|’s| is)? (?:the )?(?:current |local |exact |right )?(?:time|date|day)\b"
    r"(?! (?:of|for|to|complexity|zone|signature|limit|period|frame|difference|machine)\b)",
    r"\bwhat time (?:is it|do you have)\b|\bwhich day is (?:it|today)\b",
    r"\b(?:tell|give) me (?:the |today'?s )?(?:current )?(?:time|date)\b",
    r"\b(?:current|today'?s) (?:time|date)\b",
    r"现在是?几点|几点(?:钟)?[了啦]|^(?:请问)?几点(?:钟)?[?？]?$",
    r"(?:今天|今日|现在)是?.{0,2}(?:几号|几月|星期几|周几|礼拜几|什么日子|什么时间|什么时候)",
    r"(?:现在|当前)的?(?:时间|日期)|今天的?日期",
)
_TIME_OF_DAY: Final = _pattern(r"\btime\b|\bclock\b", "几点|时间|时候|时刻")
_RECKONED: Final = re.compile(r"<dates>\n.+\n.+\n(?:.+\n)*?</dates>")
"""More than today: that alone is what the clock is for."""
_SUM = _pattern(
    r"\d\s*[+*×÷^]\s*[-(]*\s*\d|\d\)?\s*[x·]\s*\(?\d|\d\)?\s+[-/]\s+\(?\d|\)\s*[-+*/×÷^]\s*\(?\d",
    r"^[\s\d.,]*\d\s*[-/]\s*[\d\s.+*/×÷^()=?？-]+$",
    r"\b(?:calculate|compute|work out)\b.*\d.*\d|\bhow much is \d.*\d",
    r"\d\s*(?:plus|minus|times|divided by|multiplied by|to the power of)\s*\d",
    r"\d\s*(?:%|percent) of \d|百分之",
    r"(?:计算|算一下|算算|算出).*\d.*\d|\d\s*(?:加上?|减去?|乘以?|除以)\s*\d|\d\s*的\s*\d\s*次方",
)
_NOTE = _pattern(
    r"^\W*(?:please |can you |could you )*(?:take |make |add |save )?(?:a |this |the )?note\b(?! (?:is|was|in|on music)\b)",
    r"\bwrite (?:this |that |it )?down\b|\bjot\b|\b(?:to|in|into) (?:my|the) (?:notes?|list)\b|\bnote (?:it |this |that )?down\b",
    r"记下|记一下|记个|记一笔|记录一下|做个?笔记|备忘|(?:写|加|放|存|添加|记)[进到入在]我?的?笔记",
)
_FAMILIES: Final = (
    Family(frozenset({"now", "time", "date", "clock"}), _CLOCK),
    Family(frozenset({"calculate", "calculator", "calc", "math"}), _SUM),
    Family(frozenset({"note", "notes"}), _NOTE),
    Family(frozenset({"remind", "reminder", "alarm"}), _pattern(r"\bremind me\b|\b(?:alarm|reminder)\b", "提醒|闹钟")),
    Family(frozenset({"weather", "forecast"}), _pattern(r"\b(?:weather|forecast)\b", "天气|气温|下雨吗")),
    Family(
        frozenset({"search", "web"}),
        _pattern(r"\bsearch\b|\blook up\b|\bgoogle\b|\b(?:latest|today's) news\b", "搜索|搜一下|查一下|上网查|新闻"),
    ),
    Family(frozenset({"fetch", "browse", "url"}), _pattern(r"https?://")),
    Family(
        frozenset({"memory", "remember", "recall"}),
        _pattern(r"\bremember\b|\bwhat do you know about\b|\bforget\b", "记得|记住|忘掉|忘记"),
    ),
    Family(frozenset({"mail", "email"}), _pattern(r"\be-?mail\b", "邮件")),
)
_ABOUT: Final = _pattern(
    r"^\W*(?:please )?(?:explain|define|describe|why|how (?:do|does|did|can|should|to)|what (?:is|are) an?\b)",
    r"\bwhat (?:does|do|is) .{0,40}\b(?:mean|for)\b|\bwrite (?:me )?an? (?:\w+ )?(?:poem|story|song|essay)\b",
    "什么是|是?什么意思|为什么|为啥|解释|如何|怎么才?[能样]?[做写用学]|写一?[首篇段个]|介绍一?下?|翻译|translate|summari[sz]e|总结|概括",
)
"""Messages that speak about a thing rather than ask for it to be done."""
_WANTS: Final = _pattern(
    r"[?？]\s*$",
    r"^\W*(?:please|can you|could you|would you|i need|i want|i'd like|let's|show|get|find|give|list|read|open|run|make|set|"
    r"turn|send|add|create|delete|remove|check|play|book|order|start|stop|tell)\b",
    "^(?:请|帮|给我|麻烦|能不能|可以|我要|我想|打开|运行|发|删|列|查|看)",
)
"""Messages that want something."""
_COMMON: Final = frozenset(
    {"get", "set", "list", "read", "write", "search", "add", "create", "run", "make", "find", "show", "send", "open"}
    | {"check", "tool", "the", "new", "use", "all", "more"}
)
"""Words in names of tools that say nothing about what they are for."""
_FILLER: Final = _pattern(
    r"\b(?:hi|hello|hey|please|now|right now|today|currently|is it|it is|do you know|can you|could you|tell me|and|so|ok|bowerbird)\b",
    "你好|请问|请|告诉我|你知道|现在|今天|时间|了|呢|啊|呀|吗|是",
)


def may_need(message: str, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools, at most ``MOST_TOOLS``, that may serve this message in English or Chinese; none for talk.

    A tool of a known family goes by the family's patterns, any other by the words of its name in a message that wants
    something. Tagged sections in the message are not the person's words and do not count; where one tells other
    days than today, a clock is of use for the time of day alone.
    """
    words = _SECTION.sub("", message).strip()
    if _ABOUT.search(words):
        return ()
    told = bool(_RECKONED.search(message)) and not _TIME_OF_DAY.search(words)
    return tuple(tool for tool in tools if _fits(words, tool) and not (told and _is_clock(tool)))[:MOST_TOOLS]


def goes_without_saying(message: str, tool: ToolSpec) -> bool:
    """Whether nothing is left for the model to choose once ``may_need`` has named this tool alone: it only reads, it
    requires no argument, and the message says nothing beyond asking for it."""
    if tool.effect is not Effect.READ or tool.parameters.get("required"):
        return False
    words = _SECTION.sub("", message)
    rests = (family.asks.sub("", words) for family in _families(tool) if family.asks.search(words))
    return any(not re.search(r"\w", _FILLER.sub("", rest)) for rest in rests)


def _fits(words: str, tool: ToolSpec) -> bool:
    name = _name_words(tool)
    if families := _families(tool):
        return any(family.asks.search(words) for family in families)
    telling = {word.removesuffix("s") for word in name - _COMMON if len(word) > 2}
    said = {word.lower().removesuffix("s") for word in re.findall(r"[A-Za-z]+", words)}
    return bool(telling & said) and bool(_WANTS.search(words))


def _is_clock(tool: ToolSpec) -> bool:
    return any(family.asks is _CLOCK for family in _families(tool))


def _families(tool: ToolSpec) -> list[Family]:
    return [family for family in _FAMILIES if family.words & _name_words(tool)]


def _name_words(tool: ToolSpec) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(tool.name))
