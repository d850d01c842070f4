import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** In megabytes. `VmHWM` is the largest size since {@link forgetPeak}. */
export function sizeOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];
  return Number(kilobytes) / 1024;
}

export function forgetPeak(pid: number): void {
  // As proc(5) says: 5 resets the peak to the present size.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The processes that this one has started and that still run. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' '))
    .filter(Boolean)
    .map(Number);
}
