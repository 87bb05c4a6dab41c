"""A row of the zoo, and all rows. Plain data: the command runs without PyTorch."""

import dataclasses
import fnmatch
import hashlib
import json


@dataclasses.dataclass(frozen=True)
class Input:
    """One input tensor of a model; ``listed``: inside a list, as detectors expect it."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    name: str = ""
    listed: bool = False


@dataclasses.dataclass(frozen=True)
class Entry:
    """``builder`` is a name in its library, ``options`` its keyword arguments.

    Without ``inputs`` the library gives the size of the model's input.
    ``on_cpu``: the model branches on values, so only a real run can be the reference.
    """

    library: str
    name: str
    builder: str
    options: dict = dataclasses.field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    on_cpu: bool = False
    forms: tuple[str, ...] = ("pt2", "scripted")
    group: str = ""

    @property
    def id(self) -> str:
        return f"{self.library}/{self.name}"

    @property
    def digest(self) -> str:
        """A mark that changes with the row, so that a changed row is prepared again."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def all_entries() -> dict[str, Entry]:
    import table_timm
    import table_torchvision
    import table_transformers

    entries = {}
    for table in (table_torchvision, table_timm, table_transformers):
        for entry in table.entries():
            assert entry.id not in entries, f"{entry.id} is listed twice"
            entries[entry.id] = entry
    return entries


def chosen(globs: list[str]) -> dict[str, Entry]:
    """The rows whose id or name matches one of the globs; without globs all rows."""
    return {
        id: entry
        for id, entry in all_entries().items()
        if not globs or any(fnmatch.fnmatchcase(id, g) or entry.name == g for g in globs)
    }
