import { ApiKeys, Offboarding, Roles } from '@app/access';
import { OPERATOR } from '@app/audit';
import { loadEnv } from '@app/config';
import { MOST_ENDPOINTS } from '@app/webhooks';
import { rulesOn } from '../../apps/cli/src/rules.js';
import { WebhookHealthService } from '../../apps/worker/src/webhooks/webhook-health.service.js';
import { fixture } from '../support/process/fixture.js';
import { WebhookRoom } from '../support/worker/webhook-room.js';

const URL = 'https://hooks.example.org/';

const room = await fixture(WebhookRoom.open());
const { make, db, settings } = room.outbox;
const rules = await rulesOn(db, loadEnv(settings, {}));
const keys = rules.get(ApiKeys);

let school: string;
beforeEach(async () => {
  school = (await make.organization()).id;
  await make.member(school, { role: 'owner' });
});
afterEach(() => room.clear());

const by = (maker: { userId?: string; apiKeyId?: string }) => ({ userId: null, requestId: 'r', ...maker });
const endpointOf = async (maker: { userId?: string; apiKeyId?: string }) =>
  (await room.as(() => room.rules.make(school, by(maker), { url: URL }), school)).id;
const keyOf = async () => (await keys.create(school, { name: 'Till' })).id;
const end = (id: string) => make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [id]);

/** What is stored once the worker has looked, and the mails of the organization about its endpoints. */
async function seen(id: string) {
  const health = (await room.outbox.idleWorker()).get(WebhookHealthService);
  for (let round = 0; round < 2; round++) await health.runOnce();
  const { disabled_reason: reason, api_key_id: key } = await room.state(id);
  const mails = await make.query<{ told: number }>(
    `SELECT coalesce(sum((gathered_kinds->>'webhook_disabled')::integer), 0)::integer AS told FROM outbox WHERE organization_id = $1 AND topic = 'email'`,
    [school],
  );
  return { reason, key, told: mails[0]!.told };
}

const LEFT = { reason: 'maker_left', told: 1 };

it.each([
  ['revoked', (key: string): Promise<unknown> => keys.revokeOf(school, key)],
  ['expired', (key: string) => end(key)],
  ['revoked while it was made', (key: string) => make.withoutTriggers(`UPDATE api_keys SET revoked_at = now() WHERE id = '${key}'`)],
])('an endpoint whose key is %s waits for an owner, who is told; those of others do not', async (_, happens) => {
  const key = await keyOf();
  const [own, other] = [await endpointOf({ apiKeyId: key }), await endpointOf({ apiKeyId: await keyOf() })];
  await happens(key);
  expect(await seen(own)).toMatchObject(LEFT);
  expect(await seen(other)).toMatchObject({ reason: null });
});

it('an endpoint of a replaced key goes to its successor, also one that it makes in the overlap', async () => {
  const old = await keyOf();
  const before = await endpointOf({ apiKeyId: old });
  const { id: next } = await keys.replace(school, old, { overlap: '24h' });
  const meanwhile = await endpointOf({ apiKeyId: old });
  expect(await seen(before)).toEqual({ reason: null, key: next, told: 0 });
  await end(old);
  for (const id of [before, meanwhile]) expect(await seen(id)).toEqual({ reason: null, key: next, told: 0 });
  await keys.revokeOf(school, next);
  expect(await seen(before)).toMatchObject({ reason: 'maker_left', told: 2 });
});

it('an endpoint of a replaced key whose successor has ended waits for an owner', async () => {
  const old = await keyOf();
  const { id: next } = await keys.replace(school, old, { overlap: '24h' });
  await keys.revokeOf(school, next);
  const endpoint = await endpointOf({ apiKeyId: old });
  expect(await seen(endpoint)).toMatchObject({ reason: null });
  await end(old);
  expect(await seen(endpoint)).toMatchObject(LEFT);
});

it.each([
  ['is demoted', async (userId: string): Promise<unknown> => rules.get(Roles).change(school, OPERATOR, userId, 'tutor')],
  ['leaves', async (userId: string): Promise<unknown> => rules.get(Offboarding).ended(school, OPERATOR, { userId })],
])('the endpoints of somebody who %s, and of their keys, wait for an owner, who is told', async (_, happens) => {
  const { id: userId } = await make.member(school, { role: 'admin' });
  const theirs = await keyOf();
  await make.query('UPDATE api_keys SET created_by = $2 WHERE id = $1', [theirs, userId]);
  const endpoints = [await endpointOf({ userId }), await endpointOf({ apiKeyId: theirs })];
  const other = await endpointOf({ userId: (await make.member(school, { role: 'admin' })).id });
  await room.as(() => happens(userId), school);
  for (const id of endpoints) expect(await seen(id)).toMatchObject({ reason: 'maker_left', told: 2 });
  expect(await seen(other)).toMatchObject({ reason: null });
});

it('whoever enables it again has it from then on: a person, not a key', async () => {
  const key = await keyOf();
  const id = await endpointOf({ apiKeyId: key });
  await keys.revokeOf(school, key);
  const enable = (maker: { userId?: string; apiKeyId?: string }) =>
    room.as(() => room.rules.change(school, by(maker), id, { enabled: true }), school);
  await expect(enable({ apiKeyId: await keyOf() })).rejects.toMatchObject({ why: { kind: 'conflict', code: 'maker_left' } });
  const { id: userId } = await make.member(school, { role: 'admin' });
  expect(await enable({ userId })).toBe(true);
  expect(await room.state(id)).toMatchObject({ disabled_at: null, created_by: userId, api_key_id: null });
});

it('an organization has at most ten, also if many are made at once', async () => {
  const made = await Promise.allSettled(Array.from({ length: MOST_ENDPOINTS + 10 }, () => endpointOf({})));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(MOST_ENDPOINTS);
  const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  for (const reason of refused) expect(reason).toMatchObject({ why: { kind: 'conflict', code: 'too_many' } });
});
