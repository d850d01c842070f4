import { readdirSync, readFileSync } from 'node:fs';

/** The ids of the processes that decode images for the API process `pid`. */
export function imageProcesses(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' '))
    .filter((child) => child !== '' && commandOf(child).includes('/media/images/child.js'))
    .map(Number);
}

export function isAlive(pid: number): boolean {
  return commandOf(String(pid)) !== '';
}

/** A zombie has none. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
