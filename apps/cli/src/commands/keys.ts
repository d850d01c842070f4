import { type Command, InvalidArgumentError } from 'commander';
import { type ApiKey, isScope, type Scope, SCOPES } from '@app/accounts';
import type { Env } from '@app/config';
import { canonicalUuid } from '@app/database';
import { Failure, minute, print, printRows } from '../output.js';
import { launcherOf } from '../start/data-lock.js';
import { withContext } from '../command-context.js';

interface CreateOptions {
  org: string;
  name: string;
  scopes: Scope[];
  expires?: Date;
  platformBlog?: boolean;
}

/** `key create`, `key list`, `key revoke`. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys');

  key
    .command('create')
    .description('create an API key, which is shown only once')
    .requiredOption('--org <slug>', 'the organization')
    .requiredOption('--name <name>', 'what it is for')
    .option('--scopes <a,b>', 'comma-separated scopes, listed below', parseScopes, ['read'])
    .addHelpText('after', scopesHelp)
    .option('--expires <time>', 'ISO 8601 date or date-time when it stops working', parseExpiry)
    .option('--platform-blog', "also allow the platform's own blog posts")
    .action(async ({ org, name, scopes, expires, platformBlog }: CreateOptions, command: Command) => {
      if (name.length < 1 || name.length > 100) throw new Failure("A key's name must have 1 to 100 characters");
      const created = await withContext(async ({ keys, organizationId, env }) => {
        const made = await keys.create(await organizationId(org), {
          name,
          scopes,
          expiresAt: expires ?? null,
          platformBlog: platformBlog ?? false,
        });
        return { ...made, base: addressOf(env) };
      });
      print(
        command,
        { id: created.id, key: created.key, scopes, expires_at: expires?.toISOString() ?? null },
        [
          'Your API key, shown only once:',
          '',
          `  ${created.key}`,
          '',
          `Scopes: ${scopes.join(', ')}. Try it:`,
          '',
          `  curl -H 'Authorization: Token token=${created.key}' ${created.base}/v1/me`,
        ].join('\n'),
      );
    });

  key
    .command('list')
    .description('list the keys of an organization')
    .requiredOption('--org <slug>', 'the organization')
    .action(async ({ org }: { org: string }, command: Command) => {
      const { keys, prefix } = await withContext(async (context) => ({
        keys: await context.keys.list(await context.organizationId(org)),
        prefix: context.env.get('API_KEY_PREFIX'),
      }));
      printRows(command, keys, {
        json: (entry) => toJson(entry, prefix),
        columns: {
          ID: ({ id }) => id,
          KEY: (entry) => displayOf(entry, prefix),
          STATUS: statusOf,
          'LAST USED (UTC)': ({ lastUsedAt }) => minute(lastUsedAt, 'never'),
          'EXPIRES (UTC)': ({ expiresAt }) => minute(expiresAt, 'never'),
          NAME: ({ name }) => name,
          SCOPES: ({ scopes }) => scopes.join(','),
        },
        empty: `"${org}" has no keys. Create one: npm run --silent cli -- key create --org ${org} --name …`,
      });
    });

  key
    .command('revoke')
    .description('revoke a key, immediately and permanently')
    .argument('<id>', 'its id, as "key list" shows it')
    .action(async (id: string, _options: object, command: Command) => {
      const known = canonicalUuid(id) && (await withContext(({ keys }) => keys.revoke(id)));
      if (!known) throw new Failure(`There is no key ${id}`);
      print(command, { id, revoked: true }, `Revoked key ${id}. Requests with it are refused from now on.`);
    });
}

function parseScopes(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !isScope(name));
  if (unknown.length > 0) {
    throw new InvalidArgumentError(
      `There is no scope "${unknown[0] ?? ''}". Choose from: ${Object.keys(SCOPES).join(', ')}.`,
    );
  }
  return [...new Set(names as Scope[])];
}

function parseExpiry(text: string): Date {
  const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;
  // A time without an offset is UTC, as in the API; Date would take it for local time.
  const date = new Date(text.includes('T') && !/(Z|[+-]\d{2}:\d{2})$/.test(text) ? `${text}Z` : text);
  if (!iso.test(text) || Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('Give an ISO 8601 date or date-time.');
  if (date.getTime() <= Date.now()) throw new InvalidArgumentError('That time has already passed.');
  return date;
}

/** The service's URL: as configured, as running here, or as it would start. */
function addressOf(env: Env): string {
  const running = launcherOf(env.get('DATA_DIR'))?.url;
  return env.get('PUBLIC_URL') ?? running ?? `http://localhost:${env.get('PORT')}`;
}

function scopesHelp(): string {
  const width = Math.max(...Object.keys(SCOPES).map((name) => name.length));
  return ['', 'Scopes:', ...Object.entries(SCOPES).map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)].join(
    '\n',
  );
}

function statusOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt) return 'revoked';
  return expiresAt && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}

function displayOf({ firstFour, lastFour }: ApiKey, prefix: string): string {
  return `${prefix}_live_${firstFour}…${lastFour}`;
}

function toJson(key: ApiKey, prefix: string): object {
  return {
    id: key.id,
    name: key.name,
    display: displayOf(key, prefix),
    scopes: key.scopes,
    platform_blog: key.platformBlog,
    status: statusOf(key),
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
    created_at: key.createdAt,
  };
}
