"""How private a message is: by the shape of what it holds, and by whose health, money, family, home or feelings it speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

Privacy = Literal["public", "personal", "secret"]
"""``secret``: passwords, keys, numbers of cards, accounts and papers. ``personal``: somebody's health, money, family,
feelings or whereabouts. ``public``: everything else."""

PRIVACIES: Final[tuple[Privacy, ...]] = ("public", "personal", "secret")

_KEYS: Final = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:[a-z0-9]{1,12}[-_]){0,4}[A-Za-z0-9]{16,}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|"
    r"\bxox[abeprs]-[\w-]{10,}|\bAIza[\w-]{30,}|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY-----|"
    r"\b\d{8,10}:[\w-]{35}\b"
)
_PASSWORD: Final = re.compile(
    r"\b(?:password|passphrase|passcode|passwd|pw|pin(?: code| number)?|api[ _-]?key|access token|secret key|cvv|cvc)\b"
    r"\s*(?:is|was|=|:|：)\s*\S+"
    r"|\b(?:password|passphrase|passcode|pw|pin)\b(?: (?:for|to|of|at) [\w' ]{1,30}?)?\s*(?:is |was |=|:|：)?\s*"
    r"(?=[^\s.,]*\d)(?!\d{1,3}\b)[^\s.,]{4,}"
    r"|\b(?:door|gate|alarm|entry|safe|locker|lock|garage|key ?pad)(?:'s)? (?:code|combination|pin)\b\D{0,30}\d{3,}"
    r"|(?:密码|密碼|口令|密钥|密鑰|验证码|驗證碼|令牌)\s*(?:是|为|為|=|:|：|改成了?|改為|改为|[换換]成了?|设成了?|設成)\s*[^\s是多什啥哪]\S*"
    r"|(?:密码|密碼|口令|验证码|驗證碼)[^\w]{0,3}(?=[A-Za-z0-9]*\d)[A-Za-z0-9@#!_-]{4,}",
    re.IGNORECASE,
)
_PAPERS: Final = re.compile(
    r"\b(?:passport|social security|ssn|national insurance|tax id|driving licen[cs]e|id card|account)(?:'s)?"
    r"(?: (?:number|no\.?|nr\.?))?\W{0,3}(?:is |was )?(?=(?:[A-Z-]{0,4}\d){4})[A-Z0-9-]{6,}|\b\d{3}-\d{2}-\d{4}\b"
    r"|(?:护照|護照|社保|驾照|駕照|驾驶证|银行卡|銀行卡|账户|帳戶|账号|帳號|卡号|卡號|身份证|身分證)[号號]?[码碼]?(?:是|为|為|:|：)?\s*[A-Z]?\d{6,}",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w.])")
_CHINESE_ID: Final = re.compile(r"(?<!\d)\d{17}[\dXx](?!\d)")
_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_CONTACT: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.\w|(?<![\w.])\+\d[\d ()-]{7,20}\d|(?<!\d)1[3-9]\d{9}(?!\d)|"
    r"(?<![\w.-])(?<!\d )\(?0\d{2,4}\)?[ -]\d{3,}[ -]?\d{2,}"
)
_FILE: Final = re.compile(
    r"payslip|salary|invoice|bank|statement|tax|contract|lease|medical|diagnos|lab[-_ ]?results?|passport|insurance|"
    r"工资|发票|银行|流水|税|合同|病历|体检|化验|护照|身份证|保险|户口",
    re.IGNORECASE,
)

_CLAUSES: Final = re.compile(r"[.!?;](?:\s|$)|[\n。！？；]")
_CLAUSE_CHARS: Final = 400

_WHO: Final = re.compile(
    r"\b(?:i|im|ive|i['’](?:m|ve|d|ll)|me|my|mine|myself|our|ours|we|we['’]\w+|us)\b|[我咱俺]|本人|自己|家里|家裡",
    re.IGNORECASE,
)
"""Who speaks of themselves."""
_PEOPLE: Final = (
    r"wife|hubby|husband|partner|girlfriend|boyfriend|gf|bf|fianc[eé]e?|sons?|daughters?|kids?|child(?:ren)?|baby|toddler|mother|"
    r"father|mum|mummy|mom|mama|dad|daddy|papa|parents?|in-laws?|sister|brother|sis|bro|grandma|grandpa|gran|nan|"
    r"grand(?:mother|father|parents|son|daughter)|aunt(?:ie|y)?|uncle|niece|nephew|cousin|divorce|marriage|family|ex|landlord|landlady"
)
_OWN: Final = (
    r"address|birthday|birth ?date|date of birth|dob|age|passport|visa|phone number|boss|lawyer|diary|feelings|shoe size|"
    r"bra size|passwords?|pw|pin|login|username|weight|height|heart|body|skin|knees?|back|stomach|teeth|tooth|hair loss|period|"
    r"pain|pills?|meds?|medicine|dose|doctor|gp|dentist|nurse|bank|account|balance|rent|lease|loan|savings|card|cards|pay|wages?|bonus|"
    r"taxes|tax (?:return|refund|bill|code)|pension|insurance|bills?|income|deposit|licen[cs]e|id|ssn|cv|resume|"
    r"school portal|flat|home|house"
)
_THEIRS: Final = re.compile(
    rf"\b(?:my|our)\b(?:['’]?s?\s+[\w'’-]+){{0,2}}?\s+(?:{_PEOPLE}|{_OWN})(?:['’]?s)?\b", re.IGNORECASE
)
"""What is private of whoever says ``my`` of it."""
_HEALTH: Final = (
    r"blood (?:pressure|sugar|type|test)s?|bp|bmi|diagnos\w+|symptoms?|pregnan\w+|miscarriage|ivf|medications?|medicated|prescri\w+|"
    r"therap(?:y|ist)|psychiatrist|counsell?or|surgery|operation|cancer|chemo\w*|biopsy|tumou?r|diabet\w+|insulin|depress\w+|anxi(?:ety|ous)|"
    r"panic attacks?|adhd|autis\w+|asthma|migraines?|allerg\w+|cholesterol|fever|ill(?:ness)?|disease|infection|rash|std|hiv|"
    r"antidepressants?|antibiotics|sertraline|fluoxetine|lisinopril|metformin|statins?|ibuprofen|paracetamol|amoxicillin|ritalin|xanax|"
    r"discharge letter|lab results?|scan results|x-?ray|mri|ultrasound|hospital|a&e|contracepti\w+|suicid\w+|kill myself|self-harm|"
    r"panic|dyslexi[ac]|coeliac|vegan|muslim|jewish|hindu|catholic|on the spectrum|lump|jab|vaccin\w+|wheelchair|smear|"
    r"weigh|overweight|insomnia|hangover|relapsed?|sober|hurts|aches?|bleeding|vomit\w*|diarrh?oea|chickenpox|covid"
)
_MONEY: Final = (
    r"salary|take[- ]home|net worth|payslip|debts?|in debt|mortgage|overdraft|credit cards?|credit score|alimony|child support|"
    r"maternity|paternity|redundan\w+|laid off|fired|severance|bankrupt\w*|inherit(?:ed|ance)|owes?|owed|earn(?:ed|s)?|afford|"
    r"brokerage|401k|isa|roth|portfolio|savings account|student loans?|bank account|iban"
)
_LIFE: Final = (
    r"divorc\w+|custody|separat(?:ed|ing)|break ?up|broke up|dumped me|cheat(?:ed|ing) on|lonely|crying|cried|grie(?:f|ving)|"
    r"resign\w*|quit(?:ting)? my job|job offer|disciplinary|sacked|twins|anniversary|spare key|tenancy|evict\w*|"
    r"funeral|passed away|arrested|convicted|probation|asylum|visa|immigration|affair|coming out|i live (?:at|in|on)|we live (?:at|in|on)|"
    r"passwords?|passcode|alarm code|door code|gate code|social security|national insurance"
)
_MATTER: Final = re.compile(rf"\b(?:{_HEALTH}|{_MONEY}|{_LIFE})\b", re.IGNORECASE)
"""What is private wherever somebody speaks of themselves in the same clause."""
_PEOPLE_ZH: Final = (
    r"老婆|老公|妻子|丈夫|爱人|愛人|对象|對象|女朋友|男朋友|女友|男友|前任|前女友|前男友|前夫|前妻|未婚[妻夫]|儿子|兒子|女儿|女兒|孩子|小孩|宝宝|寶寶|"
    r"闺女|娃|妈|媽|爸|母亲|母親|父亲|父親|父母|爸妈|姐|妹|哥|弟|爷爷|爺爺|奶奶|外公|外婆|姥姥|姥爷|阿公|阿嬷|阿嬤|岳父|岳母|丈母娘|婆婆|公公|舅|姑|姨|"
    r"表[姐妹哥弟]|堂[姐妹哥弟]|房东|房東"
)
_MATTER_ZH: Final = (
    r"血压|血壓|血糖|血脂|血型|尿酸|生病|病了|[^毛]病(?:情|历|歷|理|假|例)|症状|症狀|吃(?:的)?药|吃藥|的?药|藥|怀孕|懷孕|备孕|備孕|流产|流產|例假|月经|月經|"
    r"姨妈|医生|醫生|手术|手術|住院|复查|複查|化疗|化療|体检|體檢|化验|化驗|过敏|過敏|抑郁|憂鬱|焦虑|焦慮|失眠|心慌|心悸|发烧|發燒|咳嗽|头疼|頭痛|头痛|"
    r"胃疼|胃痛|腰疼|牙疼|痛经|[疼痛]|体重|體重|减肥|減肥|心理咨询|心理諮商|确诊|確診|工资|工資|薪水|月薪|年薪|底薪|收入|年终奖|年終獎|奖金|到手|欠|债|"
    r"債|贷款|貸款|房贷|房貸|车贷|花呗|借呗|房租|租房|租约|租約|押金|存款|存了|积蓄|積蓄|银行|銀行|信用卡|个税|個稅|报税|報稅|社保|公积金|公積金|劳健保|勞健保|"
    r"保险|保險|养老金|退休金|支付宝|支付寶|余额|餘額|理财|股票账户|离婚|離婚|分手|分居|复婚|出轨|抚养|撫養|吵架|被裁|裁员|辞退|開除|开除|失业|失業|"
    r"住址|地址|住在|生日|年龄|年齡|身份证|身分證|护照|護照|签证|簽證|手机号|手機號|电话号|電話號|律师|律師|日记|日記|密码|密碼|账号|帳號|门禁|門禁|"
    r"膝盖|膝蓋|近视|近視|散光|色弱|心跳|体温|體溫|乳糖|瘦了|戒酒|戒烟|戒菸|戒糖|肚子|吃素|信(?:佛|基督|主|教)|[户戶][头頭]|开户行|開戶行|卡尾号|尾號|"
    r"辞职|辭職|离职|離職|跳槽|升职|升職|老板骂|领导骂|领导|老闆|断片|斷片|暗恋|暗戀|表白|相亲|相親|住[^\W\d]{0,10}(?:路|街|号|苑|里|区|村|站|弄|栋)|"
    r"想哭|难受|難受|崩溃|崩潰|想死|自杀|自殺|不想活|户口|戶口|学籍|档案"
)
_MINE_ZH: Final = re.compile(
    rf"(?:[我咱俺]|本人|家里|家裡|自己).{{0,16}}?(?:{_PEOPLE_ZH}|{_MATTER_ZH})|(?:{_MATTER_ZH}).{{0,16}}[我咱俺]"
)
_BARE_ZH: Final = re.compile(
    r"(?:体重|體重|身高|血压|血壓|血糖|体温|發燒|发烧|月薪|年薪|税前|稅前|到手|薪水|工资|房贷|房貸|房租|月租|年终奖|年終獎|公积金|存款|信用卡|贷款|貸款|"
    r"欠)\D{0,8}[\d一二两三四五六七八九十百千万萬]"
    r"|(?:老婆|老公|女朋友|男朋友|儿子|兒子|女儿|女兒|闺女|孩子|宝宝|寶寶|爸妈|前任|丈母娘|婆婆)(?!节|節)(?![的是]?什么)"
    r"|(?:例假|月经|月經|大姨妈)(?:推|来|來|还|還|晚|迟|遲|不)|(?:老是|最近|总是|總是|一直|又).{0,6}(?:失眠|心慌|头疼|頭痛|胃[疼痛]|发烧|發燒|想哭|难受)"
    r"|(?:离婚|離婚|分手|流产|确诊).{0,12}我|(?:离婚协议|離婚協議|体检报告|體檢報告|病理报告|化验单|化驗單|检查报告|租房合同|房租合同|劳动合同|租约)"
)
"""What Chinese says of oneself without a word for it."""
_BARE: Final = re.compile(
    r"\b(?:bmi|weigh(?:t|s|ed)?|salary|insulin|mortgage|rent|blood pressure|bp|blood sugar|overdraft)\b\D{0,20}\d"
    r"|\b(?:got|been|was|just|getting) (?:made redundant|fired|laid off|sacked|dumped|diagnosed|divorced|evicted|mugged)\b"
    r"|\b(?:insulin|metformin|sertraline|lisinopril|ritalin|xanax|statins?|ibuprofen|paracetamol|amoxicillin)\b.{0,20}\b(?:\d|daily|twice|pm|am)"
    r"|\bpanic attacks?\b.{0,12}\bback\b"
    r"|\d{2,3}/\d{2,3}\b.{0,40}\b(?:high|low|bad|normal|bp|pressure)|\b(?:high|low|bad|normal|bp|pressure)\b.{0,20}\b\d{3}/\d{2,3}\b",
    re.IGNORECASE,
)
_GENERAL: Final = re.compile(
    r"\b(?:average|typical|median|minimum|what is an?|how do(?:es)?|in general)\b|平均|一般|普通|通常|最低|起征点|什么是",
    re.IGNORECASE,
)
"""What is asked of people in general."""


def privacy_of(text: str, files: Sequence[str] = ()) -> Privacy:
    """Numbers count only where they can be what they look like: a card's has its check digit, a Chinese id's too."""
    if _KEYS.search(text) or _PASSWORD.search(text) or _PAPERS.search(text) or _holds_number(text):
        return "secret"
    if _CONTACT.search(text) or any(map(_FILE.search, files)) or any(map(_is_own, _CLAUSES.split(text))):
        return "personal"
    return "public"


def _is_own(clause: str) -> bool:
    """Whether somebody speaks of what is theirs. A clause without end is read in pieces."""
    pieces = (clause[at : at + _CLAUSE_CHARS] for at in range(0, len(clause), _CLAUSE_CHARS))
    return any(_is_own_piece(piece) for piece in pieces)


def _is_own_piece(said: str) -> bool:
    if _WHO.search(said) and (_THEIRS.search(said) or _MATTER.search(said) or _MINE_ZH.search(said)):
        return True
    return bool((_BARE.search(said) or _BARE_ZH.search(said)) and not _GENERAL.search(said))


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
