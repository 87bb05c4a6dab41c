"""One HTML page with a row for each model. All its text comes from untrusted files."""

from __future__ import annotations

import base64
import hashlib
import html
import urllib.parse
from collections.abc import Sequence
from typing import Any

from ..wording import counted, visible
from .table import ROWS_EACH

_STYLE = """
body{font:14px system-ui,sans-serif;margin:2em;color-scheme:light dark}
table{border-collapse:collapse}th,td{padding:.25em .8em;border-bottom:1px solid #8884;text-align:right}
th:first-child,td:first-child,td.error{text-align:left}td:first-child{max-width:40em;overflow-wrap:anywhere}
td.error{color:#c33;max-width:60em;overflow-wrap:anywhere}
th button{font:inherit;border:0;background:none;cursor:pointer;font-weight:bold;color:inherit}
.weak{opacity:.6}nav{margin:.6em 0}nav button,nav input{font:inherit}
"""

#: Rows shown at a time, and rows of the page: as many as a browser opens without delay.
_ROWS_SHOWN, MOST = 100, 2_000

#: A click on a column sorts all rows (numbers by `data-v`, other cells last). The filter keeps rows whose text has
#: the typed words. One page of rows is shown at a time.
_SCRIPT = """
const body = document.querySelector("tbody"), each = Number(body.dataset.each);
const said = document.querySelector("#at"), words = document.querySelector("#words");
let rows = Array.from(body.rows), at = 0;
const show = () => {
  const wanted = words.value.toLowerCase();
  const found = rows.filter(row => row.textContent.toLowerCase().includes(wanted));
  at = Math.max(0, Math.min(at, Math.ceil(found.length / each) - 1));
  body.replaceChildren(...found.slice(at * each, (at + 1) * each));
  const end = Math.min((at + 1) * each, found.length);
  said.textContent = found.length ? `${at * each + 1}\u2013${end} of ${found.length}` : "none";
};
document.querySelector("#back").addEventListener("click", () => { at -= 1; show(); });
document.querySelector("#next").addEventListener("click", () => { at += 1; show(); });
words.addEventListener("input", () => { at = 0; show(); });
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const column = button.parentElement.cellIndex, down = button.dataset.down !== "1";
  for (const b of document.querySelectorAll("th button")) delete b.dataset.down;
  if (down) button.dataset.down = "1";
  const key = row => (row.cells[column] ? row.cells[column].dataset.v : undefined);
  rows.sort((a, b) => {
    const x = key(a), y = key(b);
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    const order = column === 0 ? (x < y ? -1 : x > y ? 1 : 0) : Number(x) - Number(y);
    return down && column !== 0 ? -order : order;
  });
  at = 0;
  show();
});
show();
"""

def text(value: object) -> str:
    """The text as HTML."""
    return html.escape(visible(value), quote=True)


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def page(
    rows: Sequence[dict[str, Any]],
    metrics: Sequence[dict[str, Any]],
    version: str,
    count: int,
    failed: int,
    total: int,
) -> str:
    """The page of the first `MOST` rows. `count` and `failed` describe the whole table; `total` is the number of given models."""
    policy = (
        f"default-src 'none'; style-src {_hash(_STYLE)}; script-src {_hash(_SCRIPT)}; "
        "base-uri 'none'; form-action 'none'"
    )
    shown = [
        m for m in metrics if not m["detail"] and any(r.get(m["id"]) is not None for r in rows)
    ]
    heads = "".join(
        f'<th title="{text(m["convention"])}"><button>{text(m["title"])}{_unit(m)}</button></th>'
        for m in shown
    )
    body = "\n".join(_row(row, shown) for row in rows)
    title = counted(count, "model") + (f", {failed:,} failed" if failed else "")
    if count < total:
        title += f", {total - count:,} not done"
    omitted_note = _omitted_note(len(rows), count)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer"><title>{title}</title><style>{_STYLE}</style></head>
<body><h1>{title}</h1>{omitted_note}
<nav><input id="words" placeholder="filter" aria-label="filter"> <button id="back">back</button>
<span id="at"></span> <button id="next">next</button></nav>
<table><thead><tr><th><button>model</button></th>{heads}
<th><button>bytes</button></th><th><button>seconds</button></th></tr></thead>
<tbody data-each="{_ROWS_SHOWN}">
{body}
</tbody></table>
<p class="weak">tmeter {text(version)}. ≥: a lower bound, because a part has no value. ~: rests on an assumption. –: no value.
All columns are in <a href="models.parquet">models.parquet</a> and in each model's report.</p>
<script>{_SCRIPT}</script></body></html>
"""


def _omitted_note(shown: int, count: int) -> str:
    """Names the file with the rows that the page leaves out, and a query."""
    if shown >= count:
        return ""
    query = "select model, error from read_parquet('models.parquet') where status = 'failed'"
    if count > ROWS_EACH:
        query = query.replace("models.parquet", "models.parquet/*.parquet")
    return (
        f"<p>The first {shown:,} models are shown. All are in <a href='models.parquet'>models.parquet</a>; "
        f'in this folder: <code>duckdb -c "{text(query)}"</code></p>'
    )


def _unit(metric: dict[str, Any]) -> str:
    return f" [{text(metric['unit'])}]" if metric["unit"] else ""


def _row(row: dict[str, Any], metrics: Sequence[dict[str, Any]]) -> str:
    name = f'<td data-v="{text(row["model"])}" title="{text(row["source"])}">'
    if row["status"] != "ok":
        why = f"{row['error_kind']}: {row['error']}"
        error_cell = f'<td class="error" colspan="{len(metrics) + 2}">{text(why)}</td>'
        return f"<tr>{name}{text(row['model'])}</td>{error_cell}</tr>"
    link = urllib.parse.quote(row["report"]) if row["report"] else ""
    cells = "".join(_cell(row.get(m["id"]), row.get(f"{m['id']}_status")) for m in metrics)
    facts = "".join(_cell(row[key], None) for key in ("bytes", "seconds"))
    name_text = text(row["model"])
    name_cell = f'<a href="{link}">{name_text}</a>' if link else name_text
    return f"<tr>{name}{name_cell}</td>{cells}{facts}</tr>"


def _cell(value: Any, status: str | None) -> str:
    note = f' title="{text(status)}"' if status else ""
    if value is None:
        return f"<td{note}>–</td>"
    number = f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
    bound = {"lower_bound": "≥ ", "assumed": "~ "}.get(status or "", "")
    return f'<td data-v="{value!r}"{note}>{bound}{number}</td>'
