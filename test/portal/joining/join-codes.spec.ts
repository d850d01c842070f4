import { newCode } from '@app/people';
import { newAddress, type PeopleFixture } from '../../support/data/provisioning.js';
import { JoinFixture, registration, STUDENT } from '../../support/portal/join-fixture.js';
import { Visitor } from '../../support/portal/visitor.js';

let provisioning: PeopleFixture;

const joining = await JoinFixture.shared();
const { sql } = joining;
beforeEach(async () => {
  provisioning = await joining.provisioning();
  await sql('DELETE FROM sign_in_attempts');
});

describe('the code box', () => {
  it('accepts a code in any spelling, and a whole link', async () => {
    const code = await joining.invite(provisioning, STUDENT);
    const [left, right] = [code.slice(0, 5), code.slice(5)];
    const typed = [
      code,
      code.toLowerCase(),
      ` ${left} ${right} `,
      `${left}-${right}`,
      `${left}–${right}`,
      `${left}\u00a0${right}\u200b`,
      `https://portal.example.org/join/${code}`,
      `http://localhost:1/join/${left}-${right}?utm_source=x#top`,
      `Join us: https://portal.example.org/join/${code}`,
    ];
    for (const text of typed) {
      const answer = await joining.visitor().post('/join', { code: text });
      expect([answer.status, answer.headers.location, text]).toEqual([303, `/join/${code}`, text]);
    }
    expect((await joining.visitor().get(`/join/${left}-${right.toLowerCase()}`)).text).toContain('Join Demo Tutoring');
  });

  it.each([
    '%.', '(%)', '<%>', '"%"', '“%”', '‘%’,', '[%]', '%!?', 'Join us at %, or call.', 'Here: %\u200b.', '«%»;', '_%_', '*%*', '**%**', '%…', '%%0A', '「%」。',
  ])('opens a link and a code that were pasted as %s', async (around) => {
    const code = await joining.invite(provisioning, STUDENT);
    const [token, proof] = [`-${'t'.repeat(42)}`, 'p'.repeat(43)];
    for (const [pasted, to] of [
      [`https://portal.example.org/join/${code}`, code],
      [`https://portal.example.org/join/${token}`, token],
      [`https://portal.example.org/join/${token}?proof=${proof}`, `${token}?proof=${proof}`],
      [code, code],
    ] as const) {
      if (pasted === code && /\w{2}/.test(around)) continue;
      const answer = await joining.visitor().post('/join', { code: around.replace('%', pasted) });
      expect([answer.status, answer.headers.location]).toEqual([303, `/join/${to}`]);
    }
    // The same in the address, as programs make links of what is written.
    expect((await joining.visitor().get(`/join/${code}.`)).text).toContain('Join Demo Tutoring');
  }); // prettier-ignore

  it('accepts a mailed link with its proof, and never leads to another site', async () => {
    const [token, proof] = ['t'.repeat(43), 'p'.repeat(43)];
    const links = [
      [`https://portal.example.org/join/${token}?proof=${proof}`, `/join/${token}?proof=${proof}`],
      [`https://evil.example/join/${token}?proof=x&next=//evil.example`, `/join/${token}`],
    ];
    for (const [text, to] of links) {
      expect((await joining.visitor().post('/join', { code: text! })).headers.location).toBe(to);
    }
  });

  it('explains what a code looks like if the text is not one', async () => {
    for (const text of ['', ' ', 'hello', '0O1IL0O1IL0O', 'HJKMNPQRST', '../account', '//evil.example', '<script>', 'x'.repeat(20_000)]) {
      const answer = await joining.visitor().post('/join', { code: text });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('A code has 12 letters and digits');
      expect(answer.text).not.toContain('<script>');
    }
  });
});

