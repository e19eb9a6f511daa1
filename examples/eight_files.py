"""Writes eight CSV files in the proportions of a published load: 71 million rows, or a part of them.

python examples/eight_files.py FOLDER [SCALE]       SCALE 1 is 71 million rows (2.4 GB), the default 0.01
"""

import sys
from pathlib import Path

MILLIONS = (7.35, 7.60, 8.22, 8.69, 9.15, 9.43, 10.03, 10.53)


def main(folder: str, scale: float) -> None:
    place, first = Path(folder), 0
    place.mkdir(parents=True, exist_ok=True)
    for number, millions in enumerate(MILLIONS, 1):
        end = first + round(millions * 1_000_000 * scale)
        with (place / f"lines_{number}.csv").open("w", encoding="ascii") as file:
            file.write("id,name,price\n")
            file.writelines(f"{n},line {n},{n % 9973 / 100:.2f}\n" for n in range(first, end))
        first = end
    print(f"{first:,} rows in {len(MILLIONS)} files in {place}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 0.01)
