"""One translation unit at a time: compiles a mutant with CMake's command for the file, but without optimisation and with its
headers precompiled, and links the artefacts that contain it. Nothing else is rebuilt. The build folder is restored after each file."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

SECONDS = 300  # for one compilation or link
FAST_LINKER = " -fuse-ld=gold" if shutil.which("ld.gold") else ""


class DoesNotBuild(Exception):
    """The output of the compiler or the linker."""


@dataclass(frozen=True)
class Object:
    """An object file of the build; some sources are compiled once for a plugin and once for a test."""

    path: str  # in the build folder
    arguments: tuple[str, ...]  # of the compiler, without source and output


@dataclass(frozen=True)
class Link:
    """A command that links a program, a plugin or a library."""

    output: str
    inputs: frozenset[str]
    command: str

    def with_first(self, object: Object) -> "Link":
        """Puts the object before archives, so that the linker takes no object with the same names from them."""
        return replace(self, command=self.command.replace("-o", f"{object.path} -o", 1))


class Build:
    """The build system's commands. `folder` is configured for Ninja."""

    def __init__(self, folder: Path):
        self.folder = folder.resolve()
        self._compile = json.loads((self.folder / "compile_commands.json").read_text())
        listed = subprocess.run(["ninja", "-C", self.folder, "-t", "commands"], check=True, capture_output=True, text=True)
        links = filter(None, map(link_of, listed.stdout.splitlines()))
        self._links = {link.output: link for link in links}

    def make(self, artefacts: list[str]) -> None:
        """Builds the artefacts without a mutant, before any change."""
        subprocess.run(["ninja", "-C", self.folder, *artefacts], check=True, stdout=sys.stderr)

    def objects_of(self, source: Path) -> list[Object]:
        entries = [e for e in self._compile if Path(e["file"]) == source.resolve()]
        return [object_of(shlex.split(e["command"])) for e in entries]

    def links_to(self, artefact: str, object: Object) -> list[Link]:
        """The commands that link the object into the artefact, in order; empty if the artefact does not contain it."""
        if artefact not in self._links:
            return []
        link = self._links[artefact]
        if object.path in link.inputs:
            return [link]
        steps = {part: steps for part in sorted(link.inputs) if (steps := self.links_to(part, object))}
        if any(part.endswith(".a") for part in steps):
            return [link.with_first(object)]
        return [*dict.fromkeys(step for part in steps.values() for step in part), link] if steps else []

    def link(self, link: Link) -> None:
        run(["sh", "-c", link.command + FAST_LINKER], self.folder)


def object_of(command: list[str]) -> Object:
    while Path(command[0]).name == "ccache":
        command = command[1:]
    output = command.index("-o")
    kept = command[:output] + command[output + 2 :]
    source = kept.index("-c")
    return Object(command[output + 1], tuple(kept[:source] + kept[source + 2 :]))


def link_of(line: str) -> Link | None:
    """The link command alone, without steps before and after it, such as the discovery of tests."""
    for step in line.split(" && "):
        words = step.split()
        mark = "qc" if "qc" in words[:3] else "-o"
        if mark not in words or "-c" in words:
            continue
        output = words[words.index(mark) + 1]
        inputs = frozenset(w for w in words if w.endswith((".o", ".a", ".so")) and w != output)
        return Link(output, inputs, step)
    return None


def run(command: list[str], folder: Path) -> None:
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise DoesNotBuild("the compiler does not end") from error
    if done.returncode != 0:
        raise DoesNotBuild(done.stderr)


class Workbench:
    """Compiles the mutants of one source. As a context manager it restores the build at its end."""

    def __init__(self, build: Build, source: Path, artefacts: list[str]):
        self.build, self.source = build, source.resolve()
        self.folder = build.folder / f"mutant-{os.getpid()}"
        objects = build.objects_of(source)
        self.links = {(o, a): build.links_to(a, o) for o in objects for a in artefacts}
        self.objects = [o for o in objects if any(self.links[o, a] for a in artefacts)]
        touched = [o.path for o in self.objects] + [step.output for links in self.links.values() for step in links]
        self._touched = list(dict.fromkeys(touched))
        self._last: dict[Object, tuple[str, bytes]] = {}

    def __enter__(self) -> "Workbench":
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "before").mkdir(parents=True)
        for n, path in enumerate(self._touched):
            shutil.copy2(self.build.folder / path, self.folder / "before" / str(n))
        self._precompile()
        return self

    def __exit__(self, *_: object) -> None:
        for n, path in enumerate(self._touched):
            os.replace(self.folder / "before" / str(n), self.build.folder / path)
        shutil.rmtree(self.folder)

    def _precompile(self) -> None:
        """Precompiles the file's own #include lines, once for each compile command."""
        lines = self.source.read_text().splitlines(keepends=True)
        for n, object in enumerate(self.objects):
            header = self.folder / f"headers{n}.hpp"
            header.write_text("".join(line for line in lines if line.startswith("#include")))
            self._compile(object, "-O0", ["-x", "c++-header", str(header), "-o", f"{header}.gch"])

    def _compile(self, object: Object, level: str, rest: list[str]) -> None:
        plain = [a for a in object.arguments if not a.startswith("-O")]
        # -iquote, because the file is not in the folder of its neighbours.
        run([*plain, level, "-Wfatal-errors", "-iquote", str(self.source.parent), *rest], self.build.folder)

    def compiled(self, text: str, object: Object | None = None, level: str = "-O0") -> bytes:
        """The object code of this version of the file."""
        object = object or self.objects[0]
        if level != "-O0":
            return self._compiled(text, object, level)
        if self._last.get(object, ("", b""))[0] != text:
            self._last[object] = text, self._compiled(text, object, level)
        return self._last[object][1]

    def _compiled(self, text: str, object: Object, level: str) -> bytes:
        file, output = self.folder / self.source.name, self.folder / "mutant.o"
        file.write_text(text)
        header = self.folder / f"headers{self.objects.index(object)}.hpp"
        headers = ["-include", str(header)] if level == "-O0" else []
        self._compile(object, level, [*headers, "-c", str(file), "-o", str(output)])
        return output.read_bytes()

    def check(self) -> None:
        """Ends the program if the unchanged file does not compile because a header has changed meanwhile."""
        try:
            self._compiled(self.source.read_text(), self.objects[0], "-O0")
        except DoesNotBuild as error:
            raise SystemExit(f"mutate: {self.source.name} does not compile without a change:\n{error}") from error

    def put(self, text: str, artefact: str) -> None:
        """Links the artefact with this version of the file."""
        for object in self.objects:
            if links := self.links[object, artefact]:
                (self.build.folder / object.path).write_bytes(self.compiled(text, object))
                for link in links:
                    self.build.link(link)
