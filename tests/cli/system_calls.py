"""The system calls that core/process/system_calls.hpp permits, read from the source. Tests compare them with the kernel
and the documentation."""
import re
import subprocess
import tempfile
import pathlib

from support import SOURCE

TABLE = SOURCE / "core" / "process" / "system_calls.hpp"
RIGHTS = {"kEveryProcess": "", "kNetworkRight": "network", "kFilesRight": "files", "kProcessesRight": "processes",
          "kThreadsRight": "threads", "kInferenceRight": "--inference", "kCountersRight": "--profile",
          "kDevicesRight": "--device cuda"}


def rights_of(text):
    return tuple(RIGHTS[word.strip()] for word in text.split("|"))


def strings(text):
    return "".join(re.findall(r'"([^"]*)"', text))


def permitted():
    """[(rights, reason, [call])] of kPermittedCalls, and [(call, rights, reason)] of kCheckedCalls."""
    source = TABLE.read_text()
    lists = {name: re.findall(r"SYS_(\w+)", body) for name, body in re.findall(r"constexpr int (k\w+)\[\] = \{(.*?)\};", source, re.S)}
    groups = source[source.index("kPermittedCalls[] = {"):source.index("/// (an argument & mask)")]
    rows = [(rights_of(rights), strings(reason), lists[name]) for rights, reason, name in
            re.findall(r"\{([\w |]+),\s*((?:\"[^\"]*\"\s*)+),\s*calls::(k\w+)\}", groups)]
    checked = source[source.index("kCheckedCalls[] = {"):]
    single = [(call, rights_of(rights), strings(reason)) for call, rights, reason in
              re.findall(r"\{SYS_(\w+),\s*([\w |]+),\s*((?:\"[^\"]*\"\s*)+),\s*arguments::k\w+\}", checked)]
    assert len(rows) == groups.count("calls::k") and len(single) == checked.count("{SYS_"), "a row of the table was not understood"
    return rows, single


def numbers_of(names):
    """{number: name} on this machine."""
    lines = "".join(f'#ifdef SYS_{n}\nprintf("%d {n}\\n", SYS_{n});\n#endif\n' for n in sorted(names))
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "n.c", pathlib.Path(folder) / "n"
        source.write_text(f"#include <stdio.h>\n#include <sys/syscall.h>\nint main(void) {{\n{lines}return 0;\n}}\n")
        subprocess.run(["cc", "-o", program, source], check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=True)
    return {int(line.split()[0]): line.split()[1] for line in done.stdout.splitlines()}


def documented():
    """The same as `permitted`, read from the tables of docs/reliability.md."""
    text = (SOURCE / "docs" / "reliability.md").read_text()
    part = text[text.index("### The system calls of a worker"):]
    part = part[:part.index("\n#", 4)]
    rows, single = [], []
    for line in part.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0].startswith(("-", "for", "call")):
            continue
        rights = tuple(w.strip().strip("`") for w in cells[-1].split(" or ")) if cells[-1] != "every run" else ("",)
        names = re.findall(r"`(\w+)`", cells[1] if len(cells) == 3 else cells[0])
        if len(cells) == 3:
            rows.append((rights, cells[0], names))
        else:
            single.append((names[0], rights, cells[1]))
    return rows, single
