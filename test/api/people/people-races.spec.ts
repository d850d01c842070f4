import { setTimeout as sleep } from 'node:timers/promises';
import { lockNumber } from '@app/database';
import { staysSound } from '../../support/faults/invariants.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';
import { newAddress, PeopleFixture, studentRow } from '../../support/data/provisioning.js';

const api = await fixture(TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1' }));
staysSound(api.make);
const { make } = api;
const office = await PeopleFixture.open(api, make);

/** How long to wait for the request; shorter than the other transaction may stay idle (ms). */
const MOST_WAIT = 9_000;

/** Sends a request during a bulk invite. @returns what the request waits for, and whether it has written by then */
async function duringProvisioning(send: () => Promise<{ status: number }>) {
  const other = make.db.createQueryRunner();
  await other.startTransaction();
  try {
    await other.query('SELECT pg_advisory_xact_lock($1)', [lockNumber(`provisioning of ${office.id}`)]);
    const state = { answered: false };
    const answer = send().finally(() => (state.answered = true));
    const deadline = Date.now() + MOST_WAIT;
    let waiting: { wrote: boolean }[] = [];
    while (waiting.length === 0 && !state.answered && Date.now() < deadline) {
      await sleep(5);
      waiting = await make.query<{ wrote: boolean }>(
        `SELECT backend_xid IS NOT NULL AS wrote FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`,
      );
    }
    await other.commitTransaction();
    return { waiting, status: (await answer).status };
  } finally {
    await other.release();
  }
}

describe('a request that changes or mails a person', () => {
  it.each<[string, 'post' | 'patch', (id: string) => string, () => object | undefined]>([
    ['changes an address', 'patch', (id) => `/v1/students/${id}`, () => ({ email: newAddress() })],
    ['emails a link', 'post', (id) => `/v1/students/${id}/send-invite`, () => undefined],
    ['provisions people', 'post', () => '/v1/users/bulk-invite', () => ({ users: [studentRow()] })],
  ])('%s only after provisioning in progress, and holds no locks meanwhile', async (_what, method, path, body) => {
    const id = (await office.inviteOne(studentRow())).id!;
    const found = await duringProvisioning(() => office.send(method, path(id), body() ?? {}));
    // A transaction gets an id with its first write or row lock.
    expect(found).toEqual({ waiting: [{ wrote: false }], status: 200 });
  });

  it('and a bulk invite of the same address are both answered, and one of them gets it', async () => {
    for (let round = 0; round < 20; round++) {
      const [former, wanted] = [newAddress(), newAddress()];
      const id = (await office.inviteOne(studentRow({ email: former }))).id!;
      const [changed, invited] = await Promise.all([
        office.send('patch', `/v1/students/${id}`, { email: wanted }),
        office.send('post', '/v1/users/bulk-invite', { users: [studentRow({ email: wanted })] }),
        office.send('post', `/v1/students/${id}/send-invite`, {}),
      ]);
      expect(invited.status).toBe(200);
      const { results } = invited.body as { results: { status: string; id: string }[] };
      const first = changed.status === 200;
      expect([changed.status, results[0]!.status]).toEqual(first ? [200, 'exists'] : [422, 'ok']);
      expect(results[0]!.id === id).toBe(first);
    }
  });
});
