import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import sql from 'sql-template-tag';
import { BuildHooks, type HookSite, siteOf, siteOfBrand, withoutPath } from '@app/publishing';
import { hookUrl } from '@app/webhooks';
import { Failure, minute, print, printRows } from '../output.js';
import { inSlugs, organizationIn } from '../slugs.js';
import { withContext, type CommandContext } from '../command-context.js';

interface TargetOptions {
  org?: string;
  brand?: string;
}

interface SetOptions extends TargetOptions {
  url: string;
  secretFile?: string;
  secretStdin?: boolean;
  /** Rejected, because everybody on the machine can see a process's arguments. */
  secret?: string;
}

const SHORTEST_SECRET = 16;

/** `hook set`, `hook list`, `hook rotate`, `hook test`, `hook remove`. */
export function addHookCommands(program: Command): void {
  const hook = program
    .command('hook')
    .description('manage build hooks, which are called when published content changes');

  withTarget(hook.command('set'))
    .description('set or replace the hook of an organization or a brand')
    .requiredOption('--url <url>', 'http(s) URL that receives the signed POST requests')
    .option(
      '--secret-file <file>',
      `file that contains the signing secret, at least ${SHORTEST_SECRET} characters (default: generated and shown once)`,
    )
    .option('--secret-stdin', 'read the signing secret from standard input')
    .addOption(new Option('--secret [secret]').hideHelp())
    .action(async ({ url: given, ...options }: SetOptions, command: Command) => {
      const url = parseUrl(given);
      const secret = readSecret(options);
      const { target, result: key } = await withHook(options, (hooks, site) =>
        hooks.set(site, url, secret ?? undefined),
      );
      const shown = withoutPath(url);
      const made = secret === null ? { secret: key } : {};
      const words = `Set the build hook of ${nameOf(options)} to ${shown}${secret === null ? once(key) : ''}

X-Signature is "sha256=" followed by the hex HMAC-SHA256 of "<X-Timestamp>.<body>".`;
      print(command, { target, url: shown, ...made }, words);
    });

  hook
    .command('list')
    .description('list the hooks, without their secrets and without URL paths, which may be secret too')
    .action(async (_options: object, command: Command) => {
      const [rows, slugs] = await withContext(async ({ db, slugs: all }) => {
        type Row = { target: string; url: string; createdAt: Date };
        const found = db.lookUp<Row>(sql`SELECT target, url, created_at AS "createdAt" FROM list_rebuild_hooks()`);
        return [await found, await all()] as const;
      });
      const shown = rows.map(({ target, url, createdAt }) => {
        return { target, organization: organizationIn(target, slugs), url: withoutPath(url), createdAt };
      });
      printRows(command, shown, {
        fields: ['target', 'organization', 'url', 'createdAt'],
        columns: {
          SITE: ({ target }) => inSlugs(target, slugs),
          URL: ({ url }) => url,
          'CREATED (UTC)': ({ createdAt }) => minute(createdAt),
        },
        empty: 'No build hooks are set.',
      });
    });

  withTarget(hook.command('rotate'))
    .description('replace the signing secret; for 24 hours, calls are also signed with the previous one')
    .action(async (options: TargetOptions, command: Command) => {
      const { target, result: secret } = await withHook(options, (hooks, site) => hooks.rotate(site));
      if (secret === null) throw new Failure(NO_HOOK);
      const words = `Replaced the secret of the build hook of ${nameOf(options)}${once(secret)}

For 24 hours, X-Signature-Previous has the signature made with the previous secret.`;
      print(command, { target, secret }, words);
    });

  withTarget(hook.command('test'))
    .description('call the hook once, with the event "test"; "outbox list" shows the result')
    .action(async (options: TargetOptions, command: Command) => {
      const { target, result: queued } = await withHook(options, async (hooks, site) =>
        (await hooks.find(site)) === null ? null : hooks.test(site),
      );
      if (queued === null) throw new Failure(NO_HOOK);
      if (!queued) throw new Failure('The last test was less than ten seconds ago. Wait a moment, then try again');
      print(command, { target, queued }, `Queued a test of the build hook of ${nameOf(options)}`);
    });

  withTarget(hook.command('remove'))
    .description('remove the hook of an organization or a brand')
    .action(async (options: TargetOptions, command: Command) => {
      const { target, result: removed } = await withHook(options, (hooks, site) => hooks.remove(site));
      if (!removed) throw new Failure(NO_HOOK);
      print(command, { target, removed }, `Removed the build hook of ${nameOf(options)}`);
    });
}

const NO_HOOK = 'No build hook is set. Set one with "hook set"';

const nameOf = ({ org, brand }: TargetOptions) => org ?? brand!;

const once = (secret: string) => `\n\nCalls are signed with this secret, shown only once:\n\n  ${secret}`;

/** Runs the work in a transaction on behalf of the site, as the owner: only the operator trusts a hook and changes its URL, and brands are of no organization. */
function withHook<T>(options: TargetOptions, work: (hooks: BuildHooks, site: HookSite) => Promise<T>) {
  return withContext(async (context) => {
    const { db, rules } = context;
    const site = await siteIn(context, options);
    const result = await db.transaction(site.tenant, () => work(rules.get(BuildHooks), site));
    return { target: site.target, result };
  });
}

function withTarget(command: Command): Command {
  return command.option('--org <slug>', "an organization's site").option('--brand <name>', "a brand's site");
}

async function siteIn({ env, organizationId }: CommandContext, { org, brand }: TargetOptions): Promise<HookSite> {
  if ((org === undefined) === (brand === undefined)) throw new Failure('Specify either --org or --brand');
  if (org !== undefined) return siteOf(await organizationId(org));
  const brands = env.get('BLOG_BRANDS');
  if (!brands.includes(brand!))
    throw new Failure(`There is no brand "${brand!}". The brands are: ${brands.join(', ')}`);
  return siteOfBrand(brand!);
}

function parseUrl(text: string): string {
  try {
    return hookUrl(text);
  } catch (error) {
    throw new Failure((error as RangeError).message);
  }
}

/** @returns null if no secret is given */
function readSecret({ secret, secretFile, secretStdin }: Omit<SetOptions, 'url'>): string | null {
  if (secret !== undefined) {
    throw new Failure("Everybody on this machine can see a command's arguments. Use --secret-file or --secret-stdin.");
  }
  if (secretFile !== undefined && secretStdin)
    throw new Failure('Specify either --secret-file or --secret-stdin, not both');
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
