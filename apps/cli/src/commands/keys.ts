import { type Command, InvalidArgumentError } from 'commander';
import { isScope, type Scope, SCOPES } from '@app/accounts';
import type { ApiKey } from '@app/database';
import { Failure, print } from '../output.js';
import { withWorkplace } from '../workplace.js';

interface CreateOptions {
  org: string;
  name: string;
  scopes: Scope[];
  expires?: Date;
  platformBlog?: boolean;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `key create`, `key list`, `key revoke`. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys');

  key
    .command('create')
    .description('make an API key; it is shown once')
    .requiredOption('--org <slug>', 'the organization')
    .requiredOption('--name <name>', 'what it is for')
    .option('--scopes <a,b>', 'what it may do', parseScopes, ['read'])
    .option('--expires <time>', 'ISO 8601 date or date-time after which it is refused', parseExpiry)
    .option('--platform-blog', "the platform's own blog posts too")
    .action(async ({ org, name, scopes, expires, platformBlog }: CreateOptions, command: Command) => {
      if (name.length < 1 || name.length > 100) throw new Failure('A key’s name has 1 to 100 characters');
      const created = await withWorkplace(async ({ keys, organizationId, env }) => {
        const made = await keys.create(await organizationId(org), {
          name,
          scopes,
          expiresAt: expires ?? null,
          platformBlog: platformBlog ?? false,
        });
        return { ...made, port: env.get('PORT') };
      });
      print(
        command,
        { id: created.id, key: created.key, scopes, expires_at: expires?.toISOString() ?? null },
        [
          `The key, shown this once:`,
          ``,
          `  ${created.key}`,
          ``,
          `It may: ${scopes.join(', ')}. Try it:`,
          ``,
          `  curl -H 'Authorization: Token token=${created.key}' http://localhost:${created.port}/v1/me`,
        ].join('\n'),
      );
    });

  key
    .command('list')
    .description('list the keys of an organization')
    .requiredOption('--org <slug>', 'the organization')
    .action(async ({ org }: { org: string }, command: Command) => {
      const { keys, prefix } = await withWorkplace(async (workplace) => ({
        keys: await workplace.keys.list(await workplace.organizationId(org)),
        prefix: workplace.env.get('API_KEY_PREFIX'),
      }));
      if (keys.length === 0 && !command.optsWithGlobals<{ json?: boolean }>().json) {
        process.stdout.write(
          `"${org}" has no keys. Make one: npm run --silent cli -- key create --org ${org} --name …\n`,
        );
      }
      for (const entry of keys) printKey(command, entry, prefix);
    });

  key
    .command('revoke')
    .description('revoke a key, at once and for good')
    .argument('<id>', 'its id, as "key list" shows it')
    .action(async (id: string, _options: object, command: Command) => {
      const known = UUID.test(id) && (await withWorkplace(({ keys }) => keys.revoke(id)));
      if (!known) throw new Failure(`There is no key ${id}`);
      print(command, { id, revoked: true }, `Key ${id} is revoked: every request with it is refused from now on`);
    });
}

function parseScopes(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !isScope(name));
  if (unknown.length > 0) {
    throw new InvalidArgumentError(
      `There is no scope "${unknown[0] ?? ''}". There are: ${Object.keys(SCOPES).join(', ')}.`,
    );
  }
  return [...new Set(names as Scope[])];
}

function parseExpiry(text: string): Date {
  const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;
  // A time without an offset is UTC, as everywhere in the interface; Date would take it for local time.
  const date = new Date(text.includes('T') && !/(Z|[+-]\d{2}:\d{2})$/.test(text) ? `${text}Z` : text);
  if (!iso.test(text) || Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('Give an ISO 8601 date or date-time.');
  if (date.getTime() <= Date.now()) throw new InvalidArgumentError('That time is past already.');
  return date;
}

function printKey(command: Command, key: ApiKey, prefix: string): void {
  const expired = key.expiresAt !== null && key.expiresAt.getTime() <= Date.now();
  const status = key.revokedAt ? 'revoked' : expired ? 'expired' : 'active';
  const display = `${prefix}_live_${key.firstFour}…${key.lastFour}`;
  print(
    command,
    {
      id: key.id,
      name: key.name,
      display,
      scopes: key.scopes,
      platform_blog: key.platformBlog,
      status,
      expires_at: key.expiresAt,
      last_used_at: key.lastUsedAt,
      created_at: key.createdAt,
    },
    [
      key.id,
      display,
      status.padEnd(7),
      key.scopes.join(','),
      `last used ${key.lastUsedAt?.toISOString().slice(0, 16) ?? 'never'}`,
      key.expiresAt ? `expires ${key.expiresAt.toISOString()}` : 'no expiry',
      key.name,
    ].join('  '),
  );
}
