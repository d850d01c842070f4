import { type CliResult, results } from '../support/process/cli.js';
import { runHere } from '../support/process/commands.js';
import { fixture } from '../support/process/fixture.js';
import { OutboxFixture } from '../support/worker/worker.js';

const URL = 'https://hooks.example.org/never-shown';

const room = await fixture(OutboxFixture.open());
const { make, database } = room;
const settings = { ...room.settings, MIGRATION_DATABASE_URL: database.ownerUrl, PORTAL_DATABASE_URL: database.portalUrl };
const [{ slug }] = (await make.query<{ slug: string }>('SELECT slug FROM organizations')) as [{ slug: string }];

const cli = (...args: string[]): Promise<CliResult> => runHere(args, settings);
const json = async (...args: string[]) => results((await cli('--json', 'webhooks', ...args)).stdout);
const create = async (...more: string[]) => (await json('create', '--org', slug, '--url', URL, ...more))[0]!;
const audited = async () =>
  (await make.query<{ operation: string }>(`SELECT operation FROM audit_log WHERE result = 'done' ORDER BY created_at, id`)).map(({ operation }) =>
    operation.replace(/ .*[}:]\w*/, ' …'),
  );

afterEach(async () => {
  await make.withoutTriggers('DELETE FROM webhook_endpoints; DELETE FROM audit_log');
  await room.clear();
});

it('create shows the secret once, and list neither it nor the path of the URL', async () => {
  expect((await cli('webhooks', 'list')).stdout).toBe('There are no webhook endpoints.\n');
  const made = await cli('webhooks', 'create', '--org', slug, '--url', URL, '--events', 'session.*,lead.created', '--description', 'Accounting');
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toMatch(/^Created the endpoint [0-9a-f-]{36}\n\nCalls are signed with this secret, shown only once:\n\n {2}whsec_\S{44}\n$/);
  const listed = await cli('webhooks', 'list', '--org', slug);
  expect(listed.stdout).toMatch(/^ID +ORGANIZATION +STATE +WAITING +OLDEST \(UTC\) +URL\n/);
  expect(listed.stdout).toMatch(new RegExp(`${slug} +on +0 +- +https://hooks\\.example\\.org/…\n$`));
  expect(await json('list')).toMatchObject([
    { organization: slug, event_types: ['session.*', 'lead.created'], description: 'Accounting', enabled: true, disabled_reason: null },
  ]);
  expect(JSON.stringify([listed, await json('list')])).not.toMatch(/never-shown|whsec_/);
  expect(await audited()).toEqual(['POST /v1/webhook-endpoints']);
});

it('switches one off and on, replaces its secret, tests and removes it, as the audit log records', async () => {
  const { id, secret } = (await create()) as { id: string; secret: string };
  const at = [id, '--org', slug];
  expect(await cli('webhooks', 'disable', ...at)).toMatchObject({ code: 0, stdout: `The endpoint ${id} is now off\n` });
  expect((await cli('webhooks', 'list')).stdout).toContain(' off (request) ');
  expect(await cli('webhooks', 'disable', ...at)).toMatchObject({ code: 0, stdout: `The endpoint ${id} is already off\n` });
  expect(await json('enable', ...at)).toEqual([{ id, enabled: true, changed: true }]);
  const [rotated] = await json('rotate', ...at);
  expect(rotated).toEqual({ id, secret: expect.stringMatching(/^whsec_/) as string });
  expect(rotated!.secret).not.toBe(secret);
  expect(await cli('webhooks', 'test', ...at)).toMatchObject({ code: 1, stderr: expect.stringContaining('Wait ten seconds') as string });
  await make.query(`UPDATE outbox SET created_at = created_at - interval '1 minute'`);
  const [test] = await json('test', ...at);
  expect((await json('deliveries', '--org', slug))[0]).toMatchObject({ id: test!.delivery_id, endpoint_id: id, status: 'queued' });
  expect(await cli('webhooks', 'remove', ...at)).toMatchObject({ code: 0, stdout: `Deleted the endpoint ${id}\n` });
  expect(await json('list')).toEqual([]);
  const [made, deleted] = ['POST /v1/webhook-endpoints', 'DELETE …'];
  expect(await audited()).toEqual([made, 'PATCH …', 'PATCH …', 'POST …/rotate-secret', 'POST …/test', deleted]);
});

it('deliveries are found by status and endpoint, and replay sends one again', async () => {
  const [{ id: first }, { id: second }] = [await create(), await create()];
  await make.query(
    `UPDATE outbox SET status = 'dead', attempts = 10, finished_at = now(), tried_at = now(), last_error = 'http_500', response_status = 500,
       duration_ms = 12 WHERE endpoint_id = $1`,
    [first],
  );
  await make.query(`UPDATE outbox SET status = 'held' WHERE endpoint_id = $1`, [second]);
  const [dead] = await json('deliveries', '--org', slug, '--status', 'dead');
  expect(dead).toMatchObject({
    endpoint_id: first,
    event_type: 'webhook.test',
    attempts: 10,
    response_status: 500,
    duration_ms: 12,
    problem: 'http_500',
  });
  expect((await cli('webhooks', 'deliveries', '--org', slug, '--endpoint', String(first))).stdout).toMatch(
    /^ID +STATUS +TRIES +EVENT +ENDPOINT +ANSWER +MS +CREATED \(UTC\) +PROBLEM\n.* dead +10 +webhook\.test .* 500 +12 .* http_500\n$/,
  );
  expect(await json('deliveries', '--org', slug, '--limit', '1')).toHaveLength(1);
  expect((await cli('webhooks', 'deliveries', '--org', slug, '--status', 'sent')).stdout).toBe('There are no such calls.\n');
  expect(results((await cli('--json', 'outbox', 'list', '--status', 'held')).stdout)).toMatchObject([{ topic: 'webhook', status: 'held' }]);
  const id = String(dead!.id);
  // Its own command looks whether its endpoint is on.
  expect(await cli('outbox', 'retry', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('"webhooks replay"') as string });
  expect(await cli('webhooks', 'replay', id, '--org', slug)).toMatchObject({ code: 0, stdout: `The call ${id} is queued again\n` });
  expect(await json('deliveries', '--org', slug, '--status', 'dead')).toEqual([]);
});

it.each([
  [['create', '--org', 'nowhere', '--url', URL], 'There is no organization "nowhere"'],
  [['create', '--org', slug, '--url', 'ftp://a.example/'], 'http'],
  [['create', '--org', slug, '--url', URL, '--events', 'session.begun'], 'There is no such type of event'],
  [['enable', 'x', '--org', slug], 'Must be an id'],
  [['rotate', '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', '--org', slug], 'No such record'],
  [['replay', '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', '--org', slug], 'No such record'],
  [['deliveries', '--org', slug, '--status', 'lost'], 'Allowed choices are queued, held, sent, failed, dead'],
])('%j fails with one clear line and exit code 1', async (args, message) => {
  const { code, stdout, stderr } = await cli('webhooks', ...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/^(?!.*Error:).+\n$/);
});
