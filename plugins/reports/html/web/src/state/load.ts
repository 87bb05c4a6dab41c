// Data that comes later: undefined until it is there. Failures are shown by the whole page (main.tsx).
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
