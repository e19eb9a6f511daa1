"""Write five small C projects, each with a Makefile, for `examples/five-builds.toml`.

python3 examples/five_builds.py FOLDER
"""

import sys
from pathlib import Path

BUILDS, FILES, FUNCTIONS = "abcde", 4, 20

SOURCE = """
#include <stdio.h>
{functions}
int file_{number}(int x) {{ return {calls}; }}
"""
FUNCTION = "static int f{at}(int x) {{ int i, s = {at}; for (i = 0; i < x; i++) s += i * {at} ^ x; return s; }}"
MAIN = """
{declared}
int main(void) {{ return ({calls}) & 1; }}
"""
MAKEFILE = "all: prog\nprog: {objects} main.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -O2 -c -o $@ $<\n"


def main() -> None:
    for name in BUILDS:
        folder = Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(FILES):
            functions = "\n".join(FUNCTION.format(at=at) for at in range(1, FUNCTIONS))
            calls = " + ".join(f"f{at}(x)" for at in range(1, FUNCTIONS))
            text = SOURCE.format(functions=functions, number=number, calls=calls)
            (folder / f"file_{number}.c").write_text(text, encoding="utf-8")
        declared = "\n".join(f"int file_{number}(int x);" for number in range(FILES))
        calls = " + ".join(f"file_{number}(9)" for number in range(FILES))
        (folder / "main.c").write_text(MAIN.format(declared=declared, calls=calls), encoding="utf-8")
        objects = " ".join(f"file_{number}.o" for number in range(FILES))
        (folder / "Makefile").write_text(MAKEFILE.format(objects=objects), encoding="utf-8")


if __name__ == "__main__":
    main()
