// A table of any length: only the rows on the screen exist. The keyboard works as in the tree grid of
// the WAI-ARIA practices; the focus stays on the table, and aria-activedescendant names the row.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { csv } from "../format/csv";
import { tsv } from "../format/tsv";
import { contentHeight, poolSize, rowHeight, scrollTo, slots, windowOf } from "./virtual";
import { gridKeys } from "./keys";

export interface Column {
  key: string;
  title: string;
  tip?: string;
  /** CSS length or track size */
  width: string;
  numeric?: boolean;
  cell: (row: number) => ComponentChildren;
  /** For the clipboard. */
  text: (row: number) => string;
}

export interface Sort {
  key: string;
  descending: boolean;
}

/** The tree of a tree grid; positions are those of `rows`. */
export interface Tree {
  level: (position: number) => number;
  /** undefined: nothing inside */
  isOpen: (row: number) => boolean | undefined;
  setOpen: (row: number, open: boolean) => void;
}

export interface GridProps {
  id: string;
  label: string;
  columns: Column[];
  rows: readonly number[];
  selected: number | undefined;
  onSelect: (row: number) => void;
  onEnter?: (row: number) => void;
  sort: Sort | undefined;
  onSort: (key: string) => void;
  tree?: Tree;
  empty: string;
}

export function Grid(props: GridProps) {
  const { columns, rows, tree } = props;
  const box = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const active = props.selected === undefined ? -1 : rows.indexOf(props.selected);
  const header = rowHeight, fewest = 4, scrollBar = 18;  // as high as the rows at most, and at least as the text of an empty table

  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => setScroll({ top: element.scrollTop, height: element.clientHeight - header });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (active < 0) return;
    const element = box.current!;
    const top = scrollTo(rows.length, active, element.scrollTop, element.clientHeight - header);
    if (top !== undefined) element.scrollTop = top;
  }, [active, rows]);

  const visible = windowOf(rows.length, scroll.top, scroll.height);
  const pool = poolSize(scroll.height);
  const tracks = columns.map((column) => column.width).join(" ");
  const rowId = (row: number) => `${props.id}-row-${row}`;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== box.current) return;
    const page = Math.max(1, Math.floor(scroll.height / rowHeight) - 1);
    if (gridKeys(event, { ...props, active, page })) event.preventDefault();
  };
  const onCopy = (event: ClipboardEvent) => {
    if (String(getSelection())) return;  // the browser copies a selected text
    event.clipboardData?.setData("text/plain", asTsv(props));
    event.preventDefault();
  };

  return (
    <div class="grid" role={tree ? "treegrid" : "grid"} aria-label={props.label} ref={box} tabIndex={0}
         style={{ maxHeight: `${header + contentHeight(Math.max(rows.length, fewest)) + scrollBar}px`, maxWidth: `${widest(columns)}rem` }}
         aria-rowcount={rows.length + 1} aria-colcount={columns.length}
         aria-activedescendant={active >= visible.first && active < visible.last ? rowId(props.selected!) : undefined}
         onScroll={(e) => setScroll({ top: e.currentTarget.scrollTop, height: e.currentTarget.clientHeight - header })}
         onKeyDown={onKeyDown} onCopy={onCopy}>
      <div class="grid-table" role="presentation">
        <div class="grid-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: tracks }}>
          {columns.map((column, i) => <Head key={column.key} column={column} index={i + 1} {...props} />)}
        </div>
        <div class="grid-body" role="rowgroup" style={{ height: `${contentHeight(rows.length)}px` }}>
          {slots(visible, pool).map((position, slot) => {
            const row = rows[position];
            if (row === undefined) return null;
            return (
              <div key={slot} id={rowId(row)} role="row" aria-rowindex={position + 2}
                   class={`grid-row${position % 2 ? " odd" : ""}`}
                   aria-selected={position === active}
                   aria-level={tree ? tree.level(position) + 1 : undefined}
                   aria-expanded={tree?.isOpen(row)}
                   style={{ gridTemplateColumns: tracks, transform: `translateY(${visible.top + (position - visible.first) * rowHeight}px)` }}
                   onClick={() => props.onSelect(row)} onDblClick={() => props.onEnter?.(row)}>
                {columns.map((column, c) => (
                  <div key={column.key} role="gridcell" aria-colindex={c + 1}
                       class={column.numeric ? "cell numeric" : "cell"}>
                    {c === 0 && tree ? <Twist tree={tree} row={row} level={tree.level(position)} /> : null}
                    {column.cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {rows.length === 0 ? <p class="empty">{props.empty}</p> : null}
    </div>
  );
}

/** The width, in rem, at which values are still near their names on a wide screen. */
function widest(columns: Column[]): number {
  const forTexts = 46;  // rem, of all columns without a width of their own
  return columns.reduce((sum, { width }) => sum + (/^[\d.]+rem$/.test(width) ? parseFloat(width) : 0), forTexts);
}

function Head({ column, index, sort, onSort }: { column: Column; index: number } & GridProps) {
  const sorted = sort?.key === column.key ? (sort.descending ? "descending" : "ascending") : undefined;
  return (
    <div role="columnheader" aria-colindex={index} aria-sort={sorted ?? "none"}
         class={column.numeric ? "cell numeric" : "cell"}>
      <button type="button" class="sort" data-tip={column.tip} onClick={() => onSort(column.key)}>
        {column.title}
        <span class="arrow" aria-hidden="true">{sorted ? (sorted === "descending" ? "▾" : "▴") : ""}</span>
      </button>
    </div>
  );
}

function Twist({ tree, row, level }: { tree: Tree; row: number; level: number }) {
  const open = tree.isOpen(row);
  const toggle = (event: Event) => {
    event.stopPropagation();
    tree.setOpen(row, !open);
  };
  return (
    <>
      <span class="indent" style={`--level: ${level}`} />
      {open === undefined
        ? <span class="twist" />
        : <span class={open ? "twist open" : "twist"} aria-hidden="true" onClick={toggle}
                onDblClick={(e) => e.stopPropagation()} />}
    </>
  );
}

/** The whole table as shown, because the selected row alone is of little use. */
export const asTsv = (table: Table): string => tsv(textsOf(table));
export const asCsv = (table: Table): string => csv(textsOf(table));

type Table = Pick<GridProps, "columns" | "rows">;
const textsOf = ({ columns, rows }: Table): string[][] =>
  [columns.map((c) => c.title), ...rows.map((row) => columns.map((c) => c.text(row)))];
