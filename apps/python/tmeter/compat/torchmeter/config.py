"""The appearance of trees and tables: torchmeter's settings with its names and defaults."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ...errors import UsageError

_DEFAULTS: dict[str, Any] = {
    "render_interval": 0.15,
    "tree_fold_repeat": True,
    "tree_repeat_block_args": {
        "title": "[i]Repeat [[b]<repeat_time>[/b]] Times[/]",
        "title_align": "center",
        "subtitle": None,
        "subtitle_align": "center",
        "style": "dark_goldenrod",
        "highlight": True,
        "box": "HEAVY_EDGE",
        "border_style": "dim",
        "width": None,
        "height": None,
        "padding": [0, 1],
        "expand": False,
    },
    "tree_levels_args": {
        "default": {
            "label": "[b gray35](<node_id>) [green]<name>[/green] [cyan]<type>[/]",
            "style": "tree",
            "guide_style": "light_coral",
            "highlight": True,
            "hide_root": False,
            "expanded": True,
        },
        "0": {"label": "[b light_coral]<name>[/]", "guide_style": "light_coral"},
    },
    "table_column_args": {
        "style": "none",
        "justify": "center",
        "vertical": "middle",
        "overflow": "fold",
        "no_wrap": False,
    },
    "table_display_args": {
        "style": "spring_green4",
        "highlight": True,
        "width": None,
        "min_width": None,
        "expand": False,
        "padding": [0, 1],
        "collapse_padding": False,
        "pad_edge": True,
        "leading": 0,
        "title": None,
        "title_style": "bold",
        "title_justify": "center",
        "caption": None,
        "caption_style": None,
        "caption_justify": "center",
        "show_header": True,
        "header_style": "bold",
        "show_footer": False,
        "footer_style": "italic",
        "show_lines": False,
        "row_styles": None,
        "show_edge": True,
        "box": "ROUNDED",
        "safe_box": True,
        "border_style": None,
    },
    "combine": {"horizon_gap": 2},
}


#: Keys of the settings by the path of their table. All levels have the same keys.
_KNOWN: dict[str, tuple[str, ...]] = {
    name: (*keys, "repeat_footer") if name == "tree_repeat_block_args" else tuple(keys)
    for name, keys in _DEFAULTS.items()
    if isinstance(keys, dict) and name != "tree_levels_args"
}
_LEVEL_KEYS = tuple(_DEFAULTS["tree_levels_args"]["default"])


def _checked(place: str, key: str) -> str:
    """The path of the table below a key. Raises UsageError if the key is unknown."""
    inner = f"{place}.{key}" if place else key
    if place in _KNOWN:
        known: tuple[str, ...] = _KNOWN[place]
    elif place == "tree_levels_args":
        if key in ("default", "all") or key.isdecimal():
            return inner
        known = ("default", "all", "0", "1", "…")
    elif place.startswith("tree_levels_args."):
        known = _LEVEL_KEYS
    else:
        return inner
    if key not in known:
        raise UsageError(f"there is no setting {inner!r}; known are {', '.join(known)}")
    return inner


class Namespace(SimpleNamespace):
    """Settings as attributes; nested ones are namespaces again.

    Raises:
        UsageError: an unknown key is set; the message names the known ones.
    """

    def __init__(self, place: str = "", **values: Any) -> None:
        super().__init__()
        object.__setattr__(self, "_place", place)
        for key, value in values.items():
            setattr(self, key, value)

    def __setattr__(self, key: str, value: Any) -> None:
        value = _spaced(value, _checked(self._place, key))
        if self._place == "tree_levels_args" and key == "all":  # the default of every level
            for level in self.data_dict:
                if level != "default":
                    delattr(self, level)
            self.update({"default": value})
            return
        object.__setattr__(self, key, value)

    @property
    def data_dict(self) -> dict[str, Any]:
        return {key: _plain(value) for key, value in vars(self).items() if key != "_place"}

    def __repr__(self) -> str:
        return f"Namespace({', '.join(f'{k}={v!r}' for k, v in self.data_dict.items())})"

    def update(self, other: Mapping[str, Any] | Namespace, *, replace: bool = False) -> None:
        """Sets the given values; with `replace` all other settings are removed."""
        given = other.data_dict if isinstance(other, Namespace) else dict(other)
        for key in given:
            _checked(self._place, str(key))
        if replace:
            for key in self.data_dict:
                delattr(self, key)
        for key, value in given.items():
            old = getattr(self, str(key), None)
            if isinstance(old, Namespace) and isinstance(value, (Mapping, Namespace)) and not replace:
                old.update(value)
            else:
                setattr(self, str(key), value)


def _spaced(value: Any, place: str) -> Any:
    if isinstance(value, Namespace):
        value = value.data_dict
    if isinstance(value, Mapping):
        return Namespace(place, **{str(k): v for k, v in value.items()})
    return value


def _plain(value: Any) -> Any:
    return value.data_dict if isinstance(value, Namespace) else value


class Settings:
    """The settings of all meters, as in torchmeter; `get_config` returns them."""

    def __init__(self) -> None:
        self.config_file: str | None = None
        self.restore()

    def restore(self) -> None:
        """Restores the defaults, or the settings of the file."""
        self._take(_DEFAULTS)
        if self.config_file is not None:
            self._take(_read(Path(self.config_file)))

    def _take(self, values: Mapping[str, Any]) -> None:
        unknown = sorted(set(values) - set(_DEFAULTS))
        if unknown:
            raise UsageError(
                f"{self.config_file}: unknown setting {unknown[0]!r}; there are {', '.join(_DEFAULTS)}"
            )
        for key, value in copy.deepcopy(dict(values)).items():
            object.__setattr__(self, key, _spaced(value, key))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no setting {name!r}; there are {', '.join(_DEFAULTS)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "config_file":
            object.__setattr__(self, name, value)
            return
        old = getattr(self, name)
        if isinstance(old, Namespace):
            if not isinstance(value, (Mapping, Namespace)):
                raise TypeError(f"{name}: a dict is expected, got {type(value).__name__}")
            old.update(value)
        elif isinstance(old, bool) and not isinstance(value, bool):
            raise TypeError(f"{name}: True or False is expected, got {type(value).__name__}")
        else:
            object.__setattr__(self, name, value)

    def asdict(self, safe_resolve: bool = False) -> dict[str, Any]:
        return {key: _plain(getattr(self, key)) for key in _DEFAULTS}

    def dump(self, save_path: str) -> None:
        """Writes the settings as a YAML file that `get_config` reads."""
        text = _yaml().safe_dump(self.asdict(), sort_keys=False, allow_unicode=True)
        Path(save_path).write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        shown = "\n".join(f"• {key}: {value}" for key, value in self.asdict().items())
        return f"• Config file: {self.config_file}\n{shown}"


def _yaml() -> Any:
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise UsageError("settings files need PyYAML: pip install pyyaml") from error
    return yaml


def _read(path: Path) -> dict[str, Any]:
    yaml = _yaml()
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{path}: settings are expected, one a line")
    return found


_settings = Settings()


def get_config(config_path: str | None = None) -> Settings:
    """The settings of all meters; with a path, they are read from that file.

    Raises:
        UsageError: the file cannot be read, or has unknown settings.
    """
    if config_path is not None:
        before = _settings.config_file
        _settings.config_file = config_path
        try:
            _settings.restore()
        except UsageError:
            _settings.config_file = before
            _settings.restore()
            raise
    return _settings
