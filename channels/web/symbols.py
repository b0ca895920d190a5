"""TeX's named symbols and the characters they stand for, sorted by how a formula spaces them."""

from __future__ import annotations

from typing import Final


def _table(pairs: str) -> dict[str, str]:
    words = pairs.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def listed(words: str) -> frozenset[str]:
    """The words of one string, as a set."""
    return frozenset(words.split())


LETTERS: Final = _table(
    "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ "
    "mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ "
    "psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω "
    "infty ∞ partial ∂ nabla ∇ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ emptyset ∅ varnothing ∅ angle ∠ degree ° imath ı jmath ȷ "
    "top ⊤ bot ⊥ wp ℘ dots … ldots … cdots ⋯ vdots ⋮ ddots ⋱ triangle △ square □ blacksquare ■ prime ′ checkmark ✓"
)
"""Set as identifiers."""

OPERATORS: Final = _table(
    "times × cdot ⋅ div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet ∙ oplus ⊕ ominus ⊖ otimes ⊗ odot ⊙ wedge ∧ land ∧ vee ∨ "
    "lor ∨ neg ¬ lnot ¬ cap ∩ cup ∪ setminus ∖ le ≤ leq ≤ leqslant ⩽ ge ≥ geq ≥ geqslant ⩾ ne ≠ neq ≠ approx ≈ equiv ≡ "
    "cong ≅ sim ∼ simeq ≃ propto ∝ ll ≪ gg ≫ prec ≺ succ ≻ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ "
    "mid ∣ nmid ∤ parallel ∥ perp ⟂ forall ∀ exists ∃ nexists ∄ to → rightarrow → leftarrow ← leftrightarrow ↔ gets ← "
    "Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⟹ impliedby ⟸ iff ⟺ mapsto ↦ uparrow ↑ downarrow ↓ "
    "longrightarrow ⟶ longleftarrow ⟵ hookrightarrow ↪ rightharpoonup ⇀ leadsto ⇝ models ⊨ vdash ⊢ dashv ⊣ "
    "therefore ∴ because ∵ colon : vert | Vert ‖ doteq ≐ triangleq ≜ coloneqq ≔ asymp ≍ bowtie ⋈ "
    "lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ langle ⟨ rangle ⟩ lvert | rvert | lVert ‖ rVert ‖ lbrace { rbrace } lbrack [ "
    "rbrack ] backslash \\"
)
"""Set as operators, fences included."""

BIG: Final = _table(
    "sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂ bigvee ⋁ bigwedge ⋀ int ∫ iint ∬ iiint ∭ oint ∮"
)
"""Large operators that carry limits."""

INTEGRALS: Final = frozenset({"int", "iint", "iiint", "oint"})
"""Their limits stand beside them."""

FUNCTIONS: Final = listed(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth exp log ln lg det dim ker deg arg gcd hom Pr "
    "lim limsup liminf max min sup inf argmax argmin"
)
UNDER: Final = listed("lim limsup liminf max min sup inf argmax argmin det gcd Pr")
"""Functions whose lower script stands below them in a displayed formula."""

ACCENTS: Final = {
    "hat": "^",
    "widehat": "^",
    "bar": "¯",
    "overline": "¯",
    "vec": "→",
    "overrightarrow": "→",
    "dot": "˙",
    "ddot": "¨",
    "tilde": "~",
    "widetilde": "~",
    "check": "ˇ",
    "breve": "˘",
    "overbrace": "⏞",
}
UNDERS: Final = {"underline": "_", "underbrace": "⏟"}

SPACES: Final = {
    ",": "0.17em",
    ":": "0.22em",
    ";": "0.28em",
    "!": "-0.17em",
    " ": "0.28em",
    "quad": "1em",
    "qquad": "2em",
    "enspace": "0.5em",
    "thinspace": "0.17em",
}

TABLES: Final = {
    "matrix": ("", ""),
    "smallmatrix": ("", ""),
    "pmatrix": ("(", ")"),
    "bmatrix": ("[", "]"),
    "Bmatrix": ("{", "}"),
    "vmatrix": ("|", "|"),
    "Vmatrix": ("‖", "‖"),
    "cases": ("{", ""),
    "array": ("", ""),
    "aligned": ("", ""),
    "align": ("", ""),
    "split": ("", ""),
    "gathered": ("", ""),
    "gather": ("", ""),
    "equation": ("", ""),
    "alignat": ("", ""),
}
"""Environments and the fences around them."""
LEFT: Final = frozenset({"cases", "array"})
ALIGNED: Final = frozenset({"aligned", "align", "split", "alignat"})

ALPHABETS: Final = {
    "mathbb": "double-struck",
    "mathbf": "bold",
    "boldsymbol": "bold-italic",
    "bm": "bold-italic",
    "mathcal": "script",
    "mathscr": "script",
    "mathfrak": "fraktur",
    "mathsf": "sans-serif",
    "mathtt": "monospace",
}

_STARTS: Final = {
    "double-struck": (0x1D538, 0x1D552, 0x1D7D8),
    "bold": (0x1D400, 0x1D41A, 0x1D7CE),
    "bold-italic": (0x1D468, 0x1D482, 0x1D7CE),
    "script": (0x1D49C, 0x1D4B6, 0),
    "fraktur": (0x1D504, 0x1D51E, 0),
    "sans-serif": (0x1D5A0, 0x1D5BA, 0x1D7E2),
    "monospace": (0x1D670, 0x1D68A, 0x1D7F6),
}
_ELSEWHERE: Final = {
    "double-struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
    "script": dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True)),
    "fraktur": dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True)),
}
"""Letters that Unicode had before it had the alphabets."""


def styled(text: str, alphabet: str) -> str:
    """``text`` with its Latin letters and digits taken from a mathematical alphabet of Unicode."""
    upper, lower, digit = _STARTS[alphabet]
    elsewhere = _ELSEWHERE.get(alphabet, {})
    out = []
    for char in text:
        if char in elsewhere:
            out.append(elsewhere[char])
        elif "A" <= char <= "Z":
            out.append(chr(upper + ord(char) - 65))
        elif "a" <= char <= "z":
            out.append(chr(lower + ord(char) - 97))
        elif digit and "0" <= char <= "9":
            out.append(chr(digit + ord(char) - 48))
        else:
            out.append(char)
    return "".join(out)
