import { busyTutor } from '../../support/data/busy-tutor.js';
import { reached } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const AHEAD = 4_000;
const api = await fixture(TestApi.start());

it.each(['unassign', 'cancel', 'hand_over'])('a tutor with 4,000 sessions ahead leaves within 5 s: %s', async (sessions) => {
  const { at, offboard, left } = await busyTutor(api, AHEAD);
  const began = performance.now();
  const answer = await offboard({ sessions, ...(sessions === 'hand_over' && { hand_over_to: at.t2 }) });
  const ms = Math.round(performance.now() - began);
  expect([answer.status, (await left()).map(({ n }) => n)]).toEqual([200, [AHEAD]]);
  expect(ms).toBeLessThan(5_000);
  reached(57, `${sessions}: ${ms} ms`);
});
