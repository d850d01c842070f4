import type { Command } from 'commander';
import { inject } from 'vitest';
import { createProgram, explain } from '../../../apps/cli/src/program.js';
import type { CliResult } from './cli.js';

/** Values for required options and arguments, by name. */
const VALUES: Record<string, string> = {
  org: 'first',
  name: 'Some name',
  slug: 'some-slug',
  email: 'ada@example.org',
  url: 'https://site.example/',
  id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
  address: 'ada@example.org',
  folder: '/nowhere',
  csv: '/nowhere/places.csv',
  file: '/nowhere',
  catalogue: 'vcaa',
};

/** Arguments for commands that need more, such as one of two options. */
const MORE: Record<string, string[]> = {
  erase: ['--again'],
  'erase-person': ['--email', 'ada@example.org'],
  'hook set': ['--brand', 'primary'],
  'hook remove': ['--brand', 'primary'],
  move: ['--to', 'postgres://owner:secret@127.0.0.1/elsewhere'],
  'org drop': ['--yes'],
  'org update': ['--name', 'Some name'],
};

export interface Leaf {
  /** The words to type, without options: `key create`. */
  name: string;
  command: Command;
  /** Arguments of a well-formed call. */
  args: string[];
}

/** Every command in the program's table. */
export function allCommands(program = createProgram()): Leaf[] {
  return leavesOf(program, []);
}

function leavesOf(command: Command, path: string[]): Leaf[] {
  if (command.commands.length > 0) return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
  const name = path.join(' ');
  const named = [
    ...command.options.filter(({ mandatory }) => mandatory).flatMap((it) => [it.long!, valueOf(it.attributeName(), name)]),
    ...command.registeredArguments.filter(({ required }) => required).map((it) => valueOf(it.name(), name)),
  ];
  return [{ name, command, args: [...path, ...named, ...(MORE[name] ?? [])] }];
}

function valueOf(name: string, command: string): string {
  const value = VALUES[name];
  if (value === undefined) throw new Error(`"${command}" needs a value for ${name}: add one to VALUES`);
  return value;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs a command in this process, which is fast, with only these environment variables. */
export async function runHere(args: string[], settings: Record<string, string>): Promise<CliResult> {
  const result: CliResult = { code: 0, stdout: '', stderr: '' };
  const before = process.env;
  const heard = SIGNALS.map((signal) => process.listeners(signal));
  process.env = { PATH: '/usr/bin:/bin', DATA_DIR: inject('scratch'), ...settings };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      result[name] += String(text);
      return true;
    }),
  );
  try {
    await createProgram().parseAsync(['node', 'tutoring', ...args]);
  } catch (error) {
    result.code = explain(error);
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.env = before;
    // What the command does when it is interrupted, this process must not.
    for (const [index, signal] of SIGNALS.entries())
      for (const listener of process.listeners(signal)) if (!heard[index]!.includes(listener)) process.off(signal, listener);
  }
  return result;
}
