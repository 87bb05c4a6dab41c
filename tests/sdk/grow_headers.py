"""Makes the SDK's headers of an imaginary later minor version: every struct that may grow (docs/abi.md) has two more members.

    grow_headers.py SDK_INCLUDE OUTPUT

A host compiled with them treats current plugins as a host of 1.9 would treat those of 1.0. The current host treats a plugin
compiled with them as a newer plugin. In C++ and with -DGROWN_GARBAGE the new members are garbage from the start.
"""
import pathlib
import re
import sys

STRUCT = re.compile(r"(typedef struct (\w+) \{[^\n]*\n\s*uint32_t struct_size;.*?)(\n\} \2;)", re.DOTALL)
MORE = """
#ifdef GROWN_GARBAGE
  uint64_t grown_number = 0xdddddddddddddddd;
  void (*grown_function)(void) = reinterpret_cast<void (*)(void)>(0xdddddddd);
#else
  uint64_t grown_number;
  void (*grown_function)(void);
#endif"""


def grow(text):
    """The text with more members at the end of each struct that begins with struct_size, and the number of such structs."""
    return STRUCT.subn(lambda m: m[1] + MORE + m[3], text)


def main():
    source, output = map(pathlib.Path, sys.argv[1:])
    structs = 0
    for path in sorted(source.rglob("*.h*")):
        text = path.read_text()
        if path.suffix == ".h" and "draft" not in path.parts:  # drafts give no guarantees
            text, count = grow(text)
            structs += count
        target = output / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    listed = (source / "tmeter" / "abi" / "sizes.h").read_text().count("#define TMETER_LAST_1_")
    assert structs == listed, f"{structs} structs begin with struct_size, sizes.h lists {listed}"


if __name__ == "__main__":
    main()
