// The head and the script of every comparison page. Its policy permits only this script and this
// style, by their hashes, so that no name in a model can run as code.
#pragma once
#include <string_view>

namespace diff_report {

inline constexpr std::string_view kPageBegin = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; )";

/// The policy after the hashes of script and style.
inline constexpr std::string_view kPageHead = R"(; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>)";

inline constexpr std::string_view kPageStyle = R"(
:root { color-scheme: light dark; --ground: #fff; --text: #1d2129; --quiet: #5b6472; --line: #dde1e7; --band: #f5f7fa;
  --good: #11622f; --bad: #a3261c; --added: #e4f5e9; --removed: #fbe7e5; --renamed: #e8effb; --redefined: #fff4d8; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171c; --text: #e4e7ec; --quiet: #9aa4b2; --line: #333a45;
  --band: #1c2129; --good: #7fd79c; --bad: #ff9d92; --added: #16301f; --removed: #3b1d1b; --renamed: #1a2a44; --redefined: #36300f; } }
body { margin: 0 auto; padding: 1rem 1.5rem; max-width: 120rem; background: var(--ground); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .5rem; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
code, .n { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .88em; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem; }
.sides section { border: 1px solid var(--line); border-radius: .4rem; padding: .3rem .8rem; overflow-wrap: anywhere; }
.sides h2 { margin: .2rem 0; color: var(--quiet); font-size: .85rem; } .sides p { margin: .2rem 0; }
.wide { overflow-x: auto; max-width: 100%; } table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top; white-space: nowrap; }
thead th { background: var(--band); color: var(--quiet); font-weight: 600; } thead th[colspan] { border-left: 1px solid var(--line); text-align: center; }
thead tr:last-child th:not(:first-child):not([colspan]), .modules thead tr:last-child th { text-align: right; }
.n { text-align: right; padding-inline: .35rem; } .good { color: var(--good); } .bad { color: var(--bad); } .none { color: var(--quiet); }
.m { white-space: normal; overflow-wrap: anywhere; min-width: 11.5rem; box-sizing: border-box; max-width: 26rem; } .m span { color: var(--quiet); font-size: .85em; }
.added td { background: var(--added); } .removed td { background: var(--removed); }
.renamed .m { background: var(--renamed); } .redefined .m { background: var(--redefined); }
.d1 { padding-left: 1.2rem; } .d2 { padding-left: 1.9rem; } .d3 { padding-left: 2.6rem; } .d4 { padding-left: 3.3rem; }
.d5 { padding-left: 4rem; } .d6 { padding-left: 4.7rem; } .d7 { padding-left: 5.4rem; } .d8 { padding-left: 6.1rem; }
.d9, .d10, .d11, .d12 { padding-left: 6.8rem; }
.same { color: var(--quiet); } #changes:checked ~ .wide .same { display: none; }
footer { margin-top: 2rem; color: var(--quiet); font-size: .85rem; }
@media print { .same { display: none !important; } .tools, input, label { display: none; } }
.tools { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .4rem 0; }
.tools select { font: inherit; color: inherit; background: var(--ground); padding: .2rem; }
.modules { border-collapse: separate; border-spacing: 0; } .modules td:first-child, .modules thead tr:first-child th:first-child { position: sticky; left: 0; } .modules td:first-child { background: var(--ground); }
.modules .added td { background: var(--added); } .modules .removed td { background: var(--removed); }
.modules .renamed .m { background: var(--renamed); } .modules .redefined .m { background: var(--redefined); }
.tools input[type=search] { flex: 0 1 22rem; min-width: 0; font: inherit; padding: .25rem .6rem; color: inherit; background: var(--ground); border: 1px solid var(--quiet); border-radius: .4rem; }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; text-align: inherit; }
th button:hover, th[aria-sort] button { color: var(--text); }
th[aria-sort] button::after { content: " ▼"; content: " ▼" / ""; } th[aria-sort=ascending] button::after { content: " ▲"; content: " ▲" / ""; }
tr[hidden] { display: none !important; }
.flat .m { padding-left: .6rem; }
.metrics { display: flex; flex-wrap: wrap; gap: .2rem .8rem; } .metrics label { white-space: nowrap; }
@media (max-width: 600px) {
  body { padding: .8rem; }
  .totals thead { display: none; }
  .totals, .totals tbody { display: block; }
  .totals tr { display: flex; flex-wrap: wrap; gap: 0 .6rem; padding: .35rem 0; border-bottom: 1px solid var(--line); }
  .totals th, .totals td { border: 0; padding: 0; } .totals tbody th { flex: 1 0 100%; }
  .totals td + td::before { content: "→ "; color: var(--quiet); } .totals td + td + td::before { content: none; }
  .totals td:nth-of-type(3) { margin-left: auto; }
  .modules thead, .modules td.empty, .modules td.twin, .modules td.n:nth-child(4n+1) { display: none; }
  .modules, .modules tbody { display: block; }
  .modules tr { display: grid; grid-template-columns: 1fr auto 4.2rem; gap: 0 .5rem; padding: .35rem .3rem; border-bottom: 1px solid var(--line); }
  .modules td { border: 0; padding-block: 0; padding-right: 0; } .modules td.n { padding-left: 0; font-size: .85em; }
  .modules .m { grid-column: 1 / -1; max-width: none; } .modules .m:nth-child(2):not(:first-child)::before { content: "→ "; }
  .modules .empty + .m::before { content: none !important; }
  .modules td.n:nth-child(4n+3) { display: flex; justify-content: space-between; gap: .4rem; } .modules td.still, .modules td.none { display: none !important; }
  .modules td.n:nth-child(4n+3)::before { content: attr(data-m); color: var(--quiet); font-family: system-ui, sans-serif; }
  .modules td.n:nth-child(4n)::before { content: "→ "; color: var(--quiet); }
  .added, .added td { background: var(--added); } .removed, .removed td { background: var(--removed); }
}
.order { display: none; } @media (max-width: 600px) { .order { display: inline; } .metrics { display: none; } }
)";

