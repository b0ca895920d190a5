"""What TeX's commands take and what they are: the part of its language that a formula in an answer uses."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bot.outbox.formula.tree import Kind  # the tree is of no use to an answer without formulas


def listed(words: str) -> frozenset[str]:
    """The words of one string, as a set."""
    return frozenset(words.split())


ARGUMENTS: Final[dict[str, str]] = {
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac", "binom", "dbinom", "tbinom"), "{{"),
    **dict.fromkeys(("overset", "underset", "stackrel", "textcolor", "braket"), "{{"),
    **dict.fromkeys(("sqrt", "xrightarrow", "xleftarrow", "xleftrightarrow", "xRightarrow"), "[{"),
    "braket": "{",
    "operatorname": "*{",
}
"""In the notation of pylatexenc: "{" one argument, "[" an optional one, "*" an optional star. See also ``SINGLE``."""

TEXTS: Final = listed("text textrm textnormal textbf textit textsf texttt textup mbox hbox")
UPRIGHT: Final = listed("mathrm rm mathup")
ALPHABETS: Final = {
    "mathbb": "DOUBLE-STRUCK",
    "Bbb": "DOUBLE-STRUCK",
    "mathbf": "BOLD",
    "boldsymbol": "BOLD",
    "bm": "BOLD",
    "pmb": "BOLD",
    "mathcal": "SCRIPT",
    "mathscr": "SCRIPT",
    "mathfrak": "FRAKTUR",
    "mathsf": "SANS-SERIF",
    "mathtt": "MONOSPACE",
    "mathit": "",
    "mathnormal": "",
}
ACCENTS: Final = {
    "hat": "\u0302",
    "widehat": "\u0302",
    "bar": "\u0304",
    "overline": "\u0305",
    "vec": "\u20d7",
    "overrightarrow": "\u20d7",
    "overleftarrow": "\u20d6",
    "dot": "\u0307",
    "ddot": "\u0308",
    "dddot": "\u20db",
    "tilde": "\u0303",
    "widetilde": "\u0303",
    "check": "\u030c",
    "breve": "\u0306",
    "acute": "\u0301",
    "grave": "\u0300",
    "underline": "\u0332",
    "overbrace": "",
    "underbrace": "",
}
"""The combining character that stands for each; braces have none."""
FENCES: Final = {"abs": ("|", "|"), "norm": ("‖", "‖"), "ket": ("|", "⟩"), "bra": ("⟨", "|"), "braket": ("⟨", "⟩")}
FRAMES: Final = {"boxed": "boxed", "fbox": "boxed", "cancel": "cancel", "bcancel": "cancel", "xcancel": "cancel"}
TRANSPARENT: Final = listed("mathop mathbin mathrel mathord mathopen mathclose mathpunct ensuremath smash")
"""Their argument is all that is seen of them."""
UNSEEN: Final = listed("label phantom vphantom hphantom")
"""Nothing is seen of their argument."""
SINGLE: Final = frozenset(
    (
        *(*TEXTS, *(UPRIGHT - {"rm"}), *ALPHABETS, *ACCENTS, *FENCES, *FRAMES, *TRANSPARENT, *UNSEEN),
        *("pmod", "pod", "tag", "ce", "substack", "not", "hspace", "color"),
    )
)
"""Commands with one argument."""
IGNORED: Final = listed(
    "displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits nonumber notag big Big bigg Bigg bigl bigr Bigl "
    "Bigr biggl biggr Biggl Biggr bigm Bigm middle mathstrut strut allowbreak nobreak rm bf it hfill centering noindent"
)
FUNCTIONS: Final = listed(
    "sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh coth sech csch arcsinh arccosh arctanh exp log ln lg "
    "det dim ker deg arg gcd lcm hom Pr lim limsup liminf max min sup inf argmax argmin sgn sign tr Tr rank erf mod"
)
LIMITS: Final = listed("lim limsup liminf max min sup inf argmax argmin det gcd Pr")
"""Functions whose lower script says over what they go."""
SPACES: Final = {
    ",": 0.17,
    "thinspace": 0.17,
    ":": 0.22,
    ">": 0.22,
    ";": 0.28,
    " ": 0.28,
    "\n": 0.28,
    "\t": 0.28,
    "space": 0.28,
    "~": 0.28,
    "enspace": 0.5,
    "enskip": 0.5,
    "quad": 1.0,
    "qquad": 2.0,
    "!": 0.0,
    "/": 0.0,
    "negthinspace": 0.0,
}
"""Their widths in em."""

SYMBOLS: Final = {
    **{name: name for name in "{}%$&#_"},
    "|": "‖",
    "lbrack": "[",
    "rbrack": "]",
    "lbrace": "{",
    "rbrace": "}",
    "backslash": "\\",
    "colon": ":",
    "vert": "|",
    "lvert": "|",
    "rvert": "|",
    "mid": "|",
    "prime": "′",
    "hbar": "ℏ",
    "land": "∧",
    "lor": "∨",
    "neg": "¬",
    "ne": "≠",
    "gets": "←",
    "iff": "⟺",
    "implies": "⟹",
    "impliedby": "⟸",
    "leadsto": "⇝",
    "bot": "⊥",
    "models": "⊨",
    "ddagger": "‡",
    "coloneqq": "≔",
    "degree": "°",
    "Re": "ℜ",
    "Im": "ℑ",
    "owns": "∋",
    "bigoplus": "⨁",
    "bigotimes": "⨂",
    "dotsc": "…",
    "dotsb": "⋯",
    "dotso": "…",
    "blacksquare": "■",
    "checkmark": "✓",
    "nparallel": "∦",
    "qed": "∎",
    "lt": "<",
    "gt": ">",
    "omicron": "ο",
    "imath": "ı",
    "jmath": "ȷ",
    "upsilon": "υ",
    "complement": "∁",
    "doteq": "≐",
    "bowtie": "⋈",
    "asymp": "≍",
    "dashv": "⊣",
    "hookrightarrow": "↪",
    "rightharpoonup": "⇀",
    "triangle": "△",
    "bigtriangleup": "△",
    "Box": "□",
    "Diamond": "◇",
    "bigstar": "★",
    "vDash": "⊨",
    "varpropto": "∝",
    "thickapprox": "≈",
    "nsim": "≁",
    "bigsqcup": "⨆",
    "biguplus": "⨄",
    "infin": "∞",
    "empty": "∅",
    **dict(zip("NZQRC", "ℕℤℚℝℂ", strict=True)),
    "S": "§",
    "pounds": "£",
    "euro": "€",
    "yen": "¥",
}
"""Signs that the library's own table has not, or has otherwise."""

