import type { Command } from 'commander';
import { MembershipNotices } from '@app/access';
import { CONTACT, IDENTITY, Identities, Operations, OrganizationSettings, PasswordLinks, SELLER } from '@app/people';
import { AuditLog, OPERATOR } from '@app/audit';
import { normalizeEmail } from '@app/database';
import { type EmailSender, Outbox } from '@app/jobs';
import { launcherOf } from '../start/data-lock.js';
import { Failure, minute, print, printRows } from '../output.js';
import { type CommandContext, withContext } from '../command-context.js';
import { addPromotion } from './members.js';
import { addMovingCommands } from './moving.js';
import sql from 'sql-template-tag';

interface CreateOptions {
  name: string;
  slug: string;
  timezone?: string;
  currency?: string;
}

/** What the operator can change. */
const SETTINGS = { ...IDENTITY, ...CONTACT, paymentTermsDays: SELLER.paymentTermsDays };

interface UpdateOptions extends Partial<Record<keyof typeof CONTACT, string>> {
  org: string;
  name?: string;
  timezone?: string;
  currency?: string;
  termsDays?: string;
}

/** `org create`, `org update`, `org list`, `owner create`, `owner promote`, `login verify`. */
export function addOrganizationCommands(program: Command): void {
  const org = program.command('org').description('manage organizations');

  org
    .command('create')
    .description('create an organization')
    .requiredOption('--name <name>', 'name of the organization')
    .requiredOption('--slug <slug>', 'short name, used in other commands and in the portal')
    .option('--timezone <zone>', 'IANA time zone (default: Australia/Melbourne)')
    .option('--currency <code>', 'ISO 4217 code (default: AUD)')
    .action(async ({ name, slug, timezone, currency }: CreateOptions, command: Command) => {
      const { id } = await withContext(({ organizations }) =>
        organizations.create({ name, slug, ...(timezone && { timeZone: timezone }), ...(currency && { currency }) }),
      );
      print(command, { id, slug }, `Created organization "${slug}": ${id}`);
    });

  org
    .command('update')
    .description('change an organization: its currency only while it has no money')
    .requiredOption('--org <slug>', 'the organization')
    .option('--name <name>', 'name of the organization')
    .option('--timezone <zone>', 'IANA time zone')
    .option('--currency <code>', 'ISO 4217 code')
    .option('--terms-days <days>', 'days from the issue of an invoice until it is due, 0 to 365')
    .option('--app-url <url>', 'where people find their lessons, with https; empty to remove it')
    .option('--privacy-url <url>', 'the page that says how data is used')
    .option('--postal-address <address>', 'postal address, on one line')
    .option('--phone <number>', 'phone number')
    .action(async ({ org, timezone: timeZone, termsDays, ...rest }: UpdateOptions, command: Command) => {
      const given = { ...rest, timeZone, paymentTermsDays: termsDays };
      if (Object.values(given).every((value) => value === undefined)) {
        throw new Failure('Say what to change: --name, --timezone, --currency, --terms-days or --app-url, for example');
      }
      const fields = await withContext(async ({ rules, organizationId }) => {
        const id = await organizationId(org);
        const change = async () => {
          const { changed } = await rules.get(OrganizationSettings).change(id, OPERATOR, SETTINGS, given);
          const columns = changed.map((one) => SETTINGS[one].column);
          return { changed: columns.length > 0, audit: { fields: columns }, answer: columns };
        };
        return (await rules.get(Operations).perform(id, OPERATOR, 'change settings', {}, change))!.answer;
      });
      const words = fields.length > 0 ? `Changed ${fields.join(', ')} of "${org}"` : `Nothing to change in "${org}"`;
      print(command, { organization: org, changed: fields }, words);
    });

  org
    .command('list')
    .description('list the organizations')
    .action(async (_options: object, command: Command) => {
      const rows = await withContext(({ organizations }) => organizations.list());
      printRows(command, rows, {
        fields: ['id', 'slug', 'name', 'timeZone', 'currency', 'createdAt'],
        columns: {
          SLUG: (row) => row.slug,
          NAME: (row) => row.name,
          'TIME ZONE': (row) => row.timeZone,
          CURRENCY: (row) => row.currency,
          'CREATED (UTC)': (row) => minute(row.createdAt),
          ID: (row) => row.id,
        },
        empty:
          "There are no organizations yet. Create one: npm run --silent cli -- org create --name 'My School' --slug mine",
      });
    });

  addMovingCommands(program, org);

  const owner = program.command('owner').description('manage owners of organizations');
  addPromotion(owner);
  owner
    .command('create')
    .description('add an owner to an organization, who gets a link to set a password')
    .requiredOption('--org <slug>', 'the organization')
    .requiredOption('--email <address>', "the person's email address")
    .action(async ({ org, email }: { org: string; email: string }, command: Command) => {
      const { userId, created, link } = await withContext(async (context) => {
        const organizationId = await context.organizationId(org);
        const { rules } = context;
        const owner = await context.organizations.addOwner(organizationId, email, async (id) => {
          await rules.get(AuditLog).add(organizationId, OPERATOR, 'add owner', { user_id: id });
          await rules.get(MembershipNotices).managerAdded(organizationId, OPERATOR, id, 'owner');
        });
        return { ...owner, link: await welcome(context, organizationId, email, owner.userId) };
      });
      const words = created
        ? `${email} is now an owner of "${org}" (user ${userId})`
        : `${email} is already an owner of "${org}"`;
      const { mailed = false, url = null } = link ?? {};
      const result = { user_id: userId, created, password_mailed: mailed, password_url: url };
      print(command, result, [words, hintOf(link)].join('\n').trim());
    });

  program
    .command('login')
    .description("manage people's logins")
    .command('verify')
    .description("mark a login's email address as verified, for when no mail can prove it")
    .argument('<address>', 'the email address')
    .action(async (address: string, _options: object, command: Command) => {
      const found = await withContext(({ rules }) => rules.get(Identities).vouchFor(normalizeEmail(address)));
      if (!found) throw new Failure(`There is no login with the address ${address}`);
      print(command, { address, verified: true }, `${address} is now verified`);
    });
}

