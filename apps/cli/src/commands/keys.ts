import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  ApiKeys,
  isScope,
  type KeyExpiry,
  type ListedKey,
  type MadeKey,
  type Overlap,
  OVERLAPS,
  type Scope,
  SCOPES,
} from '@app/access';
import type { Env } from '@app/config';
import { canonicalUuid, parseDate } from '@app/database';
import { Failure, minute, print, printRows } from '../output.js';
import { launcherOf } from '../start/data-lock.js';
import { type CommandContext, withContext } from '../command-context.js';

interface CreateOptions {
  org: string;
  name: string;
  scopes: Scope[];
  expires?: KeyExpiry;
  platformBlog?: boolean;
}

const KEPT = Object.keys(OVERLAPS);

/** `key create`, `key list`, `key replace`, `key revoke`. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('manage API keys');

  key
    .command('create')
    .description('create an API key, which is shown only once')
    .requiredOption('--org <slug>', 'the organization')
    .requiredOption('--name <name>', 'what the key is for')
    .addOption(
      new Option('--scopes <a,b>', 'comma-separated scopes, listed below')
        .argParser(parseScopes)
        .default(['read'], 'read'),
    )
    .addHelpText('after', scopesHelp)
    .option('--expires <time>', 'when the key expires: its last day, or an ISO 8601 date-time', parseExpiry)
    .option('--platform-blog', "also give access to the platform's own blog posts")
    .action(async ({ org, name, scopes, expires, platformBlog }: CreateOptions, command: Command) => {
      const created = await withContext(async (context) => {
        const wanted = { name, scopes, expiresAt: expires ?? null, platformBlog: platformBlog ?? false };
        const organizationId = await context.organizationId(org);
        const made = await withKeys(context, wanted, (keys) => keys.create(organizationId, wanted));
        return { ...made, base: addressOf(context.env) };
      });
      printNew(command, created, { scopes }, `Scopes: ${scopes.join(', ')}.`);
    });

  key
    .command('list')
    .description('list the keys of an organization')
    .requiredOption('--org <slug>', 'the organization')
    .action(async ({ org }: { org: string }, command: Command) => {
      const keys = await withContext(async (context) => {
        const organizationId = await context.organizationId(org);
        return withKeys(context, {}, (all) => all.list(organizationId));
      });
      printRows(command, keys, {
        fields: ['id', 'name', 'display', 'scopes', 'platformBlog', 'status', 'expiresAt', 'lastUsedAt', 'createdAt'],
        columns: {
          ID: ({ id }) => id,
          KEY: ({ display }) => display,
          STATUS: ({ status }) => status,
          'LAST USED (UTC)': ({ lastUsedAt }) => minute(lastUsedAt, 'never'),
          'EXPIRES (UTC)': ({ expiresAt }) => minute(expiresAt, 'never'),
          NAME: ({ name }) => name,
          SCOPES: ({ scopes }) => scopes.join(','),
        },
        empty: `"${org}" has no keys. Create one: npm run --silent cli -- key create --org ${org} --name …`,
      });
    });

  key
    .command('replace')
    .description('replace a key with a new one of the same name and scopes, which is shown only once')
    .argument('<id>', 'the id of the key, as shown by "key list"')
    .addOption(new Option('--overlap <time>', 'how long the old key keeps working').choices(KEPT).default('24h'))
    .action(async (id: string, { overlap }: { overlap: Overlap }, command: Command) => {
      const made = await withContext(async (context) => {
        const [organizationId, old] = await find(context, id);
        const created = await withKeys(context, old, (keys) => keys.replace(organizationId, id, { overlap }));
        return { ...created, base: addressOf(context.env) };
      });
      const old = overlap === 'now' ? 'no longer works' : `keeps working for at most ${overlap}`;
      printNew(command, made, { replaces: id }, `The old key ${old}.`);
    });

  key
    .command('revoke')
    .description('revoke a key, immediately and permanently')
    .argument('<id>', 'the id of the key, as shown by "key list"')
    .action(async (id: string, _options: object, command: Command) => {
      await withContext(async (context) => {
        const [organizationId] = await find(context, id);
        await withKeys(context, {}, (keys) => keys.revokeOf(organizationId, id));
      });
      print(command, { id, revoked: true }, `Revoked key ${id}. Requests that use it are now refused.`);
    });
}

/** Only the operator gives access to the platform's own posts, which no process may: as the owner. */
function withKeys<T>(
  { rules, asPortal }: CommandContext,
  { platformBlog = false }: { platformBlog?: boolean },
  work: (keys: ApiKeys) => Promise<T>,
): Promise<T> {
  return platformBlog ? work(rules.get(ApiKeys)) : asPortal((inside) => work(inside.get(ApiKeys)));
}

/** @throws Failure if there is no such key */
async function find({ rules }: CommandContext, id: string): Promise<[organizationId: string, key: ListedKey]> {
  const keys = rules.get(ApiKeys);
  const organizationId = canonicalUuid(id) ? await keys.organizationOf(id) : null;
  const key = organizationId && (await keys.get(organizationId, id));
  if (!key) throw new Failure(`There is no key ${id}: see "key list"`);
  return [organizationId, key];
}

/** Shows a new key. It cannot be shown again. */
function printNew(command: Command, made: MadeKey & { base: string }, more: object, note: string): void {
  const { id, key, expiresAt, base } = made;
  const words = `Your API key, shown only once:

  ${key}

${note} Try it:

  curl -H 'Authorization: Token token=${key}' ${base}/v1/me`;
  print(command, { id, key, ...more, expires_at: expiresAt?.toISOString() ?? null }, words);
}

function parseScopes(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !isScope(name));
  if (unknown.length === 0) return [...new Set(names as Scope[])];
  const known = Object.keys(SCOPES).join(', ');
  throw new InvalidArgumentError(`There is no scope "${unknown[0] ?? ''}". Choose from: ${known}.`);
}

function parseExpiry(text: string): KeyExpiry {
  const date = parseDate(text);
  if (!date) throw new InvalidArgumentError('Must be an ISO 8601 date or date-time.');
  if (date.wholeDay) return { endOf: text };
  if (date.at.getTime() <= Date.now()) throw new InvalidArgumentError('That time has already passed.');
  return date.at;
}

/** The service's URL: as configured, as running in this data folder, or as the service would start. */
function addressOf(env: Env): string {
  const running = launcherOf(env.get('DATA_DIR'))?.url;
  return env.get('PUBLIC_URL') ?? running ?? env.apiUrl;
}

function scopesHelp(): string {
  const width = Math.max(...Object.keys(SCOPES).map((name) => name.length));
  const lines = Object.entries(SCOPES).map(([name, text]) => `\n  ${name.padEnd(width)}  ${text}`);
  return `\nScopes:${lines.join('')}`;
}