RELATIONS: Final = listed("mid perp nmid")
"""Signs that are something else by other names."""

TABLES: Final = {
    **dict.fromkeys(("matrix", "smallmatrix"), ("", "", "r")),
    "pmatrix": ("(", ")", "r"),
    "bmatrix": ("[", "]", "r"),
    "Bmatrix": ("{", "}", "r"),
    "vmatrix": ("|", "|", "r"),
    "Vmatrix": ("‖", "‖", "r"),
    **dict.fromkeys(("cases", "dcases"), ("{", "", "l")),
    "rcases": ("", "}", "l"),
    "array": ("", "", "c"),
    **dict.fromkeys(("aligned", "align", "split", "alignat", "alignedat", "flalign"), ("", "", "rl")),
    "eqnarray": ("", "", "rcl"),
    **dict.fromkeys(("gathered", "gather", "equation", "multline", "math", "displaymath"), ("", "", "l")),
}
"""Environments, the fences around them and the sides of their columns."""
ALIGNED: Final = listed("aligned align split alignat alignedat flalign eqnarray")
COLUMNED: Final = listed("array alignat alignedat")
"""Environments whose first argument speaks of columns."""

BIG: Final = frozenset("∑∏∐∫∬∭∮∯∰⋃⋂⨁⨂⨀⋁⋀⨆⨅⨄")
INTEGRALS: Final = frozenset("∫∬∭∮∯∰")
SOFT: Final = frozenset("+−±∓")
"""What may stand before a number as its sign."""
BINARY: Final = SOFT | frozenset("×÷·⋅*∗⋆∘∙∪∩∖∧∨⊕⊖⊗⊘⊙⊎⊔⊓∔⊞⊟⊠⋊⋉⨯▷◁†‡/")
OPENING: Final = frozenset("([{⟨⌊⌈⟦")
CLOSING: Final = frozenset(")]}⟩⌋⌉⟧")
BARS: Final = frozenset("|‖")
_ORDINARY: Final = frozenset("∂∇∞∀∃∄∅¬∁∠∡√∆⊤⊥′℧⅁∎⋯⋮⋱")
_POSTFIX: Final = frozenset("!%°′″‴")


def kind_of(char: str) -> Kind:
    """What a single character is in a formula."""
    for kind, chars in _KINDS:
        if char in chars:
            return kind
    if char in _ORDINARY:
        return "letter"
    category = unicodedata.category(char)
    if category == "Nd":
        return "number"
    if category == "Sm" or "\u2190" <= char <= "\u21ff" or "\u27f0" <= char <= "\u297f":
        return "relation"
    return "letter"


_KINDS: Final[tuple[tuple[Kind, frozenset[str]], ...]] = (
    ("big", BIG),
    ("binary", BINARY),
    ("open", OPENING),
    ("close", CLOSING),
    ("fence", BARS),
    ("comma", frozenset(",;:.?，；：。、")),
    ("postfix", _POSTFIX),
)
