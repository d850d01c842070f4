import 'reflect-metadata';
import { Command, CommanderError } from 'commander';
import { addDatabaseCommands } from './commands/database.js';
import { addDataCommands } from './commands/data.js';
import { addHookCommands } from './commands/hooks.js';
import { addKeyCommands } from './commands/keys.js';
import { addOrganizationCommands } from './commands/organizations.js';
import { addOutboxCommands } from './commands/outbox.js';
import { addStartCommand } from './commands/start.js';
import { Failure } from './output.js';

const program = new Command('tutoring')
  .description('Operates the Tutoring API.')
  .option('--json', 'print one JSON object per result')
  .showHelpAfterError('(--help shows what there is)')
  .exitOverride();

addOrganizationCommands(program);
addKeyCommands(program);
addOutboxCommands(program);
addHookCommands(program);
addDataCommands(program);
addDatabaseCommands(program);
addStartCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = 1;
  if (error instanceof CommanderError) {
    // Commander has said what is wrong already; help that was asked for is no error.
    if (error.exitCode === 0) process.exitCode = 0;
  } else if (error instanceof Failure) {
    for (const line of error.lines) process.stderr.write(`${line}\n`);
  } else {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
}
