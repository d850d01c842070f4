import type { Command } from 'commander';
import { Identities, normalizeEmail } from '@app/accounts';
import { Failure, minute, print, printRows } from '../output.js';
import { withWorkplace } from '../workplace.js';

interface CreateOptions {
  name: string;
  slug: string;
  timezone?: string;
  currency?: string;
}

/** `org create`, `org list`, `owner create`, `login verify`. */
export function addOrganizationCommands(program: Command): void {
  const org = program.command('org').description('organizations');

  org
    .command('create')
    .description('create an organization')
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--slug <slug>', 'short name that the other commands use')
    .option('--timezone <zone>', 'IANA time zone (default: Australia/Melbourne)')
    .option('--currency <code>', 'ISO 4217 code (default: AUD)')
    .action(async ({ name, slug, timezone, currency }: CreateOptions, command: Command) => {
      const { id } = await withWorkplace(({ organizations }) =>
        organizations.create({
          name,
          slug,
          ...(timezone && { timeZone: timezone }),
          ...(currency && { currency }),
        }),
      );
      print(command, { id, slug }, `Created organization "${slug}": ${id}`);
    });

  org
    .command('list')
    .description('list the organizations')
    .action(async (_options: object, command: Command) => {
      const rows = await withWorkplace(({ organizations }) => organizations.list());
      printRows(command, rows, {
        json: ({ id, slug, name, timeZone, currency, createdAt }) => ({
          id,
          slug,
          name,
          time_zone: timeZone,
          currency,
          created_at: createdAt,
        }),
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

  program
    .command('owner')
    .description('owners of organizations')
    .command('create')
    .description('make a person an owner of an organization')
    .requiredOption('--org <slug>', 'the organization')
    .requiredOption('--email <address>', "the person's email address")
    .action(async ({ org, email }: { org: string; email: string }, command: Command) => {
      const { userId, created } = await withWorkplace(async ({ organizations, organizationId }) =>
        organizations.addOwner(await organizationId(org), email),
      );
      print(
        command,
        { user_id: userId, created },
        created ? `${email} is now an owner of "${org}": ${userId}` : `${email} is already an owner of "${org}"`,
      );
    });

  program
    .command('login')
    .description("people's logins")
    .command('verify')
    .description("confirm by hand that a login's address belongs to its owner, when no mail can prove it")
    .argument('<address>', 'the email address')
    .action(async (address: string, _options: object, command: Command) => {
      const found = await withWorkplace(({ db }) => new Identities(db).vouchFor(normalizeEmail(address)));
      if (!found) throw new Failure(`There is no login with the address ${address}`);
      print(command, { address, verified: true }, `${address} is verified`);
    });
}
