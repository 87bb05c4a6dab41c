// Rows by RFC 4180: commas, CRLF, quotes around fields that contain one of them.
import { harmless } from "./tsv";

const field = (text: string): string => {
  const safe = harmless(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
