import type { AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import { repeated } from '../../support/http/repeated.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const SCOPES = ['read', 'accounts:write', 'students:write', 'tutors:write'] as const;
const CAP = 12;

const settings = { ENCRYPTION_KEY: randomBytes(32).toString('hex'), SMTP_URL: 'smtp://127.0.0.1:1', INVITE_MAILS_PER_DAY: String(CAP) };
const api = await fixture(TestApi.start(settings));
const twin = await TestApi.start(settings, api.database);
afterAll(() => twin.close());
const { make } = api;

/** The limits on how often an organization may email a person, and how many people a day, across two processes. */
describe('an email sent by an organization', () => {
  let school: string;
  let key: string;
  let count = 0;

  beforeEach(async () => {
    school = (await make.organization()).id;
    key = await api.key(school, { scopes: [...SCOPES] });
  });

  async function post<Answer>(path: string, body?: object, { at = api, as = key } = {}): Promise<Answer> {
    const { port } = at.server.address() as AddressInfo;
    const response = await repeated(() =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { Authorization: `Token token=${as}`, ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    const answer = (await response.json()) as Answer;
    expect(response.status, JSON.stringify(answer)).toBeLessThan(300);
    return answer;
  }

  const mailsTo = async (address?: string) => {
    const rows = await make.query<{ recipient: string }>(`SELECT recipient FROM outbox WHERE organization_id = $1 AND topic = 'email'`, [school]);
    return rows.filter(({ recipient }) => !address || recipient.toLowerCase() === address.toLowerCase()).length;
  };
  const pass = (interval: string) =>
    make.query('UPDATE outbox SET created_at = created_at - $2::interval WHERE organization_id = $1', [school, interval]);
  const newAddress = () => `person-${++count}@example.org`;
  const invite = (email: string, options = {}) =>
    post<{ emailed: boolean }>('/v1/invites', { scope: 'organization', email }, options).then(({ emailed }) => emailed);

  /** Every way to email a person; each returns whether the answer says that the email was sent. */
  const ways: Record<string, (email: string) => Promise<boolean>> = {
    'an invite to the organization': (email) => invite(email),
    'an invite by a tutor': async (email) => {
      const tutor = await make.tutor(school);
      return (await post<{ emailed: boolean }>('/v1/invites', { scope: 'tutor_student', tutor_id: tutor.id, email })).emailed;
    },
    'a bulk invite': async (email) => {
      const users = [{ type: 'student', first_name: 'Ada', last_name: 'Lovelace', email }];
      return (await post<{ results: { invited: boolean }[] }>('/v1/users/bulk-invite', { users })).results[0]!.invited;
    },
    'a new student': (email) => person('/v1/students', email),
    'a new tutor': (email) => person('/v1/tutors', email),
    'an invite to a student’s account': async (email) => {
      const student = await make.student(school, { user: { email, emailNormalized: email } });
      return (await post<{ sent: boolean }>(`/v1/students/${student.id}/send-invite`)).sent;
    },
    'an invite to a parent’s account': async (email) => {
      const student = await make.student(school);
      const parent = await make.parent(school, { user: { email, emailNormalized: email }, children: [student.id] });
      return (await post<{ sent: boolean }>(`/v1/parents/${parent.id}/send-invite`)).sent;
    },
  };

  /** The answer is the record, which does not mention email, so this counts emails. */
  async function person(path: string, email: string): Promise<boolean> {
    const before = await mailsTo(email);
    await post(path, { first_name: 'Ada', last_name: 'Lovelace', email });
    return (await mailsTo(email)) > before;
  }

  it.each(Object.keys(ways))('%s is sent, but not within ten minutes of another email to the same address', async (name) => {
    const [free, taken] = [newAddress(), newAddress()];
    expect(await ways[name]!(free)).toBe(true);
    expect(await invite(taken.toUpperCase())).toBe(true);
    expect(await ways[name]!(taken)).toBe(false);
    expect([await mailsTo(free), await mailsTo(taken)]).toEqual([1, 1]);
    // A tutor can still invite an existing member.
    const again = ways['an invite by a tutor']!;
    expect(await again(free)).toBe(false);
    await pass('9 minutes 30 seconds');
    expect(await again(taken)).toBe(false);
    await pass('1 minute');
    expect(await again(taken)).toBe(true);
  });

  it.each(Object.keys(ways))('%s counts towards the daily limit of the organization, and is not sent beyond it', async (name) => {
    for (let mail = 0; mail < CAP - 1; mail++) expect(await invite(newAddress())).toBe(true);
    expect(await ways[name]!(newAddress())).toBe(true);
    expect(await ways[name]!(newAddress())).toBe(false);
    expect(await mailsTo()).toBe(CAP);
    await pass('24 hours');
    expect(await ways[name]!(newAddress())).toBe(true);
  });

  it('is sent once under concurrent requests', async () => {
    const email = newAddress();
    const sent = await Promise.all(Array.from({ length: 20 }, (_, n) => invite(email, { at: n % 2 ? api : twin })));
    expect(sent.filter(Boolean)).toHaveLength(1);
    expect(await mailsTo(email)).toBe(1);
  });

  it('never exceeds the daily limit under concurrent requests', async () => {
    const sent = await Promise.all(Array.from({ length: 3 * CAP }, (_, n) => invite(newAddress(), { at: n % 2 ? api : twin })));
    expect(sent.filter(Boolean)).toHaveLength(CAP);
    expect(await mailsTo()).toBe(CAP);
  });

  it('goes to as many rows of a batch as the day still allows, and the answer says which', async () => {
    const users = Array.from({ length: CAP + 5 }, () => ({ type: 'student', first_name: 'Ada', last_name: 'Lovelace', email: newAddress() }));
    const { results } = await post<{ results: { invited: boolean; status: string }[] }>('/v1/users/bulk-invite', { users });
    expect(results.every(({ status }) => status === 'ok')).toBe(true);
    expect(results.filter(({ invited }) => invited)).toHaveLength(CAP);
    expect(await mailsTo()).toBe(CAP);
  });

  it('does not count against other organizations, which may email the same address', async () => {
    const email = newAddress();
    const other = await api.key((await make.organization()).id, { scopes: [...SCOPES] });
    for (let mail = 0; mail < CAP; mail++) await invite(mail === 0 ? email : newAddress());
    expect(await invite(newAddress())).toBe(false);
    expect(await invite(email, { as: other })).toBe(true);
  });

  it('recognizes an address in another case, beyond ASCII too', async () => {
    expect(await invite('jörg@müller.example')).toBe(true);
    expect(await invite('JÖRG@MÜLLER.example')).toBe(false);
    expect(await invite('jorg@müller.example')).toBe(true);
  });
});
