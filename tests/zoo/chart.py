"""Draws zoo.csv: tmeter's MACs over those of the reference, both logarithmic, as SVG without a library.

    python3 tests/zoo/chart.py docs/dev/zoo.csv docs/dev/zoo.svg
"""
import csv
import html
import math
import sys
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 480, 64, 16, 16, 48
PREFIXES = {6: "1 M", 7: "10 M", 8: "100 M", 9: "1 G", 10: "10 G", 11: "100 G", 12: "1 T", 13: "10 T"}
COLORS = {"torchvision": "#c2410c", "timm": "#1d4ed8", "transformers": "#15803d"}


def points(table):
    """(model, reference, ours) of the files that have both."""
    return [(row["model"], int(row["reference_macs"]), int(row["macs"])) for row in table if int(row["reference_macs"] or 0) and int(row["macs"] or 0)]


def svg(table):
    found = points(table)
    low = math.floor(math.log10(min(min(p[1:]) for p in found)))
    high = math.ceil(math.log10(max(max(p[1:]) for p in found)))

    def x(value):
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(value):
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    least, most = 10**low, 10**high
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<line x1="{x(least):.1f}" y1="{y(least):.1f}" x2="{x(most):.1f}" y2="{y(most):.1f}" stroke="#999"/>']
    for power in range(low, high + 1):
        label, at = PREFIXES.get(power, f"1e{power}"), 10**power
        lines += [f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{label}</text>',
                  f'<text x="{LEFT - 8}" y="{y(at) + 4:.1f}" text-anchor="end">{label}</text>',
                  f'<line x1="{x(at):.1f}" y1="{TOP}" x2="{x(at):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#eee"/>',
                  f'<line x1="{LEFT}" y1="{y(at):.1f}" x2="{WIDTH - RIGHT}" y2="{y(at):.1f}" stroke="#eee"/>']
    for model, reference, ours in found:
        color = COLORS[model.split("/")[0]]
        lines.append(f'<circle cx="{x(reference):.1f}" cy="{y(ours):.1f}" r="2.5" fill="{color}" fill-opacity="0.6"/>')
        if ours > 1.05 * reference:
            name = html.escape(model.split("/")[1])
            lines.append(f'<text x="{x(reference) - 6:.1f}" y="{y(ours) - 4:.1f}" text-anchor="end" font-size="10">{name}</text>')
    lines += [f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">MACs by FlopCounterMode</text>',
              f'<text transform="translate(12 {HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">MACs by tmeter</text>']
    for number, (library, color) in enumerate(COLORS.items()):
        lines.append(f'<text x="{LEFT + 12}" y="{TOP + 16 + 16 * number}" fill="{color}">● {library}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main():
    table, output = map(Path, sys.argv[1:])
    with table.open(newline="") as file:
        output.write_text(svg(list(csv.DictReader(file))))


if __name__ == "__main__":
    main()
