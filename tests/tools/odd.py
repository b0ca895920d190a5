"""A process that does what it is asked to: hang, or tell its environment."""

from __future__ import annotations

import json
import os
import sys
import time

if __name__ == "__main__":
    if sys.stdin.read(4) == "hang":
        time.sleep(600)
    print(json.dumps(dict(os.environ)))
