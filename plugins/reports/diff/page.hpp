// The head of every comparison page: a policy under which nothing runs or is fetched, and its
// styles, light and dark.
#pragma once
#include <string_view>

namespace diff_report {

inline constexpr std::string_view kPageBegin = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>)";

inline constexpr std::string_view kPageStyle = R"(<style>
:root { color-scheme: light dark; --ground: #fff; --text: #1d2129; --quiet: #5b6472; --line: #dde1e7; --band: #f5f7fa;
  --good: #11622f; --bad: #a3261c; --added: #e4f5e9; --removed: #fbe7e5; --renamed: #e8effb; --redefined: #fff4d8; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171c; --text: #e4e7ec; --quiet: #9aa4b2; --line: #333a45;
  --band: #1c2129; --good: #7fd79c; --bad: #ff9d92; --added: #16301f; --removed: #3b1d1b; --renamed: #1a2a44; --redefined: #36300f; } }
body { margin: 0 auto; padding: 1rem 1.5rem; max-width: 120rem; background: var(--ground); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .5rem; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
code, .n { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem; }
.sides section { border: 1px solid var(--line); border-radius: .4rem; padding: .3rem .8rem; overflow-wrap: anywhere; }
.sides h2 { margin: .2rem 0; color: var(--quiet); font-size: .85rem; } .sides p { margin: .2rem 0; }
.wide { overflow-x: auto; max-width: 100%; } table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top; white-space: nowrap; }
thead th { background: var(--band); color: var(--quiet); font-weight: 600; } thead th[colspan] { border-left: 1px solid var(--line); text-align: center; }
thead tr:last-child th:not(:first-child):not([colspan]) { text-align: right; }
.n { text-align: right; } .good { color: var(--good); } .bad { color: var(--bad); } .none { color: var(--quiet); }
.m { white-space: normal; overflow-wrap: anywhere; min-width: 11rem; max-width: 26rem; } .m span { color: var(--quiet); font-size: .85em; }
.added td { background: var(--added); } .removed td { background: var(--removed); }
.renamed .m { background: var(--renamed); } .redefined .m { background: var(--redefined); }
.d1 { padding-left: 1.2rem; } .d2 { padding-left: 1.9rem; } .d3 { padding-left: 2.6rem; } .d4 { padding-left: 3.3rem; }
.d5 { padding-left: 4rem; } .d6 { padding-left: 4.7rem; } .d7 { padding-left: 5.4rem; } .d8 { padding-left: 6.1rem; }
.d9, .d10, .d11, .d12 { padding-left: 6.8rem; }
.same { display: none; } #same:checked ~ .wide .same { display: table-row; color: var(--quiet); }
footer { margin-top: 2rem; color: var(--quiet); font-size: .85rem; }
@media print { .same { display: none !important; } input, label { display: none; } }
</style>
)";

}  // namespace diff_report