it('who waits for approval reads for whom, since when and that there is nothing to do, on whatever day they come back', async () => {
  const code = await joining.invite(provisioning, { scope: 'organization', role: 'tutor' });
  const email = newAddress();
  const person = { email, first_name: 'Ada', last_name: 'Byron', password: 'correct horse battery' };
  expect((await joining.visitor().post(`/join/${code}`, person)).headers.location).toBe('/join/done');
  const visitor = joining.visitor();
  await visitor.post('/sign-in', { email, password: person.password });
  const { text } = await visitor.get('/');
  expect(text).toMatch(/<strong>Demo Tutoring<\/strong> is checking your request of <time[^>]*>[^<]+<\/time> to join as a tutor\./);
  expect(text).not.toContain('You do not belong to any organization');
});

describe('guesses at codes', () => {
  it('get the same answer for unknown codes and codes that no longer work', async () => {
    const child = await provisioning.make.student(provisioning.id);
    const ways = {
      expired: 'UPDATE invites SET expires_at = now() WHERE organization_id = $1',
      revoked: 'UPDATE invites SET revoked_at = now() WHERE organization_id = $1 AND NOT standing',
      accepted: 'UPDATE invites SET accepted_at = now() WHERE organization_id = $1',
      gone: `UPDATE members SET status = 'archived' WHERE organization_id = $1`,
    };
    const shapeOf = async (code: string, method: 'get' | 'post') => {
      const answer = await joining.visitor()[method](`/join/${code}`, registration('mia@example.org'));
      const headers = { ...answer.headers, date: '', 'x-request-id': '' };
      return { status: answer.status, headers, text: answer.text.replaceAll(code, 'CODE') };
    };
    for (const [state, end] of Object.entries(ways)) {
      const code = await joining.invite(provisioning, { scope: 'parent', student_id: child.id });
      await sql(end, provisioning.id);
      for (const method of ['get', 'post'] as const) {
        const wrong = await shapeOf(newCode(), method);
        expect(wrong.status).toBe(404);
        expect([state, await shapeOf(code, method)]).toEqual([state, wrong]);
      }
    }
  });

  it('are limited per network across processes; beyond the limit, the right code still works', async () => {
    const code = await joining.invite(provisioning, STUDENT);
    const other = await joining.another();
    try {
      const guesser = joining.visitor();
      const elsewhere = new Visitor(other);
      Object.assign(elsewhere, { network: guesser.network });
      const guesses = Array.from({ length: 40 }, (_, index) => (index % 2 ? guesser : elsewhere).get(`/join/${newCode()}`));
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 404)).toHaveLength(20);
      expect(statuses.filter((status) => status === 429)).toHaveLength(20);
      for (const one of [guesser, elsewhere]) {
        for (const refused of [await one.get(`/join/${newCode()}`), await one.post(`/join/${newCode()}`, registration())]) {
          expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('Too many attempts')]);
          expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
        }
        expect((await one.get(`/join/${code}`)).status).toBe(200);
      }
      const joined = await guesser.post(`/join/${code}`, registration(newAddress()));
      expect(joined.headers.location).toBe('/join/done');
      expect((await joining.visitor().get(`/join/${newCode()}`)).status).toBe(404);
      // Links cannot be guessed, so they are not limited.
      const token = await joining.invite(provisioning, { ...STUDENT, email: 'mia@example.org' });
      expect((await guesser.get(`/join/${token}`)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  it('do not count when they are right, so a class can join from one room', async () => {
    const code = await joining.invite(provisioning, STUDENT);
    const room = joining.visitor();
    for (let student = 0; student < 30; student++) expect((await room.get(`/join/${code}`)).status).toBe(200);
    // A right code does not reset the count of wrong ones.
    for (let guess = 0; guess < 20; guess++) {
      expect((await room.get(`/join/${newCode()}`)).status).toBe(404);
      if (guess < 19) expect((await room.get(`/join/${code}`)).status).toBe(200);
    }
    expect((await room.get(`/join/${newCode()}`)).status).toBe(429);
  });
});
