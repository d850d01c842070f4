import { setTimeout as sleep } from 'node:timers/promises';
import { staysSound } from '../../support/faults/invariants.js';
import { TestApi } from '../../support/http/api.js';
import { type BulkInviteAnswer, newAddress, PeopleFixture, parentRow, type RowWish, studentRow, tutorRow } from '../../support/data/provisioning.js';
import { Random } from '../../support/data/random.js';
import { SqlWatch } from '../../support/database/sql-watch.js';
import { repeated } from '../../support/http/repeated.js';
import { inReport, reached } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

const ROUNDS = inReport(30, 10);
/** Rounds that must have raced for the run to prove anything. */
const ENOUGH = 0.8 * ROUNDS;
const BATCHES = 8;
/** One organization may use half the pool, enough for its batches to race each other. */
const POOL = 2 * BATCHES;
const ROWS = 100;
const MOST_STATEMENTS = 16;
/** How long to wait until all are at the start line (ms); shorter than the statement timeout. */
const MOST_WAIT = 4_000;
/** SQLSTATEs of a statement that waited or took too long, and of those behind it in the transaction. */
const TOO_SLOW = ['55P03', '57014', '25P02'];
/** Fixed, so that what lands does not depend on luck. */
const SEED = Number(process.env.SEED ?? 20_261_124);

const api = await fixture(TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1', DATABASE_POOL_SIZE: String(POOL) }));
staysSound(api.make);
const { make } = api;

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.integer(left.length), 1)[0]!);
}

/**
 * Blocks writes to logins until `parties` transactions wait behind the lock, past the reads that they decide on. They
 * race when it opens, however slowly this process sent them.
 *
 * @returns how many were waiting
 */
