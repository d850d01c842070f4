import type { Command } from 'commander';
import sql from 'sql-template-tag';
import { Offboarding, Roles } from '@app/access';
import { OPERATOR } from '@app/audit';
import { normalizeEmail } from '@app/database';
import { Operations } from '@app/people';
import type { SessionsAhead } from '@app/scheduling';
import { type CommandContext, withContext } from '../command-context.js';
import { Failure, print } from '../output.js';

interface RemoveOptions {
  org: string;
  email: string;
  sessions: string;
  handOverTo?: string;
}

/** `member remove`. */
export function addMemberCommands(program: Command): void {
  program
    .command('member')
    .description('manage who belongs to an organization')
    .command('remove')
    .description('end what somebody is in an organization, with their keys, places and sessions ahead')
    .requiredOption('--org <slug>', 'the organization')
    .requiredOption('--email <address>', "the person's email address")
    .option('--sessions <choice>', 'sessions ahead of a tutor: unassign or cancel', 'unassign')
    .option('--hand-over-to <address>', 'the tutor who takes them over instead')
    .action(async ({ org, email, sessions, handOverTo }: RemoveOptions, command: Command) => {
      const ended = await withContext(async (context) => {
        const organizationId = await context.organizationId(org);
        const userId = await memberOf(context, organizationId, email);
        const ahead: SessionsAhead =
          handOverTo === undefined
            ? { do: choiceOf(sessions) }
            : { do: 'hand_over', to: await memberOf(context, organizationId, handOverTo) };
        return context.asPortal(async (rules) => {
          const end = () => rules.get(Offboarding).ended(organizationId, OPERATOR, { userId, sessions: ahead });
          const operations = rules.get(Operations);
          return (await operations.perform(organizationId, OPERATOR, 'end membership', { user_id: userId }, end))!
            .answer;
        });
      });
      const { changed, keys, handedOver, unassigned, cancelled } = ended;
      const words = changed
        ? `${email} no longer belongs to "${org}". API keys revoked: ${keys}. Sessions ahead handed over: ${handedOver}, without a tutor: ${unassigned}, cancelled: ${cancelled}`
        : `${email} did not belong to "${org}" any more`;
      print(command, { email, changed, keys, handed_over: handedOver, unassigned, cancelled }, words);
    });
}

/** `owner promote`, below `owner`. */
export function addPromotion(owner: Command): void {
  owner
    .command('promote')
    .description('make an admin or tutor of an organization an owner')
    .requiredOption('--org <slug>', 'the organization')
    .requiredOption('--email <address>', "the person's email address")
    .action(async ({ org, email }: { org: string; email: string }, command: Command) => {
      const changed = await withContext(async (context) => {
        const organizationId = await context.organizationId(org);
        const userId = await memberOf(context, organizationId, email);
        return context.asPortal(async (rules) => {
          const change = () => rules.get(Roles).change(organizationId, OPERATOR, userId, 'owner');
          const operations = rules.get(Operations);
          return (await operations.perform(organizationId, OPERATOR, 'change role', { user_id: userId }, change))!
            .changed;
        });
      });
      print(command, { email, changed }, `${email} is ${changed ? 'now' : 'already'} an owner of "${org}"`);
    });
}

function choiceOf(text: string): 'unassign' | 'cancel' {
  if (text === 'unassign' || text === 'cancel') return text;
  throw new Failure(`"${text}" is not possible with --sessions: use unassign or cancel`);
}

/** @throws Failure for an address that belongs to nobody of the organization */
export async function memberOf({ db }: CommandContext, organizationId: string, email: string): Promise<string> {
  const rows = await db.transaction({ organizationId }, () =>
    db.query<{ id: string }>(sql`
      SELECT l.id FROM logins_by_email(ARRAY[${normalizeEmail(email.trim())}]) l WHERE EXISTS (
        SELECT FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = l.id
        UNION ALL SELECT FROM parents p WHERE p.organization_id = ${organizationId} AND p.user_id = l.id)`),
  );
  if (!rows[0]) throw new Failure(`Nobody in this organization has the address ${email}`);
  return rows[0].id;
}
