// A bar for each value: from 0 to the value, or a range with its middle.
import { shortened } from "../format/text";

export interface Bar {
  label: string;
  text: string;
  tip?: string;
  low: number;
  high: number;
  middle?: number;
}

export function Bars({ label, bars }: { label: string; bars: Bar[] }) {
  const most = Math.max(...bars.map((bar) => bar.high), 0), least = Math.min(...bars.map((bar) => bar.low), 0);
  const at = (v: number) => (100 * (v - least)) / (most - least || 1);
  return (
    <ul class="bars" aria-label={label}>
      {bars.map((bar) => (
        <li key={bar.label} data-tip={bar.tip}>
          <span class="bar-label">{shortened(bar.label, 60)}</span>
          <span class="bar-track" aria-hidden="true">
            <span class="bar-range" style={{ left: `${at(bar.low)}%`, width: `${at(bar.high) - at(bar.low)}%` }} />
            {bar.middle === undefined ? null : <span class="bar-middle" style={{ left: `min(${at(bar.middle)}%, 100% - 2px)` }} />}
          </span>
          <span class="bar-text">{bar.text}</span>
        </li>
      ))}
    </ul>
  );
}
