import { reached } from '../../support/faults/promise.js';
import { attemptsOf, guess, type Guessing } from '../../support/portal/guessing.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 52: strangers cannot lock anybody out. */
const SECONDS = Number(process.env.SECONDS ?? 600);
const STRANGERS = { networks: 100, connections: 50 };
const CODES = Number(process.env.CODES ?? 10_000);

const joining = await fixture(JoinFixture.open({ LOG_LEVEL: 'silent' }));

const tell = ({ attempts, tries, failed, slowest }: Guessing) =>
  `${tries} tries of the owner, ${failed.length} in vain, slowest sign-in ${Math.round(slowest)} ms, against ${JSON.stringify(attempts)}`;

it('an owner signs in, and codes work, while 100 networks guess at both', async () => {
  const until = Date.now() + SECONDS * 1_000;
  const so = await guess(joining, STRANGERS, (now) => Date.now() > until && attemptsOf(now, 'wrong codes') >= CODES);
  reached(52, tell(so));
  expect(so.failed).toEqual([]);
  // The networks had used up their attempts.
  expect(so.attempts['wrong passwords: 429']).toBeGreaterThan(0);
  expect(so.attempts['wrong codes: 429']).toBeGreaterThan(0);
}); // prettier-ignore
