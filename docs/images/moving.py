"""Joins frames into a moving picture: `moving.py FOLDER PICTURE.webp`.

An animated WebP without loss, of which each frame holds what has changed. The colours are cut down
to what the picture needs, as every shade of an edge takes room.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

SHOWN = 220
"""Milliseconds that a frame is shown."""
LAST = 2500
"""Milliseconds that the last one stays."""
COLOURS = 160
MOST = 500_000
"""Most bytes of the picture: a page that shows it is to open at once."""


def main(folder: Path, picture: Path) -> None:
    """Join the frames of a folder, in the order of their names."""
    frames = [Image.open(path).convert("RGB") for path in sorted(folder.glob("*.png"))]
    # One palette for all, of the last frame, which has everything in it: what stays, stays equal.
    palette = frames[-1].quantize(COLOURS, dither=Image.Dither.NONE)
    plain = [
        frame.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB") for frame in frames
    ]
    durations = [SHOWN] * (len(plain) - 1) + [LAST]
    plain[0].save(
        picture,
        save_all=True,
        append_images=plain[1:],
        duration=durations,
        loop=0,
        lossless=True,
        method=4,
        minimize_size=True,
    )
    size = picture.stat().st_size
    print(f"{picture}: {len(plain)} frames, {size // 1000} kB")
    if size > MOST:
        sys.exit(f"{picture} takes {size} bytes; allowed are {MOST}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