async function startLine(parties: number): Promise<() => Promise<number>> {
  const line = make.db.createQueryRunner();
  await line.startTransaction();
  await line.query('LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE');
  return async () => {
    const deadline = Date.now() + MOST_WAIT;
    let waiting = 0;
    while (waiting < parties && Date.now() < deadline) {
      await sleep(5);
      const [row] = await make.query<{ waiting: number }>(
        `SELECT count(*)::int AS waiting FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      waiting = row!.waiting;
    }
    await line.commitTransaction();
    await line.release();
    return waiting;
  };
}

describe('overlapping batches', () => {
  it(`of the same ${ROWS} addresses create one account each, lose no row, and never fail or deadlock`, async () => {
    const random = new Random(SEED);
    const watch = SqlWatch.start();
    let raced = 0;
    let created = 0;
    let rounds = 0;
    // On a busy machine, some requests miss the start or wait too long.
    for (; rounds < ROUNDS || (raced <= ENOUGH && rounds < 3 * ROUNDS); rounds++) {
      // Batches of one organization take turns; those of several meet at the logins, which all organizations share.
      const several = rounds % 2 === 1;
      const offices = await Promise.all(Array.from({ length: several ? BATCHES : 1 }, () => PeopleFixture.open(api, make)));
      const addresses = Array.from({ length: ROWS }, newAddress);
      const go = await startLine(BATCHES);
      let refusals = 0;
      const sent = Array.from({ length: BATCHES }, async (_, batch) => {
        const users = shuffled(random, addresses).map((email) => studentRow({ email }));
        const provisioning = offices[batch % offices.length]!;
        const { status, body } = await repeated(
          () => provisioning.post('/v1/users/bulk-invite', { users }),
          () => refusals++,
        );
        return { status, body: body as BulkInviteAnswer, users };
      });
      const waiting = await go();
      const answers = await Promise.all(sent);
      if (waiting === BATCHES && refusals === 0) raced++;
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      for (const { body, users } of answers) {
        const { total, ok, exists, errors } = body.summary;
        expect([total, ok + exists + errors, errors]).toEqual([ROWS, ROWS, 0]);
        expect(body.results.map(({ email }) => email)).toEqual(users.map(({ email }) => email));
      }
      const made = answers.reduce((sum, { body }) => sum + body.summary.created, 0);
      const logins = await make.query<{ email: string }>('SELECT email FROM users WHERE email = ANY ($1)', [addresses]);
      const members = await make.query('SELECT FROM members WHERE organization_id = ANY ($1)', [offices.map(({ id }) => id)]);
      expect([made, logins.length, members.length]).toEqual([ROWS, ROWS, ROWS * offices.length]);
      expect(await make.query('SELECT * FROM wrong_list_counts(10)')).toEqual([]);
      created += made;
    }
    watch.stop();
    reached(4, `${raced} of ${rounds} rounds raced, ${created} accounts, each once`, SEED);
    expect(watch.failures.filter((code) => !TOO_SLOW.includes(code))).toEqual([]);
    expect(raced).toBeGreaterThan(ENOUGH);
  });

  it('of the same people known elsewhere invite each person once', async () => {
    const elsewhere = await PeopleFixture.open(api, make);
    const provisioning = await PeopleFixture.open(api, make);
    const people = await Promise.all(Array.from({ length: 20 }, () => make.member(elsewhere.id)));
    const rows = people.map(({ email }) => studentRow({ email }));
    const answers = await Promise.all(Array.from({ length: 8 }, () => provisioning.invite(...rows)));
    const invited = answers.flatMap(({ results }) => results.filter((result) => result.invited));
    expect(invited.map(({ email }) => email).sort()).toEqual(people.map(({ email }) => email).sort());
    expect(await provisioning.queued()).toHaveLength(20);
    expect(answers.every(({ summary }) => summary.ok === 20)).toBe(true);
  });

  it('with different roles create each address once, and never as a student with another role', async () => {
    const provisioning = await PeopleFixture.open(api, make);
    const addresses = Array.from({ length: 20 }, newAddress);
    const kinds = [studentRow, tutorRow, parentRow];
    const answers = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((batch) => provisioning.invite(...addresses.map((email) => kinds[batch % 3]!({ email })))),
    );
    for (const [index] of addresses.entries()) {
      const outcomes = answers.map(({ results }) => results[index]!);
      expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
      // A tutor may be a parent; a student is nothing else.
      const roles = new Set(outcomes.filter(({ status }) => status !== 'error').map(({ type }) => type));
      expect(roles.has('student') && roles.size > 1).toBe(false);
    }
  });

  it('with siblings who share a parent create one parent', async () => {
    const provisioning = await PeopleFixture.open(api, make);
    const parent = { first_name: 'Ana', last_name: 'Silva', email: newAddress() };
    await Promise.all(Array.from({ length: 8 }, () => provisioning.invite(studentRow({ parent }), studentRow({ parent }))));
    const [record, ...more] = await provisioning.list('/v1/parents');
    expect([more.length, (record!.student_ids as string[]).length]).toEqual([0, 16]);
  });
});

describe('100 rows', () => {
  /** Rows of every kind with every outcome. */
  async function mixture(provisioning: PeopleFixture, elsewhere: PeopleFixture): Promise<RowWish[]> {
    const accepted = await provisioning.invite(...Array.from({ length: 5 }, () => studentRow()), tutorRow(), parentRow());
    const strangers = await Promise.all(Array.from({ length: 15 }, () => make.member(elsewhere.id)));
    const pending = strangers.slice(0, 5).map(({ email }) => tutorRow({ email }));
    await provisioning.invite(...pending);
    await make.query(`UPDATE members SET invited_at = now() - interval '2 days' WHERE status = 'pending'`);
    const archived = await Promise.all(Array.from({ length: 5 }, () => make.student(provisioning.id, { status: 'archived' })));
    const known = [
      ...accepted.results.map(({ type, email }) => ({ ...studentRow({ email }), type: type as 'student' })),
      ...pending,
      ...archived.map(({ email }) => studentRow({ email })),
      ...strangers.slice(5, 10).map(({ email }) => studentRow({ email })),
      ...strangers.slice(10).map(({ email }) => studentRow({ parent: { first_name: 'A', last_name: 'B', email } })),
      ...[1, 2, 3].map(() => studentRow({ email: 'nobody' })),
    ];
    const parent = { first_name: 'Ana', last_name: 'Silva' };
    const fresh = Array.from({ length: ROWS - known.length }, (_, index) => {
      const kind = [studentRow, tutorRow, parentRow, studentRow][index % 4]!;
      return kind({ ...(index % 8 === 0 && { parent }), ...(index % 5 === 0 && { email: null }) });
    });
    return shuffled(new Random(SEED), [...known, ...fresh]);
  }

  it.each([
    ['without an idempotency key', {}],
    ['with one', { 'Idempotency-Key': 'counted' }],
  ])(`of every kind take at most ${MOST_STATEMENTS} statements, %s`, async (_, headers: Record<string, string>) => {
    const [provisioning, elsewhere] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
    const users = await mixture(provisioning, elsewhere);
    const watch = SqlWatch.start();
    const answer = await provisioning.send('post', '/v1/users/bulk-invite', { users }, { headers });
    watch.stop();
    const { summary } = answer.body as BulkInviteAnswer;
    expect(summary).toMatchObject({ total: ROWS, exists: 7, errors: 3 });
    const writing = watch.transactions.filter((statements) => statements.some((text) => text.includes('INSERT INTO users')));
    expect(writing).toHaveLength(1);
    console.log(`100 mixed rows: ${writing[0]!.length} statements ${JSON.stringify(headers)}`);
    expect(writing[0]!.at(-1)).toBe('COMMIT');
    expect(writing[0]!.length).toBeLessThanOrEqual(MOST_STATEMENTS);
  });
});

describe('50 suppressed addresses', () => {
  it('get no email, however often they are invited', async () => {
    const [provisioning, elsewhere] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
    const strangers = await Promise.all(Array.from({ length: 25 }, () => make.member(elsewhere.id)));
    const addresses = [...strangers.map(({ email }) => email), ...Array.from({ length: 25 }, newAddress)];
    await make.query(
      `INSERT INTO suppressions (organization_id, email_normalized, suppressed_until) SELECT $1, unnest($2::text[]), now() + interval '1 day'`,
      [provisioning.id, addresses.map((email) => email.toLowerCase())],
    );
    const rows = [...addresses.map((email) => studentRow({ email: email.toUpperCase() })), studentRow()];
    for (const _ of ['first', 'again', 'and again']) {
      const { results } = await provisioning.invite(...rows);
      expect(results.slice(0, 50).map(({ status }) => status)).not.toContain('error');
      expect(results.slice(0, 50).filter(({ invited }) => invited)).toEqual([]);
    }
    await provisioning.tenMinutesLater();
    for (const { id } of await provisioning.list('/v1/students')) {
      const { body } = await provisioning.post(`/v1/students/${id as string}/send-invite`);
      const { sent, email } = body as { sent: boolean; email: string };
      expect([email, sent]).toEqual([email, !addresses.includes(email.toLowerCase())]);
    }
    // Only the working address, once for each way of inviting.
    expect((await provisioning.queued()).map(({ recipient }) => recipient)).toEqual([rows[50]!.email, rows[50]!.email]);
  });
});
