import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Memory of a process (MB). `VmRSS` is its current size, `VmHWM` its peak since {@link forgetPeak}. */
export function sizeOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];
  return Number(kilobytes) / 1024;
}

/** Resets `VmHWM` to the current size: see clear_refs in proc(5). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The running child processes. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' '))
    .filter(Boolean)
    .map(Number);
}
