import { existsSync, readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { inWords } from '@app/database';
import { addCatalogueCommands } from './commands/catalogues.js';
import { addDatabaseCommands } from './commands/database.js';
import { addDataCommands } from './commands/data.js';
import { addErasureCommands } from './commands/erasure.js';
import { addHookCommands } from './commands/hooks.js';
import { addKeyCommands } from './commands/keys.js';
import { addMemberCommands } from './commands/members.js';
import { addOrganizationCommands } from './commands/organizations.js';
import { addOutboxCommands } from './commands/outbox.js';
import { addStartCommand } from './commands/start.js';
import { addWebhookCommands } from './commands/webhooks.js';
import { Failure } from './output.js';
import { declareSettings } from './settings.js';

/** The table of all commands. */
export function createProgram(): Command {
  const program = new Command('tutoring')
    .description('Operate the Tutoring API.')
    .version(version(), '--version', 'print the version')
    .option('--json', 'print one JSON object per result')
    .configureOutput({ outputError: (error, write) => write(`${inOneLine(error)} Add --help for usage.\n`) })
    .exitOverride();
  addOrganizationCommands(program);
  addMemberCommands(program);
  addErasureCommands(program);
  addKeyCommands(program);
  addOutboxCommands(program);
  addHookCommands(program);
  addWebhookCommands(program);
  addDataCommands(program);
  addCatalogueCommands(program);
  addDatabaseCommands(program);
  addStartCommand(program);
  declareSettings(program);
  return program;
}

/** Commander puts its suggestions on a separate line. */
function inOneLine(error: string): string {
  return error.trim().replaceAll('\n', ' ').replace(/\.?$/, '.');
}

function version(): string {
  // It is one level higher relative to the built files than to the sources.
  const [manifest] = ['../../../package.json', '../../../../package.json']
    .map((path) => new URL(path, import.meta.url))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8'));
  return (JSON.parse(manifest!) as { version: string }).version;
}

/** Prints why a command failed, in a few lines for the operator. @returns the exit code */
export function explain(error: unknown): number {
  // Commander has already printed what is wrong. Requested help is not an error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
  const lines = error instanceof Failure ? error.lines : [inWords(error)];
  for (const line of lines) process.stderr.write(`${line}\n`);
  return 1;
}
