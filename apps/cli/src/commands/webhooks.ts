import { type Command, InvalidArgumentError, Option } from 'commander';
import { OPERATOR } from '@app/audit';
import { canonicalUuid } from '@app/database';
import { Operations } from '@app/people';
import { withoutPath } from '@app/publishing';
import { DELIVERY_STATUSES, type DeliveryStatus, type ListedEndpoint, WebhookLog, Webhooks } from '@app/webhooks';
import { withContext } from '../command-context.js';
import { minute, print, printRows } from '../output.js';

interface CreateOptions {
  org: string;
  url: string;
  events?: string[];
  description?: string;
}

interface ListOptions {
  org: string;
  status?: DeliveryStatus;
  endpoint?: string;
  limit: number;
}

const SAFE = 'without their secrets and without URL paths, which may be secret too';
const ENDPOINT = 'the id of the endpoint, as shown by "webhooks list"';

/** `webhooks list`, `create`, `enable`, `disable`, `rotate`, `test`, `remove`, `deliveries`, `replay`. */
export function addWebhookCommands(program: Command): void {
  const group = program.command('webhooks').description('manage webhook endpoints, and see what they answered');

  group
    .command('list')
    .description(`list the endpoints of all organizations, ${SAFE}`)
    .option('--org <slug>', 'only those of an organization')
    .action(async ({ org }: { org?: string }, command: Command) => {
      const endpoints = await withContext(async ({ rules, slugs, organizationId }) => {
        const names = await slugs();
        const rows: (ListedEndpoint & { organization: string })[] = [];
        for (const id of org === undefined ? names.keys() : [await organizationId(org)])
          for (const one of await rules.get(WebhookLog).endpoints(id))
            rows.push({ ...one, organization: names.get(id)!, url: withoutPath(one.url) });
        return rows;
      });
      printRows(command, endpoints, {
        fields: [
          ...(['id', 'organization', 'url', 'eventTypes', 'description', 'enabled', 'disabledReason'] as const),
          ...(['failingSince', 'waiting', 'waitingSince', 'createdAt'] as const),
        ],
        columns: {
          ID: ({ id }) => id,
          ORGANIZATION: ({ organization }) => organization,
          STATE: stateOf,
          WAITING: ({ waiting }) => String(waiting),
          'OLDEST (UTC)': ({ waitingSince }) => minute(waitingSince),
          URL: ({ url }) => url,
        },
        empty: 'There are no webhook endpoints.',
      });
    });

  group
    .command('create')
    .description('create an endpoint; its secret is shown only once')
    .requiredOption('--org <slug>', 'the organization')
    .requiredOption('--url <url>', 'the URL that receives the signed POST requests')
    .option('--events <a,b>', 'comma-separated types of events, such as session.* (all, unless given)', namesIn)
    .option('--description <text>', 'what it is for')
    .action(async ({ org, url, events: types, description }: CreateOptions, command: Command) => {
      const made = await perform(org, (webhooks, operations, organizationId) => {
        const add = async () => {
          const wanted = { url, event_types: types, description };
          const answer = await webhooks.make(organizationId, OPERATOR, wanted);
          return { audit: { endpoint_id: answer.id }, answer };
        };
        return operations.perform(organizationId, OPERATOR, 'POST /v1/webhook-endpoints', {}, add);
      });
      const { id, secret } = made!.answer;
      print(command, { id, url: withoutPath(url), secret }, `Created the endpoint ${id}${once(secret)}`);
    });

  for (const [name, enabled, does] of [
    ['enable', true, 'switch an endpoint on; it gets what was waiting for it first'],
    ['disable', false, 'switch an endpoint off; what waits for it is kept for 30 days'],
  ] as const)
    one(group, name, does, ENDPOINT).action(async (id: string, { org }: { org: string }, command: Command) => {
      const changed = await perform(org, (webhooks, operations, organizationId) => {
        const change = () => webhooks.change(organizationId, OPERATOR, id, { enabled });
        const ids = { endpoint_id: id };
        return operations.perform(organizationId, OPERATOR, 'PATCH /v1/webhook-endpoints/:endpoint_id', ids, change);
      });
      const words = `The endpoint ${id} is ${changed ? 'now' : 'already'} ${enabled ? 'on' : 'off'}`;
      print(command, { id, enabled, changed }, words);
    });

  one(group, 'rotate', 'replace the secret; for 24 hours, calls are signed with both', ENDPOINT).action(
    async (id: string, { org }: { org: string }, command: Command) => {
      const made = await perform(org, (webhooks, operations, organizationId) => {
        const operation = 'POST /v1/webhook-endpoints/:endpoint_id/rotate-secret';
        const rotate = async () => ({ answer: await webhooks.rotateSecret(organizationId, id) });
        return operations.perform(organizationId, OPERATOR, operation, { endpoint_id: id }, rotate);
      });
      print(command, { id, secret: made!.answer }, `Replaced the secret of ${id}${once(made!.answer)}`);
    },
  );

  one(group, 'test', 'send a test event; "webhooks deliveries" shows the answer', ENDPOINT).action(
    async (id: string, { org }: { org: string }, command: Command) => {
      const made = await perform(org, (webhooks, operations, organizationId) => {
        const test = async () => {
          const delivery = await webhooks.test(organizationId, id);
          return { audit: { delivery_id: delivery }, answer: delivery };
        };
        const operation = 'POST /v1/webhook-endpoints/:endpoint_id/test';
        return operations.perform(organizationId, OPERATOR, operation, { endpoint_id: id }, test);
      });
      print(command, { id, delivery_id: made!.answer }, `Queued the test ${made!.answer}`);
    },
  );

  one(group, 'remove', 'delete an endpoint; what waits for it is not sent', ENDPOINT).action(
    async (id: string, { org }: { org: string }, command: Command) => {
      await perform(org, (webhooks, operations, organizationId) => {
        const remove = () => webhooks.remove(organizationId, id);
        const ids = { endpoint_id: id };
        return operations.perform(organizationId, OPERATOR, 'DELETE /v1/webhook-endpoints/:endpoint_id', ids, remove);
      });
      print(command, { id, removed: true }, `Deleted the endpoint ${id}`);
    },
  );

  group
    .command('deliveries')
    .description('list the calls of an organization, newest first')
    .requiredOption('--org <slug>', 'the organization')
    .addOption(new Option('--status <status>', 'only calls with this status').choices(DELIVERY_STATUSES))
    .option('--endpoint <id>', 'only calls to this endpoint', idIn)
    .option('--limit <number>', 'show at most this many', parseLimit, 50)
    .action(async ({ org, status, endpoint: endpointId, limit: most }: ListOptions, command: Command) => {
      const calls = await withContext(async ({ rules, organizationId }) =>
        rules.get(WebhookLog).deliveries(await organizationId(org), { status, endpointId, most }),
      );
      printRows(command, calls.slice(0, most), {
        fields: [
          ...(['id', 'endpointId', 'eventId', 'eventType', 'status', 'attempts', 'responseStatus'] as const),
          ...(['durationMs', 'problem', 'createdAt', 'triedAt'] as const),
        ],
        columns: {
          ID: ({ id }) => id,
          STATUS: (call) => call.status,
          TRIES: ({ attempts }) => String(attempts),
          EVENT: ({ eventType }) => eventType,
          ENDPOINT: (call) => call.endpointId,
          ANSWER: ({ responseStatus }) => String(responseStatus ?? '-'),
          MS: ({ durationMs }) => String(durationMs ?? '-'),
          'CREATED (UTC)': ({ createdAt }) => minute(createdAt),
          PROBLEM: ({ problem }) => problem ?? '-',
        },
        empty: 'There are no such calls.',
      });
    });

  one(group, 'replay', 'send a call again', 'the id of the call, as shown by "webhooks deliveries"').action(
    async (id: string, { org }: { org: string }, command: Command) => {
      await perform(org, (webhooks, operations, organizationId) => {
        const replay = () => webhooks.replay(organizationId, id);
        const operation = 'POST /v1/webhook-deliveries/:delivery_id/replay';
        return operations.perform(organizationId, OPERATOR, operation, { delivery_id: id }, replay);
      });
      print(command, { id, status: 'queued' }, `The call ${id} is queued again`);
    },
  );
}

