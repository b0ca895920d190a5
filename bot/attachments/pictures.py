"""Pictures as models take them: upright, not too large, still, without what a camera wrote into them. Runs in the child
process only."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Final

LONG_SIDE_PIXELS: Final = 1568
"""Beyond it Anthropic scales down by itself (its vision guide), and other vendors see no more either."""
MOST_BYTES: Final = 3 * 1024 * 1024
MOST_PIXELS: Final = 50_000_000
"""What is unpacked at once; a JPEG may be larger, because it can be unpacked at a smaller size."""
_QUALITIES: Final = (85, 70, 50)
_MOVING: Final = ("GIF", "PNG", "WEBP", "AVIF")


class TooManyPixels(Exception):
    pass


def shrunken(path: Path) -> tuple[bytes, bool]:
    """The picture as a JPEG of at most ``MOST_BYTES``, and whether it is the first of several that move.

    Raises ``TooManyPixels``, and whatever Pillow raises for a damaged or unknown file.
    """
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # looked at below, where a JPEG may be larger
    with Image.open(path) as image:
        moves = image.format in _MOVING and bool(getattr(image, "is_animated", False))
        image.draft("RGB", (LONG_SIDE_PIXELS, LONG_SIDE_PIXELS))
        if image.width * image.height > MOST_PIXELS:
            raise TooManyPixels
        image.thumbnail((LONG_SIDE_PIXELS, LONG_SIDE_PIXELS), reducing_gap=2.0)
        upright = ImageOps.exif_transpose(image)
        if upright.has_transparency_data:
            upright = upright.convert("RGBA")
            paper = Image.new("RGBA", upright.size, "white")
            paper.alpha_composite(upright)
            upright = paper
        flat = upright.convert("RGB")
    for quality in _QUALITIES:
        out = io.BytesIO()
        flat.save(out, "JPEG", quality=quality)
        if out.tell() <= MOST_BYTES:
            break
    return out.getvalue(), moves
