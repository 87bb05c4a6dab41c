// Rows as tab-separated text, for spreadsheets.

/** Protects a field that a spreadsheet would run as a formula. */
export const harmless = (text: string): string =>
  (/^[=+@\t\r]/.test(text) || /^-(?![\d.])/.test(text) ? `'${text}` : text);

/** A field without tabs and line breaks, which would break its row. */
const field = (text: string): string => harmless(text.replace(/[\t\r\n]+/g, " "));

export const tsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(field).join("\t")).join("\n") + "\n";
