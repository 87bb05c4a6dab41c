// A button that opens a list of check boxes.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function Menu({ label, children }: { label: string; children: ComponentChildren }) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const away = event instanceof KeyboardEvent ? event.key === "Escape" : !box.current?.contains(event.target as Node);
      if (away && box.current) box.current.open = false;
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("keydown", close);
    };
  }, []);
  return (
    <details class="menu" ref={box}>
      <summary>{label}</summary>
      <div class="menu-list">{children}</div>
    </details>
  );
}

export function Check({ label, checked, onChange, count, tip }: {
  label: string; checked: boolean; onChange: (checked: boolean) => void; count?: number; tip?: string;
}) {
  return (
    <label class="check" data-tip={tip}>
      <input type="checkbox" checked={checked} onChange={(e) => onChange(e.currentTarget.checked)} />
      <span>{label}</span>{count === undefined ? null : <small>{count.toLocaleString("en-US")}</small>}
    </label>
  );
}

export function Search({ label, value, onInput }: { label: string; value: string; onInput: (text: string) => void }) {
  return <input type="search" class="search" aria-label={label} placeholder={label} value={value} spellcheck={false}
                onInput={(e) => onInput(e.currentTarget.value)} />;
}

export function Choice<T extends number | string>({ label, value, options, onChange }: {
  label: string; value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void;
}) {
  return (
    <label class="choice">{label}
      <select value={String(value)} onChange={(e) => onChange(options[e.currentTarget.selectedIndex]![0])}>
        {options.map(([option, title]) => <option key={option} value={String(option)}>{title}</option>)}
      </select>
    </label>
  );
}
