"""Why YAML cannot be read, in words for someone who does not know YAML. Never quotes what stands in the file."""

from __future__ import annotations

import re

import yaml

_HAS_KEY = re.compile(r"^\s*(- )*(\"[^\"]*\"|'[^']*'|[^\s'\"#][^#]*?)\s*:(\s|$)")
_NO_SPACE = "this line does not read as `key: value`; a colon followed by a space is missing"
_UNCLOSED = "a quote (\" or ') is opened here and not closed on this line"
_INDENTED = "the indentation does not fit the lines above"


def explain(error: yaml.YAMLError, text: str, last_quoted: yaml.ScalarEvent | None) -> tuple[int, str]:
    """The line to look at and a sentence. ``last_quoted`` is the last quoted text that was read without trouble."""
    if isinstance(error, yaml.reader.ReaderError):
        return text.count("\n", 0, int(error.position)) + 1, "an invisible control character stands here; delete it"
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return 1, "this is not YAML"
    problem, context = error.problem or "", error.context or ""
    line = error.problem_mark.line + 1
    begun = error.context_mark.line + 1 if error.context_mark else line
    if context.startswith("while scanning"):
        return _scanning(context, problem, line, begun)
    if "flow" in context:
        if problem.endswith("got '{'"):
            return line, "inside [ ] and { } a value with ${…} must be quoted"
        return begun, "a bracket or brace is opened here and not closed, or a comma is missing in it"
    if "mapping values" in problem:
        return _stray_colon(text, line, error.problem_mark.column)
    if "document start" in problem:
        return line, "a second document begins here; only one is read"
    return _structure(problem, line, last_quoted)


def _scanning(context: str, problem: str, line: int, begun: int) -> tuple[int, str]:
    if "\\t" in problem:
        return line, "a tab character stands here; YAML wants spaces"
    if "simple key" in context:
        return begun, _NO_SPACE
    if "alias" in context or "anchor" in context:
        sign = "*" if "alias" in context else "&"
        return begun, f'what begins with {sign} must be quoted: "{sign}"'
    if "escape" in problem or "expected escape" in problem:
        return line, "in double quotes a backslash must be doubled (\\\\); single quotes take it as it is"
    if "quoted" in context:
        return begun, _UNCLOSED
    if "cannot start" in problem:
        sign = problem.removeprefix("found character '")[:1]
        return line, f"a value that begins with {sign} must be quoted"
    if "block scalar" in context:
        return line, "after | or > the text begins on the next line; to write the sign itself, quote the value"
    if "tag" in context or "directive" in context:
        return begun, "a value that begins with ! or % must be quoted"
    return line, "this is not YAML"


def _stray_colon(text: str, line: int, column: int) -> tuple[int, str]:
    lines = text.splitlines()
    if _HAS_KEY.match(lines[line - 1][:column]):
        return line, "a value with a colon before a space or at its end must be quoted"
    for above in range(line - 2, -1, -1):
        stripped = lines[above].strip()
        if stripped and not stripped.startswith("#"):
            if not _HAS_KEY.match(lines[above]) and not stripped.startswith("-"):
                return above + 1, _NO_SPACE
            break
    return line, "this line is indented further than the one above it, which already has a value"


def _structure(problem: str, line: int, last_quoted: yaml.ScalarEvent | None) -> tuple[int, str]:
    if "'<scalar>'" in problem:
        begun, ended = (last_quoted.start_mark, last_quoted.end_mark) if last_quoted else (None, None)
        if begun and ended and ended.line + 1 == line:
            first = begun.line + 1
            return first, _UNCLOSED if first < line else "text stands after the closing quote"
        return line, "this text belongs to no key"
    if "']'" in problem or "'}'" in problem:
        return line, "a bracket or brace is closed here that was not opened"
    if "'-'" in problem or "'?'" in problem:
        return line, f"{_INDENTED}: entries of a list (- …) and keys cannot be mixed in one place"
    return line, _INDENTED
