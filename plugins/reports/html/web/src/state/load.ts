// Data that comes later: undefined until it is there. A failure is the whole page's (views/failure.tsx).
import { useEffect, useState } from "preact/hooks";

export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): T | undefined {
  const [value, setValue] = useState<T>();
  useEffect(() => {
    let current = true;
    load().then((loaded) => { if (current) setValue(() => loaded); });
    return () => { current = false; };
  }, inputs);
  return value;
}
