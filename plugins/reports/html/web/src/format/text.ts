// Names from model files, made safe for a page: control characters become visible, long names are
// shortened in the middle, where paths differ least.

// Control characters, and marks that change the direction of text.
const invisible = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const picture = (character: string): string => {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `\\u${code.toString(16).padStart(4, "0")}`;
};

export const visible = (text: string): string => text.replace(invisible, picture);

export function shortened(text: string, most = 120): string {
  if (text.length <= most) return visible(text);
  const half = Math.floor((most - 1) / 2);
  return `${visible(text.slice(0, half))}…${visible(text.slice(-half))}`;
}

/** A text of any length for a box that scrolls. The rest is only counted, which keeps the page usable. */
export function bounded(text: string, most = 20_000): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… and ${(text.length - most).toLocaleString("en-US")} more characters`;
}
