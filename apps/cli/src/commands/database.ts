import type { Command } from 'commander';
import { loadEnv } from '@app/config';
import { correctCopies, migrate, recountLists, revertLast } from '@app/database';
import { examine } from '../doctor.js';
import { confirm, Failure, print } from '../output.js';
import { provisionRoles } from '../postgres/roles.js';
import { slugOf } from '../slugs.js';
import { refuseUnsafe } from '../start/safety.js';
import { openDatabase, usesEmbedded, withContext } from '../command-context.js';

/** `roles`, `migrate`, `recount`, `doctor`. */
export function addDatabaseCommands(program: Command): void {
  program
    .command('roles')
    .description('create or repair the database and its four roles (requires ADMIN_DATABASE_URL)')
    .action(async (_options: object, command: Command) => {
      const env = loadEnv();
      const urls = {
        owner: env.need('MIGRATION_DATABASE_URL'),
        api: env.need('DATABASE_URL'),
        worker: env.need('WORKER_DATABASE_URL'),
        portal: env.need('PORTAL_DATABASE_URL'),
      };
      await provisionRoles(env.need('ADMIN_DATABASE_URL'), urls);
      const names = Object.fromEntries(Object.entries(urls).map(([role, url]) => [role, new URL(url).username]));
      print(command, names, `The roles ${Object.values(names).join(', ')} are ready. Next: npm run cli -- migrate`);
    });

  program
    .command('migrate')
    .description('update the schema, and the privileges of the API, worker and portal')
    .option('--revert', 'revert the last migration instead, and delete the data in the tables and columns it added')
    .option('--yes', 'revert without asking for confirmation')
    .action(async ({ revert, yes }: { revert?: boolean; yes?: boolean }, command: Command) => {
      if (revert && !yes)
        await confirm('This reverts the last migration and deletes the data in the tables and columns it added.');
      // Opening the embedded server has already migrated it.
      const { env, stop } = await openDatabase();
      try {
        if (revert) {
          const reverted = await revertLast(env.migrationUrl, env.processUrls);
          print(command, { reverted }, reverted ? `Reverted ${reverted}` : 'There is nothing to revert');
          return;
        }
        if (env.production && !usesEmbedded(loadEnv())) await refuseUnsafe(env);
        const { applied, replaced } = await migrate(env.migrationUrl, env.processUrls);
        const changes = [
          ...(applied.length > 0 ? [`Applied ${applied.join(', ')}`] : []),
          ...(replaced.length > 0 ? [`Replaced ${replaced.join(', ')}`] : []),
        ];
        print(command, { applied, replaced }, changes.join('\n') || 'The schema is up to date');
      } finally {
        await stop();
      }
    });

  program
    .command('recount')
    .description('repair the totals and copies that "doctor" reports as wrong')
    .action(async (_options: object, command: Command) => {
      const [organizations, corrected] = await withContext(async ({ env, slugs }) => {
        const [recounted, known] = [await recountLists(env.migrationUrl), await slugs()];
        return [recounted.map((id) => slugOf(id, known)), await correctCopies(env.migrationUrl)] as const;
      });
      const totals =
        organizations.length > 0 ? `Corrected the totals of ${organizations.join(', ')}` : 'All totals are correct';
      const copies =
        corrected > 0 ? `Corrected ${corrected} ${corrected === 1 ? 'copy' : 'copies'}` : 'All copies are correct';
      print(command, { organizations, corrected }, `${totals}\n${copies}`);
    });

  program
    .command('doctor')
    .description('check the installation')
    .option('--verbose', 'list everything that is wrong, however much it is')
    .option('--deep', 'also check that the rows of all organizations add up, which reads all of them')
    .action(async (options: { verbose?: boolean; deep?: boolean }, command: Command) => {
      const { env, stop } = await openDatabase();
      try {
        const findings = await examine(env, options);
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
