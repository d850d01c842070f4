import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import sql from 'sql-template-tag';
import { Vault } from '@app/config';
import type { Tenant } from '@app/database';
import { Failure, minute, print, printRows } from '../output.js';
import { inSlugs, organizationIn, slugsOf } from '../slugs.js';
import { withContext, type CommandContext } from '../command-context.js';

interface TargetOptions {
  org?: string;
  brand?: string;
}

interface SetOptions extends TargetOptions {
  url: string;
  secretFile?: string;
  secretStdin?: boolean;
  /** Refused: everybody on the machine can see a process's arguments. */
  secret?: string;
}

/** The target of a site's hook, and its tenant. */
interface Target {
  target: string;
  organizationId: string | null;
  tenant: Tenant;
}

interface HookRow {
  target: string;
  url: string;
  created_at: Date;
}

/** No organization has this id: a brand's hook is only visible through the platform capability. */
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000';

const SHORTEST_SECRET = 16;

/** `hook set`, `hook list`, `hook remove`. */
export function addHookCommands(program: Command): void {
  const hook = program.command('hook').description('build hooks, which are called when a published site changes');

  withTarget(hook.command('set'))
    .description('set or replace the hook of an organization or a brand')
    .requiredOption('--url <url>', 'http(s) address that receives the signed POST')
    .option(
      '--secret-file <file>',
      `file with the signing secret, at least ${SHORTEST_SECRET} characters (default: generated, and shown once)`,
    )
    .option('--secret-stdin', 'read the signing secret from standard input')
    .addOption(new Option('--secret [secret]').hideHelp())
    .action(async ({ url: given, ...options }: SetOptions, command: Command) => {
      const url = parseUrl(given);
      const secret = readSecret(options);
      const key = secret ?? randomBytes(32).toString('hex');
      const target = await withContext(async (context) => {
        const found = await targetOf(context, options);
        const sealed = new Vault(context.env).seal('hook secrets', key);
        await context.db.transaction(found.tenant, () =>
          context.db.query(sql`
            INSERT INTO rebuild_hooks (target, organization_id, url, secret)
            VALUES (${found.target}, ${found.organizationId}, ${url}, ${sealed})
            ON CONFLICT (target) DO UPDATE SET url = excluded.url, secret = excluded.secret`),
        );
        return found.target;
      });
      const made = secret === null ? { secret: key } : {};
      print(
        command,
        { target, url: withoutPath(url), ...made },
        [
          `Set the build hook of ${options.org ?? options.brand!} to ${withoutPath(url)}`,
          ...(secret === null ? ['', 'Calls are signed with this secret, shown only once:', '', `  ${key}`] : []),
          '',
          'X-Signature is "sha256=" followed by the hex HMAC-SHA256 of "<X-Timestamp>.<body>".',
        ].join('\n'),
      );
    });

  hook
    .command('list')
    .description('list the hooks, without secrets and without paths, which may be secret too')
    .action(async (_options: object, command: Command) => {
      const [rows, slugs] = await withContext(
        async ({ db, organizations }) =>
          [
            await db.lookUp<HookRow>(sql`SELECT * FROM list_rebuild_hooks()`),
            slugsOf(await organizations.list()),
          ] as const,
      );
      printRows(command, rows, {
        json: ({ target, url, created_at }) => ({
          target,
          organization: organizationIn(target, slugs),
          url: withoutPath(url),
          created_at,
        }),
        columns: {
          SITE: ({ target }) => inSlugs(target, slugs),
          ADDRESS: ({ url }) => withoutPath(url),
          'CREATED (UTC)': ({ created_at }) => minute(created_at),
        },
        empty: 'No build hooks are set.',
      });
    });

  withTarget(hook.command('remove'))
    .description('remove the hook of an organization or a brand')
    .action(async (options: TargetOptions, command: Command) => {
      const removed = await withContext(async (context) => {
        const { target, tenant } = await targetOf(context, options);
        const rows = await context.db.transaction(tenant, () =>
          context.db.manager.query<[unknown[], number]>('DELETE FROM rebuild_hooks WHERE target = $1', [target]),
        );
        return rows[1] > 0 ? target : null;
      });
      if (!removed) throw new Failure('There is no such hook');
      print(command, { target: removed, removed: true }, `Removed the build hook of ${options.org ?? options.brand!}`);
    });
}

function withTarget(command: Command): Command {
  return command.option('--org <slug>', "an organization's site").option('--brand <name>', "a brand's site");
}

async function targetOf({ env, organizationId }: CommandContext, { org, brand }: TargetOptions): Promise<Target> {
  if ((org === undefined) === (brand === undefined)) throw new Failure('Give either --org or --brand');
  if (org !== undefined) {
    const id = await organizationId(org);
    return { target: `organization:${id}`, organizationId: id, tenant: { organizationId: id } };
  }
  const brands = env.get('BLOG_BRANDS');
  if (!brands.includes(brand!))
    throw new Failure(`There is no brand "${brand!}". The brands are: ${brands.join(', ')}`);
  const tenant = { organizationId: NO_ORGANIZATION, platformBlog: true };
  return { target: `brand:${brand!}`, organizationId: null, tenant };
}

/** The path of a hosting service's hook is itself a secret: whoever knows it can start builds. */
function withoutPath(address: string): string {
  const { origin, pathname, search } = new URL(address);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
}

/** Messages omit the URL, which may contain a password. */
function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Failure('Give an http(s) address.');
  if (url.username || url.password) {
    throw new Failure(
      'The address must not contain a user or password. Calls are signed: check the signature instead.',
    );
  }
  return url.href;
}

/** Null when none is given. */
function readSecret({ secret, secretFile, secretStdin }: Omit<SetOptions, 'url'>): string | null {
  if (secret !== undefined) {
    throw new Failure("Everybody on this machine can see a command's arguments. Use --secret-file or --secret-stdin.");
  }
  if (secretFile !== undefined && secretStdin) throw new Failure('Give either --secret-file or --secret-stdin');
  if (secretFile === undefined && !secretStdin) return null;
  const text = readText(secretFile ?? 0).replace(/\r?\n$/, '');
  if (text.length < SHORTEST_SECRET) throw new Failure(`A secret needs at least ${SHORTEST_SECRET} characters`);
  return text;
}

/** @param source a file, or 0 for standard input */
function readText(source: string | 0): string {
  try {
    return readFileSync(source, 'utf8');
  } catch (error) {
    throw new Failure(`The secret cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}