interface WelcomeLink {
  mailed: boolean;
  /** For the operator to pass on; null if the link is mailed. */
  url: string | null;
}

/** Creates a link to set a password for an owner without one. Mails it, or returns it if no mail is sent. */
async function welcome({ db, env, rules }: CommandContext, organizationId: string, email: string, userId: string) {
  const login = await rules.get(Identities).find(normalizeEmail(email));
  if (!login || login.used) return null;
  const { url, expiresAt } = await rules.get(PasswordLinks).handOut(userId);
  // A service that runs on this data folder at least writes mails to files, whatever this command's settings say.
  const sends = env.get('SMTP_URL') !== null || launcherOf(env.get('DATA_DIR')) !== null;
  if (!sends || env.get('ENCRYPTION_KEY') === null) return { mailed: false, url };
  await db.transaction({ organizationId }, async () => {
    const [organization] = await db.query<EmailSender>(sql`
      SELECT name, time_zone AS "timeZone" FROM organizations WHERE id = ${organizationId}`);
    const mail = {
      kind: 'owner_welcome',
      to: email,
      firstName: null,
      role: 'admin',
      link: { url, expiresAt },
    } as const;
    await rules.get(Outbox).addAdmitted({ organizationId, organization: organization! }, [mail]);
  });
  return { mailed: true, url: null };
}

function hintOf(link: WelcomeLink | null): string {
  if (!link) return '';
  return link.mailed
    ? 'They have been emailed a link to set a password.'
    : `Send them this link to set a password. It works once, within 7 days:\n${link.url ?? ''}`;
}
