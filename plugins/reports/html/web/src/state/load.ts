// Data that is loaded later and undefined until then. A failure replaces the whole page (main.tsx).
import { useEffect, useState } from "preact/hooks";

export const failed = "tmeter-failed";

export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): T | undefined {
  const [value, setValue] = useState<T>();
  useEffect(() => {
    let current = true;
    load().then((loaded) => { if (current) setValue(() => loaded); }, (error: unknown) => {
      dispatchEvent(new CustomEvent(failed, { detail: error }));
    });
    return () => { current = false; };
  }, inputs);
  return value;
}
