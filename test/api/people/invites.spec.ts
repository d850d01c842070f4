import { Invites } from '@app/people';
import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { Vault } from '@app/config';
import type { EmailPayload } from '@app/jobs';
import { staysSound } from '../../support/faults/invariants.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const DAY = 86_400_000;
const PORTAL = 'https://portal.example.org';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const CODE = /^[2-9A-HJKMNP-Z]{12}$/;

type Invite = { id: string; token: string; join_url: string | null; expires_at: string; created_at: string; emailed: boolean };

const api = await fixture(TestApi.start({ APP_URL: PORTAL, SMTP_URL: 'smtp://127.0.0.1:9' }));
staysSound(api.make);
const { make } = api;
const school = (await make.organization({ name: 'Canary Tutoring' })).id;
const key = await api.key(school, { scopes: ['accounts:write'] });
const here: Record<string, string> = {
  tutor_id: (await make.tutor(school)).id,
  student_id: (await make.student(school)).id,
  classroom_id: (await make.classroom(school)).id,
  group_id: (await make.group(school)).id,
  subject_id: (await make.subject(school)).id,
};

function invite(body: object, as = key): supertest.Test {
  return supertest(api.server).post('/v1/invites').set('Authorization', `Token token=${as}`).send(body);
}

type Mail = { kind: string; organization_id: string; invite_id: string; link_expires_at: Date; payload: Buffer };

