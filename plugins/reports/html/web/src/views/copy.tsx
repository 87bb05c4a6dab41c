// Copies text. Pages from disk may lack the clipboard API, so there is a second way.
import { useState } from "preact/hooks";

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function CopyButton({ label, text, tip }: { label: string; text: () => string; tip?: string }) {
  const [done, setDone] = useState(false);
  const onClick = async () => {
    await copy(text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return <button type="button" class="plain" data-tip={tip} onClick={onClick}>{done ? "copied" : label}</button>;
}
