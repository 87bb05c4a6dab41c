"""Writes a C file that uses every struct and table of the headers in a folder, for abidiff to compare.

    every_struct.py sdk/include > every.c
"""
import pathlib
import re
import sys

STRUCT = re.compile(r"^typedef struct (tmeter_\w+) \{", re.MULTILINE)

headers = pathlib.Path(sys.argv[1], "tmeter/abi")
names = sorted({name for header in headers.glob("*.h") for name in STRUCT.findall(header.read_text())})
members = "".join(f"  {name} *{name}_;\n" for name in names)
print(f"#include <tmeter/abi/tmeter.h>\nstruct every {{\n{members}}};\n"
      '__attribute__((visibility("default"))) struct every *every(void);\nstruct every *every(void) { return 0; }')
