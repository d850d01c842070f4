import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const ROUNDS = 8;

const api = await fixture(TestApi.start());
const at = await CalendarFixture.open(api);
let day = 0;
/** A time of a day of its own. */
const time = (hour: number) => new Date(Date.UTC(2027, 5, day, hour)).toISOString();

beforeEach(() => {
  day++;
});

const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();

describe('of requests at the same time', () => {
  it('one books the tutor, and the others are told which session is in the way', async () => {
    for (let round = 0; round < ROUNDS; round++, day++) {
      const answers = await Promise.all(Array.from({ length: 6 }, () => at.book(time(5))));
      expect(statusesOf(answers)).toEqual([201, 409, 409, 409, 409, 409]);
      const { id } = answers.find(({ status }) => status === 201)!.body;
      for (const { status, body } of answers) if (status === 409) expect(body.error.details.session_id).toBe(id);
    }
  });

  it('two that move sessions into the time of each other both fail, or one has gone elsewhere', async () => {
    for (let round = 0; round < ROUNDS; round++, day++) {
      const [one, other] = [(await at.book(time(1))).body, (await at.book(time(2))).body];
      const swapped = await Promise.all([at.put(one.id, { starts_at: other.starts_at }), at.put(other.id, { starts_at: one.starts_at })]);
      expect(statusesOf(swapped)).toEqual([409, 409]);
      const moved = await Promise.all([one, other].map(({ id }) => at.put(id, { starts_at: time(6) })));
      expect(statusesOf(moved)).toEqual([200, 409]);
    }
  });

  it('moves between two tutors wait for each other without a deadlock', async () => {
    for (let round = 0; round < ROUNDS; round++, day++) {
      const [one, other] = [(await at.book(time(1))).body, (await at.book(time(1), { tutor_id: at.t2 })).body];
      const answers = await Promise.all([
        at.put(one.id, { tutor_id: at.t2, starts_at: time(3) }),
        at.put(other.id, { tutor_id: at.t1, starts_at: time(4) }),
        at.send('post', `/v1/sessions/${one.id}/cancel`),
        at.put(other.id, { student_ids: [...at.students].reverse() }),
        at.put(other.id, { student_ids: [at.students[2]] }),
        at.book(time(3), { student_ids: at.students }),
      ]);
      for (const { status } of answers) expect([200, 201, 409]).toContain(status);
    }
  });

  it('with one idempotency key book one session', async () => {
    const body = { tutor_id: at.t1, student_id: at.students[0], starts_at: time(5), duration_minutes: 60 };
    const send = () => at.send('post', '/v1/sessions', body, { idempotencyKey: `race-${day}` });
    const answers = await Promise.all([send(), send(), send()]);
    expect(new Set(answers.map(({ status, body: { id } }) => `${status} ${id}`)).size).toBe(1);
    expect(answers[0].status).toBe(201);
  });

  it('a booking beside a writer that takes no lock waits for it, and finds its session', async () => {
    const other = api.make.db.createQueryRunner();
    await other.startTransaction();
    await other.query(
      `INSERT INTO sessions (id, organization_id, tutor_id, starts_at, ends_at, duration_minutes)
       VALUES (gen_random_uuid(), $1, $2, $3, $4, 60)`,
      [at.school, at.t1, time(5), time(6)],
    );
    const booking = at.book(time(5));
    await vi.waitFor(async () => {
      const waiting = await api.make.query(`SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO sessions%'`);
      expect(waiting.length).toBeGreaterThan(0);
    });
    await other.commitTransaction();
    await other.release();
    const answer = await booking;
    expect([answer.status, answer.body.error.code]).toEqual([409, 'session_overlap']);
    const [stored] = await at.sessions(`from=${time(5)}&to=${time(5)}`);
    expect(answer.body.error.details.session_id).toBe(stored!.id);
  });
});
