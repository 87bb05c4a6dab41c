// Rows as tab-separated text, for spreadsheets.

/** Spaces and characters without width. Spreadsheets ignore them before a formula. */
const INVISIBLE = /^[ \u00a0\u2000-\u200f\u202f\u205f\u2060\u3000\ufeff]+/;
/** Full-width signs, as in East Asian input, begin a formula, too. */
const FORMULA = /^[=+\-@＝＋－＠\u0000-\u001f\u007f]/;
/** "-1.5", "-1,024 MB", "-3e-05 %": a number and its unit. */
const NUMBER = /^[+-]?\d[\d.,]*(e[+-]?\d+)?( ?%| ?[a-zµ°]+(\/[a-z]+)?)?$/i;

/** Protects a field that a spreadsheet would run as a formula, by the rule of the CSV report (csv/writer.cpp). */
export const harmless = (text: string): string =>
  !NUMBER.test(text) && FORMULA.test(text.replace(INVISIBLE, "")) ? `'${text}` : text;

/** A field without tabs and line breaks, which would break its row. */
const field = (text: string): string => harmless(text.replace(/[\t\r\n]+/g, " "));

export const tsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(field).join("\t")).join("\n") + "\n";
