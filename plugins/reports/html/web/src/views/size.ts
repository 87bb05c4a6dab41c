// The current width and height of an element.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

const phone = matchMedia("(max-width: 600px)");

/** Whether the screen is a phone's; false while printing. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(phone.matches);
  useEffect(() => {
    const follow = () => setNarrow(phone.matches);
    const unfold = () => setNarrow(false);
    phone.addEventListener("change", follow);
    addEventListener("beforeprint", unfold);
    addEventListener("afterprint", follow);
    return () => {
      phone.removeEventListener("change", follow);
      removeEventListener("beforeprint", unfold);
      removeEventListener("afterprint", follow);
    };
  }, []);
  return narrow;
}

export function useSize(box: RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return size;
}
