"""A long answer with everything in it, and what must be seen of it."""

from __future__ import annotations

from collections.abc import Sequence

LONG = "\n\n".join(
    f"""## Chapter {n}

{"plain words go on " * 40}**bold {n}** and `code {n}` 👩‍👩‍👧 {n}.

- one {n}
  - two {n} 中文也在这里，第{n}项
1. first {n}

| name | value |
|---|---|
| row {n} | {n * n} |

> quoted {n} مرحبا بالعالم

```python
def f{n}(x):
    return x ** {n}  # **not bold**
```"""
    for n in range(22)
)


def whole(shown: Sequence[str]) -> None:
    """Every piece of ``LONG`` stands in the messages, once."""
    text = "\n".join(shown)
    for n in range(22):
        for once in (
            f"Chapter {n}\n",
            f"bold {n} and code {n} 👩‍👩‍👧 {n}.",
            f"one {n}\n",
            f"第{n}项",
            f"quoted {n} مرحبا",
            f"def f{n}(x)",
        ):
            assert text.count(once) == 1, once
    assert text.count("plain words go on") == 22 * 40 and text.count("# **not bold**") == 22