/** A command about one endpoint or call of an organization. */
const one = (group: Command, name: string, description: string, what: string): Command =>
  group
    .command(name)
    .description(description)
    .argument('<id>', what, idIn)
    .requiredOption('--org <slug>', 'the organization');

/** Runs an operation as the portal does. */
function perform<T>(
  org: string,
  work: (webhooks: Webhooks, operations: Operations, organizationId: string) => Promise<T>,
): Promise<T> {
  return withContext(async ({ organizationId, asPortal }) => {
    const id = await organizationId(org);
    return asPortal((rules) => work(rules.get(Webhooks), rules.get(Operations), id));
  });
}

const once = (secret: string) => `\n\nCalls are signed with this secret, shown only once:\n\n  ${secret}`;

const namesIn = (text: string) => text.split(',').map((name) => name.trim());

function stateOf({ enabled, disabledReason, failingSince }: ListedEndpoint): string {
  if (!enabled) return `off (${disabledReason})`;
  return failingSince ? 'failing' : 'on';
}

function idIn(text: string): string {
  const id = canonicalUuid(text);
  if (id === null) throw new InvalidArgumentError('Must be an id.');
  return id;
}

function parseLimit(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 10_000) throw new InvalidArgumentError('Must be a number from 1 to 10000.');
  return number;
}
