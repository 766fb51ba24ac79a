"""Draw the cover of the example story: `python examples/draw_cover.py examples/story/cover.png`.

A lighthouse at night, and a moon that is a clock. Standard library only; the picture is in the repository, so
that its bytes don't depend on the zlib at hand.
"""

from __future__ import annotations

import math
import struct
import sys
import zlib
from pathlib import Path

SIZE = 800
HORIZON = 640
MOON_X, MOON_Y, MOON_RADIUS = 300, 300, 190
TOWER_X = 610

CREAM = (246, 236, 208)
INK = (38, 46, 66)
LAMP = (255, 214, 120)

Colour = tuple[int, int, int]


def blend(under: Colour, over: Colour, amount: float) -> Colour:
    amount = min(1.0, max(0.0, amount))
    return (
        round(under[0] + (over[0] - under[0]) * amount),
        round(under[1] + (over[1] - under[1]) * amount),
        round(under[2] + (over[2] - under[2]) * amount),
    )


def distance_to_line(x: float, y: float, x0: float, y0: float, x1: float, y1: float) -> float:
    along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2)
    along = min(1.0, max(0.0, along))
    return math.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0))


def spoke(turn: float, inner: float, outer: float) -> tuple[float, float, float, float]:
    """A line from the moon's middle outwards, `turn` of the way round from the top."""
    sine, cosine = math.sin(turn * math.tau), -math.cos(turn * math.tau)
    return MOON_X + inner * sine, MOON_Y + inner * cosine, MOON_X + outer * sine, MOON_Y + outer * cosine


# (line, half its width): twelve strokes for the hours, then the hands at ten minutes past ten.
STROKES = [(spoke(hour / 12, 150, 170), 4.0 if hour % 3 == 0 else 2.0) for hour in range(12)]
STROKES += [(spoke(61 / 72, -18, 88), 5.0), (spoke(1 / 6, -24, 132), 3.5)]


def paint_sky(y: float) -> Colour:
    return blend((22, 30, 58), (112, 122, 150), y / HORIZON)


def paint_moon(colour: Colour, x: float, y: float) -> Colour:
    distance = math.hypot(x - MOON_X, y - MOON_Y)
    if distance > MOON_RADIUS + 1:
        return colour
    colour = blend(colour, CREAM, MOON_RADIUS - distance + 0.5)
    nearest = min(distance_to_line(x, y, *line) - half for line, half in STROKES)
    return blend(colour, INK, 0.5 - nearest)


def paint_sea(x: float, y: float) -> Colour:
    depth = (y - HORIZON) / (SIZE - HORIZON)
    ripple = math.sin(y * 0.55) * max(0.0, 0.5 - abs(x - MOON_X) / (260 + 300 * depth))
    return blend(blend((52, 64, 98), (20, 27, 52), depth), CREAM, ripple * 0.8)


def paint_tower(colour: Colour, x: float, y: float) -> Colour:
    off = abs(x - TOWER_X)
    if 300 <= y <= 720:  # the shaft, wider below, with one red band
        shade = (176, 88, 74) if 430 <= y < 510 else (232, 232, 236)
        colour = blend(colour, blend(shade, INK, (x - TOWER_X + 40) / 150), 26 + (y - 300) * 0.05 - off + 0.5)
    if 286 <= y < 300:  # the gallery
        colour = blend(colour, INK, 40.5 - off)
    if 244 <= y < 286:  # the lamp room
        colour = blend(colour, LAMP, 20.5 - off)
    if 214 <= y < 244:  # the roof
        colour = blend(colour, INK, (y - 214) * 0.9 + 0.5 - off)
    rock = math.hypot(off / 200, (y - SIZE) / 110)
    return blend(colour, INK, (1 - rock) * 110 + 0.5)


def paint(x: int, y: int) -> Colour:
    colour = paint_moon(paint_sky(y), x, y) if y < HORIZON else paint_sea(x, y)
    return paint_tower(colour, x + 0.5, y + 0.5)


def write_png(rows: list[bytes], path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", SIZE, len(rows), 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


if __name__ == "__main__":
    write_png([bytes(value for x in range(SIZE) for value in paint(x, y)) for y in range(SIZE)], Path(sys.argv[1]))
