// Rows as RFC 4180 says: comma, CRLF, quotes around what holds one of them.
import { harmless } from "./tsv";

const field = (text: string): string => {
  const safe = harmless(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
