import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { compiled } from './processes.js';

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The built command line. */
export const CLI = fileURLToPath(new URL('../../../dist/apps/cli/src/main.js', import.meta.url));

/** Runs the built command line as from an operator's shell, with only these environment variables. */
export async function runCli(args: string[], settings: Record<string, string>, input = '', cwd = inject('scratch')): Promise<CliResult> {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, env: { PATH: '/usr/bin:/bin', ...compiled(), ...settings } });
  child.stdin.on('error', () => undefined).end(input);
  const result: CliResult = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (result.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (result.stderr += chunk.toString()));
  result.code = await new Promise((resolve) => child.once('close', resolve));
  return result;
}

/** Parses a command's output: one JSON object per line. */
export function results(output: string): Record<string, unknown>[] {
  return output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
