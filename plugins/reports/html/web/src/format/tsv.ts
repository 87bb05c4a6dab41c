// Rows as tab-separated text, for spreadsheets.

/** A field must not break its row, nor begin what a spreadsheet would take for a formula. */
function field(text: string): string {
  const flat = text.replace(/[\t\r\n]+/g, " ");
  return /^[=+@]/.test(flat) || /^-(?![\d.])/.test(flat) ? `'${flat}` : flat;
}

export const tsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(field).join("\t")).join("\n") + "\n";
