"""How much a message asks for, and how private it is, from what can be seen without asking anybody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bot.brain.routing.intents import length_units

Complexity = Literal["simple", "medium", "complex"]
"""``simple``: a sentence answers it. ``complex``: long, of several parts, or to be thought through. ``medium``: between."""
Privacy = Literal["public", "personal", "secret"]
"""``secret``: passwords, keys, numbers of cards, accounts and papers. ``personal``: somebody's health, money, family,
feelings or whereabouts. ``public``: everything else."""

PRIVACIES: Final[tuple[Privacy, ...]] = ("public", "personal", "secret")
COMPLEXITIES: Final[tuple[Complexity, ...]] = ("simple", "medium", "complex")

READ_CHARS: Final = 20_000
SHORT_UNITS: Final = 14
LONG_CHARS: Final = 600
VERY_LONG_CHARS: Final = 2_000
COMPLEX_POINTS: Final = 4
MANY_ITEMS: Final = 3

_LIGHT: Final = frozenset({"small_talk", "reminder", "translate", "calculate"})
_HEAVY: Final = frozenset({"plan", "code", "long_document"})

_CODE: Final = re.compile(r"```|^\s{4,}\S.*[;:{}()]\s*$|[{};]\s*$|Traceback \(most recent", re.MULTILINE)
_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s+\S", re.MULTILINE)
_QUESTION: Final = re.compile(r"[?？](?=\s|$|[^\w?？])|[?？](?=[\u4e00-\u9fff])")
_DEEP: Final = re.compile(
    r"\b(?:why|compare|comparison|analy[sz]e|analysis|prove|derive|evaluate|trade-?offs?|pros and cons|step by step|"
    r"in detail|detailed|thorough(?:ly)?|design|architecture|strategy|refactor|optimi[sz]e|implications?|critique)\b"
    r"|为什么|比较|对比|分析|证明|推导|评估|利弊|优缺点|一步一步|详细|深入|设计|架构|策略|重构|优化|论证",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(
    r"\b(?:and then|after that|also|in addition|finally|as well as|make sure|at least|at most)\b"
    r"|然后|接着|另外|此外|最后|同时|并且|至少|最多|要求",
    re.IGNORECASE,
)

_KEYS: Final = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:[a-z0-9]{1,12}[-_]){0,4}[A-Za-z0-9]{16,}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|"
    r"\bxox[abeprs]-[\w-]{10,}|\bAIza[\w-]{30,}|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY-----|"
    r"\b\d{8,10}:[\w-]{35}\b"
)
_PASSWORD: Final = re.compile(
    r"\b(?:password|passphrase|passcode|pin(?: code| number)?|api[ _-]?key|access token|secret key|cvv|cvc)\b"
    r"\s*(?:is|was|=|:|：)\s*\S+|(?:密码|口令|密钥|验证码|令牌)\s*(?:是|为|=|:|：)\s*\S+",
    re.IGNORECASE,
)
_PAPERS: Final = re.compile(
    r"\b(?:passport|social security|ssn|national insurance|tax id|driving licen[cs]e|id card|account)(?:'s)?"
    r"(?: (?:number|no\.?|nr\.?))?\W{0,3}(?:is |was )?(?=(?:[A-Z-]{0,4}\d){4})[A-Z0-9-]{6,}|\b\d{3}-\d{2}-\d{4}\b"
    r"|(?:护照|社保|驾照|驾驶证|银行卡|账户|账号|卡号|身份证)号?码?(?:是|为|:|：)?\s*[A-Z]?\d{6,}",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w.])")
_CHINESE_ID: Final = re.compile(r"(?<!\d)\d{17}[\dXx](?!\d)")
_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")

_CONTACT: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.\w|(?<![\w.])\+\d[\d ()-]{7,20}\d|(?<!\d)1[3-9]\d{9}(?!\d)|"
    r"(?<![\w.-])(?<!\d )\(?0\d{2,4}\)?[ -]\d{3,}[ -]?\d{2,}"
)
_BODY: Final = (
    r"blood (?:pressure|sugar|type|test)|diagnos\w+|symptoms?|pregnan\w+|medication|medicine|pills?|prescription|therap\w+|"
    r"doctor|surgery|cancer|diabet\w+|depress\w+|anxi\w+|allerg\w+|heart|fever|weight|period|illness|disease|pain"
)
_MONEY: Final = r"salary|income|debts?|mortgage|loan|rent|savings|bank|credit card|taxes|tax return|pension|insurance|payslip|account"
_FAMILY: Final = (
    r"wife|husband|partner|girlfriend|boyfriend|son|daughter|kids?|child(?:ren)?|mother|father|mum|mom|dad|parents?|"
    r"sister|brother|divorce|marriage|family|ex"
)
_SELF: Final = r"address|birthday|date of birth|age|passport|phone number|boss|lawyer|diary|feelings|shoe size|password"
_MINE: Final = re.compile(
    rf"\b(?:my|our)\b(?:\s+\w+){{0,2}}?\s+(?:{_BODY}|{_MONEY}|{_FAMILY}|{_SELF})(?:'s)?\b"
    rf"|\b(?:i|i'm|i am|i've|i have|i was|i feel|i owe|i earn|i take)\b.{{0,40}}\b(?:{_BODY}|salary|debts?|divorce[d]?|"
    r"mortgage|lonely|suicid\w+|kill myself|fired|arrested)\b|\bi (?:owe|earn)\b",
    re.IGNORECASE,
)
_MINE_ZH: Final = re.compile(
    r"(?:我|咱|俺|本人).{0,8}(?:血压|血糖|血型|病|症|药|怀孕|医生|手术|过敏|抑郁|焦虑|失眠|体检|疼|发烧|工资|收入|债|欠|贷款|房租|存款|银行|"
    r"信用卡|税|保险|养老金|老婆|老公|妻子|丈夫|儿子|女儿|孩子|妈|爸|母亲|父亲|父母|姐|妹|哥|弟|离婚|分手|家里|住址|地址|生日|身份证|护照|手机号|"
    r"电话|律师|日记|密码)|(?:离婚|分手|流产|确诊).{0,12}我"
)
_FILE: Final = re.compile(
    r"payslip|salary|invoice|bank|statement|tax|contract|lease|medical|diagnos|lab[-_ ]?results?|passport|insurance|"
    r"工资|发票|银行|流水|税|合同|病历|体检|化验|护照|身份证|保险|户口",
    re.IGNORECASE,
)
_POSSESSIVE: Final = re.compile(r"\b(?:my|mine|our|i'm|i've)\b|我", re.IGNORECASE)
_SKILL: Final = re.compile(r"\s*/skill\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Signals:
    """``unsure`` names what another look may see otherwise: ``complexity``, ``privacy``."""

    complexity: Complexity
    privacy: Privacy
    unsure: frozenset[str] = frozenset()


def signals_of(text: str, intent: str = "", files: Sequence[str] = (), *, pictures: bool = False) -> Signals:
    """``files`` are the names of those that came along."""
    said = text if len(text) <= READ_CHARS else f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 :]}"
    complexity, privacy = complexity_of(said, intent, files, pictures=pictures), privacy_of(said, files)
    if privacy == "public" and intent == "personal_info":
        privacy = "personal"
    unsure = {"complexity"} if complexity == "medium" else set()
    if privacy == "public" and _POSSESSIVE.search(said):
        unsure.add("privacy")
    return Signals(complexity, privacy, frozenset(unsure))


def complexity_of(text: str, intent: str = "", files: Sequence[str] = (), *, pictures: bool = False) -> Complexity:
    """By points for length, code, lists, questions, words that ask for thought, and what came along."""
    points = 1 if length_units(text) > SHORT_UNITS else 0
    points += (len(text) > LONG_CHARS) + 2 * (len(text) > VERY_LONG_CHARS)
    points += 2 * bool(_CODE.search(text)) + 2 * (len(_ITEM.findall(text)) >= MANY_ITEMS)
    points += min(3, len({found.lower() for found in _DEEP.findall(text)})) + (len(_QUESTION.findall(text)) > 1)
    points += min(2, len(_PARTS.findall(text))) + min(3, 2 * len(files)) + pictures + bool(_SKILL.match(text))
    points += 2 * (intent in _HEAVY) - (intent in _LIGHT)
    return "complex" if points >= COMPLEX_POINTS else "medium" if points > 1 else "simple"


def privacy_of(text: str, files: Sequence[str] = ()) -> Privacy:
    """Numbers count only where they can be what they look like: a card's has its check digit, a Chinese id's too."""
    if _KEYS.search(text) or _PASSWORD.search(text) or _PAPERS.search(text) or _holds_number(text):
        return "secret"
    if _CONTACT.search(text) or _MINE.search(text) or _MINE_ZH.search(text) or any(map(_FILE.search, files)):
        return "personal"
    return "public"


def _holds_number(text: str) -> bool:
    if any(_is_card(re.sub(r"\D", "", found)) for found in _DIGITS.findall(text)):
        return True
    if any(map(_is_chinese_id, _CHINESE_ID.findall(text))):
        return True
    return any(_is_iban(found.replace(" ", "")) for found in _IBAN.findall(text))


def _is_card(digits: str) -> bool:
    """By Luhn's sum; of 13 to 19 digits that are not all the same."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_chinese_id(number: str) -> bool:
    """GB 11643: the last sign is a checksum over the other 17."""
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number[:17]))
    return "10X98765432"[total % 11] == number[17].upper()


def _is_iban(number: str) -> bool:
    """ISO 13616: the rest by 97 is 1."""
    turned = number[4:] + number[:4]
    return len(number) >= 15 and int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1
