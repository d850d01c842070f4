import { type Command, InvalidArgumentError } from 'commander';
import sql from 'sql-template-tag';
import { Vault } from '@app/config';
import { canonicalUuid, normalizeEmail, type Tables } from '@app/database';
import { inWords as problemInWords, openEmail, OUTBOX_STATUSES, type OutboxStatus } from '@app/jobs';
import { Failure, minute, print, printRows } from '../output.js';
import { inSlugs, type Slugs } from '../slugs.js';
import { withContext } from '../command-context.js';

const MOST = 10_000;

interface Row {
  id: string;
  organization_id: string | null;
  topic: Tables['outbox']['topic'];
  kind: string;
  recipient: string;
  payload: Buffer | null;
  status: OutboxStatus;
  attempts: number;
  due_at: Date;
  last_error: string | null;
  created_at: Date;
  finished_at: Date | null;
}

/** `outbox list`, `outbox show`, `outbox retry`, `outbox unsuppress`. */
export function addOutboxCommands(program: Command): void {
  const outbox = program
    .command('outbox')
    .description('inspect mails, build hook calls and webhook calls, and retry them');

  outbox
    .command('list')
    .description('list messages, newest first, with addresses masked')
    .option('--status <status>', `show only messages with this status: ${OUTBOX_STATUSES.join(', ')}`, parseStatus)
    .option('--limit <number>', 'show at most this many messages', parseLimit, 50)
    .action(async ({ status, limit }: { status?: string; limit: number }, command: Command) => {
      const [rows, slugs] = await withContext(async ({ db, slugs: all }) => {
        return [await db.lookUp<Row>(listing(status ?? null, null, limit)), await all()] as const;
      });
      printRows(command, rows, {
        json: (row) => presented(row, slugs),
        columns: {
          ID: ({ id }) => id,
          STATUS: (row) => row.status,
          TRIES: ({ attempts }) => String(attempts),
          KIND: ({ kind }) => kind,
          ORGANIZATION: (row) => presented(row, slugs).organization ?? '-',
          TO: (row) => inSlugs(presented(row, slugs).recipient, slugs),
          'CREATED (UTC)': ({ created_at }) => minute(created_at),
          'NEXT OR LAST TRY (UTC)': ({ due_at, finished_at }) => minute(finished_at ?? due_at),
          PROBLEM: ({ last_error }) => last_error ?? '-',
        },
        empty: status ? `There are no ${status} messages.` : 'The outbox is empty.',
      });
    });

  outbox
    .command('show')
    .description('show one message')
    .argument('<id>', 'the id of the message, as shown by "outbox list"')
    .option('--reveal', 'also show the full address and the link, which anybody who has it can use')
    .action(async (id: string, { reveal }: { reveal?: boolean }, command: Command) => {
      const { row, slugs } = await find(id);
      const shown = { ...presented(row, slugs), ...(reveal && (await revealed(row))) };
      const explained = {
        ...shown,
        recipient: inSlugs(shown.recipient, slugs),
        last_error: row.last_error && `${row.last_error}: ${problemInWords(row.last_error)}`,
      };
      const words = Object.entries(explained).map(([name, value]) => `${name.padEnd(16)} ${inWords(value)}`);
      print(command, shown, words.join('\n'));
    });

  outbox
    .command('retry')
    .description('queue a failed or dead mail or build hook call again, with all its tries')
    .argument('<id>', 'the id of the message')
    .action(async (id: string, _options: object, command: Command) => {
      const { row } = await find(id);
      if (row.topic === 'webhook') throw new Failure(`Message ${id} is a call of a webhook: see "webhooks replay".`);
      const [done] = await withContext(({ db }) =>
        db.lookUp<{ queued: boolean }>(sql`SELECT retry_outbox(${id}) AS queued`),
      );
      const busy = `Message ${id} is ${row.status} or being sent right now.`;
      if (!done?.queued) throw new Failure(`${busy} Only failed and dead messages can be queued again.`);
      print(command, { id, status: 'queued' }, `Message ${id} is queued again`);
    });

  outbox
    .command('unsuppress')
    .description('allow mail again to an address that a mail server permanently rejected')
    .argument('<address>', 'the email address')
    .action(async (address: string, _options: object, command: Command) => {
      const [done] = await withContext(({ db }) =>
        db.lookUp<{ found: boolean }>(sql`SELECT unsuppress_address(${normalizeEmail(address)}) AS found`),
      );
      if (!done?.found) throw new Failure(`Mail to ${address} is not suppressed`);
      print(command, { address, suppressed: false }, `Mail to ${address} is allowed again`);
    });
}

function listing(status: string | null, id: string | null, most: number) {
  return sql`SELECT * FROM list_outbox(${status}, ${id}::uuid, ${most})`;
}

/** @throws Failure if there is no such message */
function find(id: string): Promise<{ row: Row; slugs: Slugs }> {
  return withContext(async ({ db, slugs }) => {
    const [row] = canonicalUuid(id) ? await db.lookUp<Row>(listing(null, id, 1)) : [];
    if (!row) throw new Failure(`There is no message ${id}: see "outbox list"`);
    return { row, slugs: await slugs() };
  });
}

/** Safe to show in a terminal, ticket or log: contains no full address and no link. */
function presented({ payload: _payload, recipient, topic, ...row }: Row, slugs: Slugs) {
  const { id, status, kind, attempts, due_at, last_error, organization_id, created_at, finished_at } = row;
  const shown = topic === 'email' ? masked(recipient) : recipient;
  return {
    id,
    status,
    topic,
    kind,
    recipient: shown,
    attempts,
    due_at,
    last_error,
    organization_id,
    organization: slugs.get(organization_id ?? '') ?? null,
    created_at,
    finished_at,
  };
}

async function revealed({ topic, recipient, payload }: Row): Promise<Record<string, string>> {
  if (topic !== 'email' || !payload) return { recipient };
  const { joinUrl, expiresAt } = await withContext(({ env }) => Promise.resolve(openEmail(new Vault(env), payload)));
  // Leaves out the proof, which is only for the mail's recipient.
  return { recipient, ...(joinUrl && expiresAt && { join_url: joinUrl, expires_at: expiresAt }) };
}

/** `a…@example.org` */
function masked(address: string): string {
  const at = address.lastIndexOf('@');
  return at > 0 ? `${String.fromCodePoint(address.codePointAt(0)!)}…${address.slice(at)}` : '…';
}

function inWords(value: string | number | Date | null): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '-');
}

function parseStatus(text: string): string {
  if (!(OUTBOX_STATUSES as readonly string[]).includes(text))
    throw new InvalidArgumentError(`Choose from: ${OUTBOX_STATUSES.join(', ')}.`);
  return text;
}

function parseLimit(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > MOST) throw new InvalidArgumentError(`Must be a number from 1 to ${MOST}.`);
  return number;
}
