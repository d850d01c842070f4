import { CalendarFixture, type Sent } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

/** Two tutors of different tiers, each with a price and a pay of their own. */
async function tiers() {
  const at = await CalendarFixture.open(api);
  for (const [tutor, rate, pay] of [[at.t1, 9_000, 6_000], [at.t2, 5_000, 3_000]] as const) {
    const { id } = await make.tutorTier(at.school);
    await make.query('UPDATE tutor_profiles SET tutor_tier_id = $1 WHERE organization_id = $2 AND user_id = $3', [id, at.school, tutor]);
    const flat = { tutor_pay_mode: 'flat', tutor_flat_rate_cents: pay };
    await at.cell({ tutor_tier_id: id, student_rate_cents: rate, inperson_surcharge_cents: rate / 10, ...flat });
  } // prettier-ignore
  const key = await api.key(at.school, { scopes: ['accounts:write'] });
  const handOver = () => at.send('post', `/v1/tutors/${at.t1}/offboard`, { sessions: 'hand_over', hand_over_to: at.t2 }, { key });
  const shown = async (sent: Sent) => {
    const { body } = await at.send('get', `/v1/sessions/${sent.body.id}`);
    const [place] = await make.query<{ surcharge: string | null }>(
      'SELECT surcharge_cents AS surcharge FROM lesson_participants WHERE session_id = $1',
      [body.id],
    );
    return [body.tutor_id, body.status, body.student_rate_cents, Number(place!.surcharge), body.tutor_pay_rate_cents];
  };
  return { at, handOver, shown };
}

it('a session that is handed over has the prices and the pay of its new tutor, except what somebody has set', async () => {
  const { at, handOver, shown } = await tiers();
  const lesson = await at.book('2098-03-01T05:00:00Z', { mode: 'in_person' });
  const agreed = await at.book('2098-03-02T05:00:00Z', { student_rate_cents: 7_000, tutor_pay_rate_cents: 4_000 });
  expect(await shown(lesson)).toEqual([at.t1, 'scheduled', 9_000, 900, 6_000]);
  expect((await handOver()).status).toBe(200);
  expect(await shown(lesson)).toEqual([at.t2, 'scheduled', 5_000, 500, 3_000]);
  expect(await shown(agreed)).toEqual([at.t2, 'scheduled', 7_000, 0, 4_000]);
});

it('of sessions that overlap each other, one is handed over', async () => {
  const { at, handOver, shown } = await tiers();
  const one = await at.book('2098-03-01T05:00:00Z');
  const two = await at.book('2098-03-01T05:30:00Z', { allow_overlap: true });
  expect((await handOver()).status).toBe(200);
  const left = [await shown(one), await shown(two)].map(([tutor, status]) => [tutor, status]);
  expect(left).toEqual([[at.t2, 'scheduled'], [null, 'pending']]); // prettier-ignore
});
