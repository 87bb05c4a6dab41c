// Files made in the page. The browser saves them with its downloads.

function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** "ResNet operators.csv": the page's title and the kind of content, without characters that file systems forbid. */
const fileName = (what: string, ending: string): string =>
  `${document.title.replace(/ – tmeter$/, "").slice(0, 60)} ${what.slice(0, 80)}.${ending}`.replace(/[^\p{L}\p{N} ._-]+/gu, "_");

const types = { csv: "text/csv;charset=utf-8", svg: "image/svg+xml;charset=utf-8", png: "image/png" };

/** `content`: the content of the file; null: it cannot be made. */
export function SaveButton({ what, ending, content, tip }: {
  what: string; ending: keyof typeof types; content: () => string | Promise<Blob | null>; tip?: string;
}) {
  const onClick = async () => {
    const made = await content();
    if (made !== null) save(fileName(what, ending), new Blob([made], { type: types[ending] }));
  };
  return <button type="button" class="plain no-print" data-tip={tip} aria-label={`Save ${what} as ${ending.toUpperCase()}`}
                 onClick={() => void onClick()}>{ending.toUpperCase()}</button>;
}
