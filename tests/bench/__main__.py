"""Run the benches that are named (all without a name) and print their tables."""

from __future__ import annotations

import asyncio
import importlib
import sys

NAMES = ("page", "outbox", "render", "seam", "telegram", "tools")


def main() -> int:
    for name in [word for word in sys.argv[1:] if not word.startswith("-")] or NAMES:
        print(f"\n## {name}\n", flush=True)
        asyncio.run(importlib.import_module(f"tests.bench.{name}").run())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
