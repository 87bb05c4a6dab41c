// Files made in the page: the browser saves them where its downloads go.

function save(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** "ResNet operators.csv": of the page's title and what it is, without what file systems forbid. */
const fileName = (what: string, ending: string): string =>
  `${document.title.replace(/ – tmeter$/, "").slice(0, 60)} ${what.slice(0, 80)}.${ending}`.replace(/[^\p{L}\p{N} ._-]+/gu, "_");

export function SaveButton({ what, ending, text, tip }: {
  what: string; ending: "csv" | "svg"; text: () => string; tip?: string;
}) {
  const type = { csv: "text/csv", svg: "image/svg+xml" }[ending];
  return <button type="button" class="plain no-print" data-tip={tip} aria-label={`Save ${what} as ${ending.toUpperCase()}`}
                 onClick={() => save(fileName(what, ending), `${type};charset=utf-8`, text())}>{ending.toUpperCase()}</button>;
}