/// Makes the table of modules searchable and sortable: a number's cell has it as data-v. Without it
/// the page is complete, in the order of the model.
inline constexpr std::string_view kPageScript = R"js(
"use strict";
const table = document.querySelector("table.modules"), body = table.tBodies[0], rows = [...body.rows];
const tools = document.querySelector(".tools"), heads = [...table.tHead.querySelectorAll("th")].filter((th) => !th.matches("[scope=colgroup]"));
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

const count = make("span", {});
count.setAttribute("role", "status");
const search = make("input", { type: "search", placeholder: "Search modules and types" });
search.setAttribute("aria-label", search.placeholder);
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const row of rows) {
    const text = (row.cells[0].textContent + " " + row.cells[1].textContent).toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    found += row.hidden ? 0 : 1;
  }
  count.textContent = words.length > 0 ? found + " of " + rows.length + " modules found" : "";
});
tools.append(search, count);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target === search) return;
  event.preventDefault();
  search.focus();
});

const number = (cell) => (cell.dataset.v === undefined ? NaN : Number(cell.dataset.v));
// A metric has four cells: before, after, change, relative change. A module that is only on one side changes by its whole value.
const keyOf = (column) => (row) => {
  if (column < 2) return row.cells[column].textContent;
  const first = column - (column - 2) % 4, before = number(row.cells[first]), after = number(row.cells[first + 1]);
  const isOneSided = row.matches(".added, .removed"), change = isOneSided ? (after || 0) - (before || 0) : after - before;
  return [before, after, Math.abs(change), Math.abs(change / before)][(column - 2) % 4];
};
const compare = (a, b) => {
  if (typeof a === "string") return a < b ? -1 : Number(a > b);
  return Number.isNaN(a) || Number.isNaN(b) ? 0 : a - b;
};
const sortBy = (column, direction) => {
  heads.forEach((th) => th.removeAttribute("aria-sort"));
  table.classList.toggle("flat", direction !== "");
  if (direction === "") return body.append(...rows);
  heads[column].setAttribute("aria-sort", direction);
  const keys = new Map(rows.map((row) => [row, keyOf(column)(row)])), sign = direction === "ascending" ? 1 : -1;
  const isKnown = (row) => keys.get(row) === keys.get(row) && keys.get(row) !== "";
  const known = rows.filter(isKnown).sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
  body.append(...known, ...rows.filter((row) => !isKnown(row)));
};
// A phone's layout has no column heads to press.
const titles = [...table.tHead.querySelectorAll("[scope=colgroup]")].map((th) => th.textContent);
const order = make("select", {}, make("option", { value: "" }, "as in the model"), make("option", { value: "0" }, "name"),
  ...titles.map((title, i) => make("option", { value: String(4 * i + 4) }, "change of " + title)));
order.addEventListener("change", () => order.value === "" ? sortBy(0, "") : sortBy(Number(order.value), order.value === "0" ? "ascending" : "descending"));
tools.append(make("label", { className: "order" }, "Order ", order));

// Metrics that do not fit are left out and can be chosen again: first those that change like an earlier one.
const wide = table.closest(".wide"), phone = matchMedia("(max-width: 600px)"), [groups, subheads] = table.tHead.rows;
const boxes = titles.map((title, i) => {
  const box = make("input", { type: "checkbox", checked: true });
  box.addEventListener("change", () => {
    removeEventListener("resize", fit);
    show(i, box.checked);
  });
  return box;
});
const show = (i, shown) => {
  boxes[i].checked = shown;
  groups.cells[i + 2].hidden = !shown;
  for (const [row, first] of [[subheads, 4 * i], ...rows.map((row) => [row, 4 * i + 2])])
    for (let k = 0; k < 4; ++k) row.cells[first + k].hidden = !shown;
};
const relative = [...document.querySelectorAll(".totals tbody tr")].map((row) => row.cells[4].textContent);
const leastFirst = titles.map((_, i) => i).reverse()
  .sort((a, b) => Number(relative.indexOf(relative[a]) === a) - Number(relative.indexOf(relative[b]) === b));
const fit = () => {
  titles.forEach((_, i) => boxes[i].checked || show(i, true));
  for (const i of leastFirst.slice(0, -1))
    if (!phone.matches && wide.scrollWidth > wide.clientWidth) show(i, false);
};
if (titles.length > 1) {
  const choice = make("div", { className: "metrics" }, ...titles.map((title, i) => make("label", {}, boxes[i], " " + title)));
  choice.setAttribute("role", "group");
  choice.setAttribute("aria-label", "metrics of the modules");
  tools.append(choice);
  fit();
  addEventListener("resize", fit);
}

heads.forEach((th, column) => {
  const button = make("button", { type: "button" }, ...th.childNodes);
  const [first, second] = column < 2 ? ["ascending", "descending"] : ["descending", "ascending"];
  button.addEventListener("click", () => sortBy(column, { null: first, [first]: second, [second]: "" }[th.getAttribute("aria-sort")]));
  th.append(button);
});
)js";

}  // namespace diff_report
