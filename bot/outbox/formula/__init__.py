"""Formulas in TeX: read once, then written as lines of a chat or, by the page, as MathML."""
