"""The process in which ddgs searches: a question as JSON comes in, what was found goes out."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any


def searched(question: dict[str, Any]) -> dict[str, Any]:
    """``trouble`` in a word, "" for none; ddgs says in the text of its error alone what went wrong."""
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException, TimeoutException

    search = DDGS(proxy=question["proxy"], timeout=question["seconds"], verify=question["verify"])
    try:
        found = search.text(
            question["words"],
            region=question["region"],
            timelimit=question["timelimit"],
            max_results=question["most"],
        )
    except TimeoutException:
        return {"trouble": "unreachable"}
    except DDGSException as error:
        if "No results found" in str(error):
            return {"trouble": "", "found": []}
        return {"trouble": "unreachable" if "onnect" in str(error) or "dns" in str(error).lower() else "failed"}
    return {"trouble": "", "found": found}


def main() -> None:
    logging.disable()
    answer = searched(json.loads(sys.stdin.buffer.read()))
    sys.stdout.buffer.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main()
