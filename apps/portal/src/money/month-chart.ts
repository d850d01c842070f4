import type { ReportRow } from './reports.js';

/** The plot's height in pixels. */
const HEIGHT = 120;

/** Two bars for each month: positions for the template. Percent of the width, pixels from the bottom. */
export function chartOf(rows: ReportRow[]) {
  const most = Math.max(1, ...rows.flatMap(({ invoiced, received }) => [invoiced ?? 0, received ?? 0]));
  const scale = (cents: number | null) => (!cents || cents < 0 ? 0 : Math.max(1, Math.round((cents / most) * HEIGHT)));
  const width = 100 / rows.length;
  const bars = rows.map(({ id, invoiced, received }, index) => ({
    month: id!,
    x: (index * width).toFixed(2),
    invoiced: { x: ((index + 0.12) * width).toFixed(2), height: scale(invoiced) },
    received: { x: ((index + 0.5) * width).toFixed(2), height: scale(received) },
  }));
  return { height: HEIGHT, most, barWidth: (width * 0.36).toFixed(2), bars };
}
