import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/** The environment of a process under test that leaves to the next what it has compiled: a fifth of its start. */
export const compiled = () => ({ NODE_COMPILE_CACHE: join(inject('scratch'), 'compiled') });

/** Memory of a running process (MB). `VmRSS` is its current size, `VmHWM` its peak since {@link forgetPeak}. */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) / 1024;
}

/** CPU time of a running process (ms), in steps of 10 ms: see proc_pid_stat(5). */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Resets `VmHWM` to the current size: see clear_refs in proc(5). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The ids of the image processes of the API process `pid`. */
export function imageProcesses(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' '))
    .filter((child) => child !== '' && commandOf(child).includes('/images/src/child.js'))
    .map(Number);
}

export function isAlive(pid: number): boolean {
  return commandOf(String(pid)) !== '';
}

/** Empty for a zombie. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
