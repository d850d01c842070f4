import { lockNumber } from '@app/database';
import { SqlWatch } from '../../support/database/sql-watch.js';
import { newAddress, parentRow, PeopleFixture, person, type ResultItem, studentRow, tutorRow } from '../../support/data/provisioning.js';
import { Random } from '../../support/data/random.js';
import { staysSound } from '../../support/faults/invariants.js';
import { inReport, seedOf } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { repeated } from '../../support/http/repeated.js';
import { fixture, inTest } from '../../support/process/fixture.js';

const ROUNDS = inReport(300, 12);
const REQUESTS = 12;
/** SQLSTATEs of a statement that waited or took too long, of those behind it in the transaction, and of a change to an address that is taken. */
const EXPECTED = ['55P03', '57014', '25P02', '23505'];
const SEED = seedOf();

const settings = { SMTP_URL: 'smtp://127.0.0.1:1', DATABASE_POOL_SIZE: '24' };
const api = await fixture(TestApi.start({ ...settings, INVITE_MAILS_PER_DAY: '1000000' }));
staysSound(api.make);
const { make } = api;

it(`whoever adds people beside others loses nobody, adds nobody twice and ends in no deadlock (${ROUNDS} rounds, seed ${SEED})`, async () => {
  const random = new Random(SEED);
  const watch = SqlWatch.start();
  const office = await PeopleFixture.open(api, make);
  for (let round = 0; round < ROUNDS; round++) {
    const addresses = Array.from({ length: 6 }, newAddress);
    const known = (await office.invite(studentRow(), studentRow(), studentRow())).results.map(({ id }) => id!);
    const some = () => addresses.filter(() => random.chance(0.5)).reverse();
    const row = (email: string) => random.pick([studentRow, studentRow, tutorRow, parentRow])({ email });
    const child = () => ({
      ...person({ email: random.pick(addresses) }),
      ...(random.chance(0.5) && { parent: person({ email: random.pick(addresses) }) }),
      send_invite: true,
    });
    const requests: (() => [method: 'post' | 'patch', path: string, body: object])[] = [
      () => ['post', '/v1/students', child()],
      () => ['post', '/v1/students', { ...person({ email: null }), parent: person({ email: random.pick(addresses) }) }],
      () => ['post', '/v1/parents', person({ email: random.pick(addresses) })],
      () => ['post', '/v1/users/bulk-invite', { users: some().map(row).concat(studentRow()) }],
      () => ['post', '/v1/users/bulk-invite', { users: [...addresses.map(row), ...Array.from({ length: 40 }, () => studentRow())] }],
      () => ['patch', `/v1/students/${random.pick(known)}`, { email: random.pick(addresses) }],
      () => ['post', `/v1/students/${random.pick(known)}/send-invite`, {}],
      () => ['post', `/v1/students/${random.pick(known)}/offboard`, {}],
    ];
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, async () => {
        const [method, path, body] = random.pick(requests)();
        const { status, body: answer } = await repeated(() => office.send(method, path, body));
        return { path, status, results: (answer as { results?: ResultItem[] }).results ?? [] };
      }),
    );
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    const rows = answers.flatMap(({ results }) => results).filter(({ status }) => status !== 'error');
    const ids = [...new Set(rows.map(({ id }) => id!))];
    const there = await make.query<{ id: string }>(
      `SELECT user_id AS id FROM members WHERE organization_id = $1 AND user_id = ANY ($2) UNION SELECT user_id FROM parents WHERE organization_id = $1 AND user_id = ANY ($2)`,
      [office.id, ids],
    );
    expect(there.map(({ id }) => id).sort()).toEqual(ids.sort());
    for (const address of addresses) {
      expect(rows.filter(({ email, created }) => email === address && created).length).toBeLessThanOrEqual(1);
      expect((await office.queued()).filter(({ recipient, kind }) => recipient === address && kind === 'account_created').length).toBeLessThanOrEqual(
        1,
      );
    }
  }
  watch.stop();
  expect(watch.failures.filter((code) => !EXPECTED.includes(code))).toEqual([]);
});

it('new students do not wait for each other, unless they have the same address', async () => {
  const office = await PeopleFixture.open(api, make);
  const first = make.db.createQueryRunner();
  const busy = newAddress();
  // What somebody holds who adds a person.
  await first.startTransaction();
  try {
    const [shared, address] = [`provisioning of ${office.id}`, `address ${busy} in ${office.id}`].map(lockNumber);
    await first.query('SELECT pg_advisory_xact_lock_shared($1), pg_advisory_xact_lock($2)', [shared, address]);
    const add = (email: string | null) => office.post('/v1/students', { ...person({ email }), send_invite: true });
    const others = await Promise.all([newAddress(), newAddress(), null].map(add));
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201]);
    const same = add(busy);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`;
    await expect.poll(async () => (await make.query(waiting)).length, { timeout: 5_000 }).toBe(1);
    await first.commitTransaction();
    expect((await same).status).toBe(201);
  } finally {
    await first.release();
  }
});

it('those who add people at once mail no more than the day’s allowance, and all of it', async () => {
  const [row] = await make.query<{ clients: number }>(`SELECT current_setting('max_connections')::integer AS clients`);
  // Singly, they wait for each other after the first 20.
  const most = row!.clients + 20;
  const limited = await inTest(TestApi.start({ ...settings, INVITE_MAILS_PER_DAY: String(most) }, api.database));
  const office = await PeopleFixture.open(limited, make);
  const bulk = (count: number) => office.invite(...Array.from({ length: count }, () => studentRow()));
  const singly = (count: number) =>
    Promise.all(Array.from({ length: count }, () => repeated(() => office.post('/v1/students', { ...person(), send_invite: true }))));
  await Promise.all([singly(30), bulk(10)]);
  for (let left = most - 40 - 10; left > 0; left -= 100) await bulk(Math.min(100, left));
  await Promise.all([singly(16), bulk(2)]);
  expect(await office.queued()).toHaveLength(most);
});
