import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AttemptLimits } from '../../../apps/portal/src/web/attempt-limits.js';
import { inReport, reached } from '../../support/faults/promise.js';
import { attemptsOf, guess } from '../../support/portal/guessing.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { ATTACKS, LockoutTarget, WAYS, type Way } from '../../support/portal/lockout.js';
import { Visitor } from '../../support/portal/visitor.js';
import { fixture } from '../../support/process/fixture.js';

/** What a new browser cannot do behind a stranger's own network: the page offers passkey and mail, and the mail another network. */
const NOT_BESIDE: Way[] = ['password in a new browser', 'link by mail in a new browser'];

const joining = await fixture(JoinFixture.open({ LOG_LEVEL: 'silent' }));

/** What the person cannot do after strangers have attempted everything a million times. */
async function inVain(beside: boolean): Promise<Way[]> {
  const { make } = joining.portal;
  await make.query('DELETE FROM sign_in_attempts');
  const target = await LockoutTarget.make(joining);
  await make.query('DELETE FROM sign_in_attempts');
  const own = joining.visitor().network;
  const networks = beside ? [own] : Array.from({ length: 3 }, () => joining.visitor().network);
  for (const attack of ATTACKS) {
    for (const network of networks) await target.attack(attack, new Visitor(joining.portal, undefined, network));
  }
  await make.query('UPDATE sign_in_attempts SET attempts = 1000000 WHERE attempts > 0');
  await make.query('CREATE TABLE attacked AS SELECT * FROM sign_in_attempts');
  if (beside) Object.assign(target.known, { network: own });
  const failed: Way[] = [];
  for (const way of WAYS) {
    if (!(await target.try(way, own))) failed.push(way);
    // What worked forgets attempts.
    await make.query('DELETE FROM sign_in_attempts');
    await make.query('INSERT INTO sign_in_attempts SELECT * FROM attacked');
  }
  await make.query('DROP TABLE attacked');
  return failed;
}

/** Every limit, and what attempts are counted for. None may be counted for everybody. */
const COUNTED = {
  'password in': 'known browser', 'password at and from': 'address and network', 'password from': 'network',
  'wrong passwords at': 'address, and refuses nothing', 'warning of wrong passwords at': 'address, and refuses nothing',
  'password link from': 'network', 'password link to': 'address, which has an earlier link by then',
  'password link in': 'known browser', 'confirmation for': 'person signed in',
  'name change of': 'person signed in', 'data download of': 'person signed in', 'account deletion of': 'person signed in', 'calendar address of': 'person signed in', 'message of': 'person signed in', 'fetch of calendar': 'calendar', 'passkey challenge': 'challenge', 'joined from': 'network', 'wrong code from': 'network',
}; // prettier-ignore

it('every limit is part of this sweep', () => {
  const folder = fileURLToPath(new URL('../../../apps/portal/src/', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
  const purposes = [...texts.matchAll(/purpose: '([^']+)', most/g)].map(([, purpose]) => purpose!);
  expect(purposes.sort()).toEqual(Object.keys(COUNTED).sort());
});

describe('strangers', () => {
  it('in other networks do not keep anybody from anything', async () => {
    expect(await inVain(false)).toEqual([]);
  });

  it('in the same network refuse new browsers two things and nothing else', async () => {
    expect(await inVain(true)).toEqual(NOT_BESIDE);
  });

  it('who guess all the time do not keep the owner from signing in', async () => {
    await joining.portal.make.query('DELETE FROM sign_in_attempts');
    const strangers = inReport({ networks: 100, connections: 50 }, { networks: 8, connections: 16, costly: false });
    const refused = ['wrong passwords: 429', 'wrong codes: 429'];
    const until = Date.now() + 1_000 * Number(process.env.SECONDS ?? inReport(600, 0));
    const codes = Number(process.env.CODES ?? inReport(10_000, 0));
    const so = await guess(
      joining,
      strangers,
      (now) => Date.now() > until && attemptsOf(now, 'wrong codes') >= codes && refused.every((what) => now.attempts[what]! > 20),
    );
    reached(52, `${so.tries} tries of the owner, ${so.failed.length} in vain, slowest sign-in ${Math.round(so.slowest)} ms, against ${JSON.stringify(so.attempts)}`); // prettier-ignore
    expect(so.failed).toEqual([]);
  });

  it('who shared a counter with everybody would lock people out', async () => {
    const prototype = AttemptLimits.prototype as unknown as { subject(counted: [{ purpose: string }, string]): Buffer };
    const right = Reflect.get(prototype, 'subject');
    vi.spyOn(prototype, 'subject').mockImplementation(function (this: typeof prototype, [limit, whose]) {
      return right.call(this, [limit, limit.purpose === 'passkey challenge' ? whose : 'everybody']);
    });
    const failed = await inVain(false);
    vi.restoreAllMocks();
    expect(failed).toEqual(['password in a new browser', 'link by mail in a new browser']);
  });
});
