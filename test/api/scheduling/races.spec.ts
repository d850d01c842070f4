import { staysSound } from '../../support/faults/invariants.js';
import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { SqlWatch } from '../../support/database/sql-watch.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const ROUNDS = 8;

const api = await fixture(TestApi.start());
staysSound(api.make);
const at = await CalendarFixture.open(api);
let day = 0;
/** A time of a day of its own. */
const time = (hour: number) => new Date(Date.UTC(2027, 5, day, hour)).toISOString();

beforeEach(() => {
  day++;
});

/** That no tutor is booked twice is shown by random histories: calendar-model.spec.ts. */
describe('of requests at the same time', () => {
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

  it('eight sessions with four students in common change who takes part, without a deadlock', async () => {
    const { make } = api;
    const students = [...at.students, (await make.student(at.school)).id];
    const tutors = await Promise.all(Array.from({ length: 8 }, () => make.tutor(at.school)));
    const sessions = await Promise.all(
      tutors.map(({ id }, n) => at.book(time(1), { tutor_id: id, student_ids: [students[n % 4], students[(n + 1) % 4]] })),
    );
    const watch = SqlWatch.start();
    const statuses = new Set<number>();
    for (let round = 0; round < 12; round++) {
      const turned = (n: number) => students.map((_, index) => students[(n + index) % 4]).slice(0, 2 + ((n + round) % 3));
      const puts = sessions.map(({ body }, n) => at.put(body.id, { student_ids: n % 2 ? turned(n + round) : turned(n + round).reverse() }));
      for (const { status } of await Promise.all(puts)) statuses.add(status);
    }
    watch.stop();
    expect([[...statuses], watch.failures]).toEqual([[200], []]);
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
