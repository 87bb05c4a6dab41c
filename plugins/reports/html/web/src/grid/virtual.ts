// Which rows of a long table are on the screen. Browsers limit how tall an element may be (Firefox
// about 17 million pixels), so beyond that a step of the scroll bar is more than one pixel of rows.

export const rowHeight = 30;
const tallest = 8_000_000;
const overscan = 6;

export interface Window {
  first: number;
  last: number;  // not included
  /** Pixels from the top of the scrolled content to the row `first`. */
  top: number;
}

export const contentHeight = (count: number): number => Math.min(count * rowHeight, tallest);

export function windowOf(count: number, scrollTop: number, viewport: number): Window {
  const onScreen = viewport / rowHeight;
  const height = contentHeight(count);
  const compressed = count * rowHeight > height;
  const at = compressed
    ? (Math.min(1, scrollTop / Math.max(1, height - viewport)) * (count - onScreen))
    : scrollTop / rowHeight;
  const exactFirst = Math.max(0, at);
  const first = Math.max(0, Math.floor(exactFirst) - overscan);
  const last = Math.min(count, Math.ceil(exactFirst + onScreen) + overscan);
  return { first, last, top: compressed ? scrollTop - (exactFirst - first) * rowHeight : first * rowHeight };
}

/** The largest number of rows on the screen; even, so that the parity of a slot is fixed. */
export const poolSize = (viewport: number): number => 2 * Math.ceil((viewport / rowHeight + 2 * overscan + 2) / 2);

/**
 * The row of each slot, -1 for none. A row stays in its slot while it is on the screen, and a slot that
 * becomes free takes the next row: no element is made, moved or styled again while scrolling.
 */
export function slots({ first, last }: Window, pool: number): number[] {
  const list = new Array<number>(pool).fill(-1);
  for (let position = first; position < last; ++position) list[position % pool] = position;
  return list;
}

/** The scroll position that shows a row; undefined: it is visible. */
export function scrollTo(count: number, row: number, scrollTop: number, viewport: number): number | undefined {
  const height = contentHeight(count), onScreen = viewport / rowHeight;
  if (count * rowHeight > height) {
    const { first, last } = windowOf(count, scrollTop, viewport);
    if (row >= first + overscan && row < last - overscan) return undefined;
    return ((row - onScreen / 2) / (count - onScreen)) * (height - viewport);
  }
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + viewport ? top + rowHeight - viewport : undefined;
}