const address = () => `${uuidv7()}@example.org`;
const stored = async (id: string) => (await make.query('SELECT * FROM invites WHERE id = $1', [id]))[0]!;
const mailsTo = (email: string) => make.query<Mail>('SELECT * FROM outbox WHERE recipient = $1', [email]);
const count = async (table: string) => (await make.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`))[0]!.n;

/** What each scope takes, and the invite that results. */
const SCOPES: { scope: string; needs: string[]; given?: string; role: string; target: string; mail: string | null }[] = [
  { scope: 'organization', needs: [], role: 'tutor', target: 'organization', mail: 'organization_invite' },
  { scope: 'organization', needs: [], given: 'tutor', role: 'tutor', target: 'organization', mail: 'organization_invite' },
  { scope: 'organization', needs: [], given: 'student', role: 'student', target: 'organization', mail: 'organization_invite' },
  { scope: 'organization', needs: [], given: 'admin', role: 'admin', target: 'organization', mail: 'organization_invite' },
  { scope: 'tutor_student', needs: ['tutor_id'], role: 'student', target: 'tutor_id', mail: 'tutor_invite' },
  { scope: 'tutor_student', needs: ['tutor_id', 'subject_id'], role: 'student', target: 'tutor_id', mail: 'tutor_invite' },
  { scope: 'classroom', needs: ['classroom_id'], role: 'student', target: 'classroom_id', mail: null },
  { scope: 'group', needs: ['group_id'], role: 'student', target: 'group_id', mail: null },
  { scope: 'parent', needs: ['student_id'], role: 'parent', target: 'student_id', mail: null },
]; // prettier-ignore

const CASES = SCOPES.flatMap((row) => [true, false].map((withEmail) => ({ ...row, withEmail }))).filter(
  ({ given, withEmail }) => given !== 'admin' || withEmail,
);

describe('POST /v1/invites', () => {
  it('takes a subject by its code, and finds no other organization’s', async () => {
    const { id: subject_id } = await make.subject(school, { name: 'Further Maths' });
    const { id: other } = await make.organization();
    await make.subject(other, { name: 'Latin' });
    const by = (code: string) => invite({ scope: 'tutor_student', tutor_id: here.tutor_id, subject_id: code });
    expect((await by('further_maths')).body).toMatchObject({ subject_id });
    for (const code of ['latin', 'Further Maths', 'further_maths ']) expect((await by(code)).status).toBe(404);
  });

  it.each(CASES)('$scope $given $needs, email: $withEmail', async ({ scope, needs, given, withEmail, ...expected }) => {
    const email = withEmail ? `  Mia.${address()} ` : undefined;
    const targets = Object.fromEntries(needs.map((name) => [name, here[name]]));
    const answer = await invite({ scope, ...(given && { role: given }), ...(email && { email }), ...targets });
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    const body = answer.body as Invite;
    const linked = scope === 'tutor_student' || (scope === 'organization' && withEmail);
    const queued = withEmail && expected.mail !== null;
    expect(Object.entries(body)).toEqual([
      ['scope', scope],
      ['id', expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/)],
      ['role', expected.role],
      ['target_id', expected.target === 'organization' ? school : here[expected.target]],
      ['email', email?.trim() ?? null],
      ['token', expect.stringMatching(linked ? TOKEN : CODE)],
      ['join_url', scope === 'parent' ? null : `${PORTAL}/join/${body.token}`],
      ['expires_at', new Date(Date.parse(body.created_at) + (withEmail || scope === 'parent' ? 14 : 90) * DAY).toISOString()],
      ['subject_id', needs.includes('subject_id') ? here.subject_id : null],
      ['emailed', queued],
      ['created_at', expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)],
    ]);
    expect(Math.abs(Date.parse(body.created_at) - Date.now())).toBeLessThan(20_000);

    const row = await stored(body.id);
    expect(row).toMatchObject({ organization_id: school, scope, email: body['email' as keyof Invite] ?? null, standing: false });
    expect(row.secret_hash).toEqual(api.app.get(Invites).hashOf(body.token));
    expect((row.expires_at as Date).toISOString()).toBe(body.expires_at);

    const mails = email ? await mailsTo(email.trim()) : [];
    expect(mails.map(({ kind, organization_id }) => [kind, organization_id])).toEqual(queued ? [[expected.mail, school]] : []);
    for (const { invite_id, link_expires_at, payload } of mails) {
      // The mail is no longer sent once the invite is closed or has expired.
      expect([invite_id, link_expires_at.toISOString()]).toEqual([body.id, body.expires_at]);
      expect(JSON.parse(api.app.get(Vault).open('outbox payloads', payload)) as EmailPayload).toEqual({
        organizationName: 'Canary Tutoring',
        timeZone: 'Australia/Melbourne',
        firstName: null,
        role: expected.role,
        joinUrl: body.join_url,
        proof: expect.stringMatching(/^[\w-]{43}$/) as string,
        expiresAt: body.expires_at,
      });
    }
    const [audit] = await make.query('SELECT * FROM audit_log ORDER BY id DESC LIMIT 1');
    expect(audit).toMatchObject({ operation: 'POST /v1/invites', status: 201, result: 'done' });
    expect(audit!.details).toEqual({
      fields: ['scope', ...(given ? ['role'] : []), ...(email ? ['email'] : []), ...needs],
      invite_id: body.id,
      scope,
      role: expected.role,
      target_id: (body as unknown as { target_id: string }).target_id,
      subject_id: needs.includes('subject_id') ? here.subject_id : null,
      emailed: queued,
    });
  });

  it('stores no secret, not even in the answer for a replay, and logs none', async () => {
    const sent = ['organization', 'organization'].map((scope) => invite({ scope, email: address() }).set('Idempotency-Key', uuidv7()));
    const codes = [invite({ scope: 'organization' }), invite({ scope: 'classroom', classroom_id: here.classroom_id })];
    const secrets = (await Promise.all([...sent, ...codes])).map(({ body }) => (body as Invite).token);
    expect(new Set(secrets).size).toBe(4);
    const tables = ['invites', 'audit_log', 'outbox', 'idempotency_keys'];
    const dump = JSON.stringify(await Promise.all(tables.map((table) => make.query(`SELECT t::text FROM ${table} t`))));
    expect(dump).toContain(here.classroom_id);
    for (const secret of secrets) {
      for (const text of [secret, Buffer.from(secret).toString('hex')]) expect(dump).not.toContain(text);
      expect(api.logged.join('')).not.toContain(secret);
    }
  });

  it('queues no email without SMTP_URL or for a suppressed address, and returns the link', async () => {
    const silent = await TestApi.start({}, api.database);
    const email = address();
    const answer = await supertest(silent.server)
      .post('/v1/invites')
      .set('Authorization', `Token token=${key}`)
      .send({ scope: 'organization', email });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ emailed: false, join_url: expect.stringContaining('/join/') as string });
    await silent.close();
    await make.query(`INSERT INTO suppressions (organization_id, email_normalized, suppressed_until) VALUES ($1, $2, now() + interval '1 day')`, [
      school,
      email,
    ]);
    expect((await invite({ scope: 'organization', email: email.toUpperCase() })).body).toMatchObject({ emailed: false });
    expect(await mailsTo(email)).toEqual([]);
  });

  it('invites members who have not accepted, and refuses those who have', async () => {
    const before = await count('invites');
    for (const role of ['owner', 'admin', 'tutor', 'student'] as const) {
      const { email } = await make.member(school, { role });
      const answer = await invite({ scope: 'organization', email: ` ${email.toUpperCase()} ` });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'email'], type: 'value_error' }] });
    }
    expect(await count('invites')).toBe(before);
    for (const status of ['pending', 'archived'] as const) {
      const { email } = await make.member(school, { status });
      expect((await invite({ scope: 'organization', email })).status).toBe(201);
    }
    const elsewhere = await make.user();
    expect((await invite({ scope: 'organization', email: elsewhere.email })).status).toBe(201);
    // Only the organization scope checks membership: a student of the school may be invited to a tutor.
    const student = await make.student(school);
    expect((await invite({ scope: 'tutor_student', tutor_id: here.tutor_id, email: student.email })).status).toBe(201);
  });

  it('returns 404 for targets that have no such place here, and stores nothing', async () => {
    const before = [await count('invites'), await count('outbox')];
    const pending = await make.tutor(school, { status: 'pending' });
    const archived = await make.student(school, { status: 'archived' });
    for (const body of [
      { scope: 'tutor_student', tutor_id: here.student_id },
      { scope: 'tutor_student', tutor_id: pending.id },
      { scope: 'parent', student_id: here.tutor_id },
      { scope: 'parent', student_id: archived.id, email: address() },
    ]) {
      const answer = await invite(body);
      expect([answer.status, answer.body], JSON.stringify(body)).toMatchObject([404, { error: { code: 'not_found' } }]);
    }
    expect([await count('invites'), await count('outbox')]).toEqual(before);
  });
});
