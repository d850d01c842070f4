import type { Command } from 'commander';
import sql from 'sql-template-tag';
import { Offboarding } from '@app/access';
import { OPERATOR } from '@app/audit';
import { ErasedList, Erasure, type Wanted } from '@app/erasure';
import { Operations } from '@app/people';
import { type CommandContext, withContext } from '../command-context.js';
import { Failure, print } from '../output.js';
import { memberOf } from './members.js';

interface EraseOptions {
  org: string;
  email?: string;
  id?: string;
  keepResults?: boolean;
  yes?: boolean;
}

/** `erase-person` and `erase`. */
export function addErasureCommands(program: Command): void {
  program
    .command('erase-person')
    .description('say what would go with somebody whose membership has ended, and erase them with --yes')
    .requiredOption('--org <slug>', 'the organization')
    .option('--email <address>', "the person's email address")
    .option('--id <id>', "the person's id instead")
    .option('--keep-results', 'keep their results, without a name')
    .option('--yes', 'erase: nothing brings them back')
    .action(async ({ org, email, id, keepResults = false, yes = false }: EraseOptions, command: Command) => {
      if ((email === undefined) === (id === undefined)) throw new Failure('Give --email or --id');
      const erased = await withContext(async (context) => {
        const organizationId = await context.organizationId(org);
        const wanted = { personId: id ?? (await memberOf(context, organizationId, email!)), keepResults };
        const erasure = context.rules.get(Erasure);
        return yes ? erasure.erase(organizationId, OPERATOR, wanted) : erasure.preview(organizationId, wanted);
      });
      const rows = (of: Record<string, number>) =>
        Object.entries(of)
          .map(([table, n]) => `${table} ${n}`)
          .join(', ') || 'none';
      const words = [
        `${email ?? id} ${yes ? 'was' : 'would be'} erased from "${org}".`,
        `Rows that ${yes ? 'went' : 'would go'}: ${rows(erased.erased)}.`,
        `Rows that name${yes ? '' : ' would name'} nobody${yes ? ' now' : ''}: ${rows(erased.changed)}.`,
        `Documents: ${erased.documents.length}.`,
        erased.gone ? 'The login too.' : 'The login stays: another organization is tied to it.',
        ...(yes ? [] : ['Nothing has changed: add --yes to erase.']),
      ];
      print(command, { ...erased, done: yes }, words.join(' '));
    });

  program
    .command('erase')
    .description('erase again, after a restore, everybody on the lists of erased people in the storage')
    .option('--again', 'after a restore')
    .action(async ({ again }: { again?: boolean }, command: Command) => {
      if (!again) throw new Failure('Say --again: to erase one person there is "erase-person"');
      await withContext(async (context) => {
        for (const { id, slug } of await context.organizations.list()) {
          for (const one of await context.rules.get(ErasedList).read(id)) {
            if (!(await isBack(context, id, one.person_id, one.erased_at))) continue;
            await eraseAgain(context, id, { personId: one.person_id, keepResults: one.keep_results });
            print(
              command,
              { organization: slug, person_id: one.person_id },
              `${one.person_id} was erased from "${slug}" again`,
            );
          }
        }
      });
    });
}

/** Whether somebody is there as before they were erased: whoever has come back since is not meant. */
async function isBack(
  { db }: CommandContext,
  organizationId: string,
  personId: string,
  erasedAt: string,
): Promise<boolean> {
  const rows = await db.transaction({ organizationId }, () =>
    db.query(sql`
      SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${personId} AND created_at < ${erasedAt}
      UNION ALL SELECT FROM parents WHERE organization_id = ${organizationId} AND user_id = ${personId} AND created_at < ${erasedAt}`),
  );
  return rows.length > 0;
}

/** As of the restored database they may still belong. */
async function eraseAgain(context: CommandContext, organizationId: string, wanted: Wanted): Promise<void> {
  const { personId: userId } = wanted;
  await context.asPortal((rules) =>
    rules
      .get(Operations)
      .perform(organizationId, OPERATOR, 'end membership', { user_id: userId }, () =>
        rules.get(Offboarding).ended(organizationId, OPERATOR, { userId, silently: true }),
      ),
  );
  await context.rules.get(Erasure).erase(organizationId, OPERATOR, wanted);
}
