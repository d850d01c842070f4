import type { Command } from 'commander';
import { loadEnv } from '@app/config';
import { migrate, recountLists, revertLast } from '@app/database';
import { examine } from '../doctor.js';
import { Failure, print } from '../output.js';
import { openDatabase } from '../workplace.js';

/** `migrate`, `recount`, `doctor`. */
export function addDatabaseCommands(program: Command): void {
  program
    .command('migrate')
    .description("bring the schema and the application role's grants up to date")
    .option('--revert', 'take the last migration back instead')
    .action(async ({ revert }: { revert?: boolean }, command: Command) => {
      // The embedded server's opening migrates already; what was done then is not told again.
      const { env, stop } = await openDatabase();
      try {
        if (revert) {
          const reverted = await revertLast(env.migrationUrl);
          print(command, { reverted }, reverted ? `Reverted ${reverted}` : 'There is nothing to revert');
          return;
        }
        const applied = await migrate(env.migrationUrl, env.need('DATABASE_URL'));
        print(command, { applied }, applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The schema is up to date');
      } finally {
        await stop();
      }
    });

  program
    .command('recount')
    .description('count lists anew whose totals "doctor" found wrong')
    .action(async (_options: object, command: Command) => {
      const { env, stop } = await openDatabase();
      try {
        const organizations = await recountLists(env.migrationUrl);
        const text = organizations.length > 0 ? `Recounted ${organizations.join(', ')}` : 'Every total is right';
        print(command, { organizations }, text);
      } finally {
        await stop();
      }
    });

  program
    .command('doctor')
    .description('look whether everything is as it has to be')
    .action(async (_options: object, command: Command) => {
      loadEnv();
      const { env, stop } = await openDatabase();
      try {
        const findings = await examine(env);
        for (const finding of findings) {
          print(command, finding, `${finding.status.padEnd(4)}  ${finding.check}: ${finding.message}`);
        }
        const failed = findings.filter(({ status }) => status === 'fail').length;
        if (failed > 0) throw new Failure(`${failed} of ${findings.length} checks failed`);
      } finally {
        await stop();
      }
    });
}
