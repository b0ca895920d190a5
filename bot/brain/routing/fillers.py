"""The words of a message that say nothing of what it is about."""

from __future__ import annotations

import re
from typing import Final

from bot.core.text import CJK

_ENGLISH: Final = """
a about again all also am an and another any anyone anything are as at be because been before but by can could d did do
does doing don done each else ever every find first for from get give go going good got had has have he hello help her
here hey hi him his how i if in into is it its just know last let like ll look make many may me mean more most much my
need new next no not now of off ok okay on one ones only or other our out over please put re really s said same say second
see she should show so some something still such sure t talked tell than thank thanks that the their them then there
these they thing things think third this those to told too two up us ve very want was we well were what when where which
who whom whose why will with would yeah yes yet you your
"""
_CHINESE: Final = """
的 了 吗 呢 吧 啊 呀 我 你 您 他 她 它 们 我们 你们 他们 这 那 这个 那个 这些 那些 哪个 哪里 什么 怎么 怎样 怎么样 为什么 为啥 多少 几 是
不 不是 有 没 没有 在 就 都 也 还 还有 又 再 和 跟 与 或 把 被 给 让 要 想 请 请问 可以 能 能不能 会 说 说过 看 看看 一下 一个 两个 第一个
第二个 第三个 另外 另 别的 其他 好 好的 行 对 嗯 哦 麻烦 帮 帮我 知道 觉得 告诉 现在 然后 那么 如果 因为 所以 但是 而且 来着 之前 上次 记得
提到 提过 聊过 得 着 过 到 上 下 里 中 从 向 很 太 最 更 个 些 点 去 来 做 用 为 于 以
"""
_EN: Final = frozenset(_ENGLISH.split())
_ZH: Final = sorted(_CHINESE.split(), key=len, reverse=True)
_FILLER_ZH: Final = re.compile("|".join(map(re.escape, _ZH)))
_WORD: Final = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")


def telling(text: str) -> list[str]:
    """The words that say something, in their order; of Chinese the runs between its fillers."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        if CJK.search(match[0]):
            found += [run for run in re.split(r"\s+", _FILLER_ZH.sub(" ", match[0])) if run]
        elif match[0].lower() not in _EN and len(match[0]) > 1:
            found.append(match[0])
    return found
