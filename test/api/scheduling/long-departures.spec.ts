import { staysSound } from '../../support/faults/invariants.js';
import { inReport, reached } from '../../support/faults/promise.js';
import { busyTutor } from '../../support/data/busy-tutor.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
staysSound(api.make);
const { make } = api;
const AHEAD = inReport(4_000, 400);
/** What a page may take; not looked at where others run at the same time. */
const MOST_MS = inReport(5_000, Infinity);

describe(`a tutor with ${AHEAD} sessions ahead leaves in one transaction`, () => {
  it.each([
    ['unassign', 'pending', 'accepted'],
    ['cancel', 'cancelled', 'cancelled'],
    ['hand_over', 'scheduled', 'accepted'],
  ])('%s', async (sessions, status, places) => {
    const { at, offboard, left } = await busyTutor(api, AHEAD);
    const began = performance.now();
    const answer = await offboard({ sessions, ...(sessions === 'hand_over' && { hand_over_to: at.t2 }) });
    const ms = Math.round(performance.now() - began);
    expect(answer.status).toBe(200);
    expect(ms).toBeLessThan(MOST_MS);
    reached(57, `${AHEAD} sessions, ${sessions}: ${ms} ms`);
    const tutor = { unassign: null, cancel: at.t1, hand_over: at.t2 }[sessions];
    expect(await left()).toEqual([{ tutor, status, places, n: AHEAD }]);
  });
});

it('a session whose time an import takes meanwhile is left without a tutor, and the others are handed over', async () => {
  const { at, offboard, left } = await busyTutor(api, AHEAD);
  const importing = make.db.createQueryRunner();
  await importing.startTransaction();
  await importing.query(
    `INSERT INTO sessions (id, organization_id, tutor_id, starts_at, ends_at, duration_minutes)
     SELECT gen_random_uuid(), $1, $2, starts_at, ends_at, 50 FROM sessions
     WHERE organization_id = $1 AND tutor_id = $3 ORDER BY id LIMIT 1`,
    [at.school, at.t2, at.t1],
  );
  const answer = offboard({ sessions: 'hand_over', hand_over_to: at.t2 });
  await vi.waitFor(async () => {
    const waiting = await make.query(`SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock' AND query LIKE '%UPDATE sessions%'`);
    expect(waiting).toHaveLength(1);
  });
  await importing.commitTransaction();
  await importing.release();
  expect((await answer).status).toBe(200);
  expect(await left()).toMatchObject([
    { tutor: null, status: 'pending', n: 1 },
    { tutor: at.t2, n: AHEAD - 1 },
  ]);
});
