import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import { loadEnv } from '@app/config';
import { DeletionRounds } from '../../../apps/portal/src/account/deletion-rounds.js';
import { ErasureService } from '../../../apps/worker/src/housekeeping/erasure.service.js';
import { WorkerModule } from '../../../apps/worker/src/worker.module.js';
import { SHARED } from '../../support/http/api.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';
import { logTo } from '../../support/process/log-to.js';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'deleted-accounts-'));
afterAll(() => rmSync(DATA_DIR, { recursive: true }));
const settings = { ...SHARED, DATA_DIR, ENCRYPTION_KEY: '5e'.repeat(32), SMTP_URL: 'smtp://127.0.0.1:1' };
const portal = await fixture(TestPortal.start(settings));
const { make } = portal;
const env = loadEnv({ ...settings, WORKER_DATABASE_URL: portal.database.workerUrl }, {});
const worker = await fixture(Test.createTestingModule({ imports: [WorkerModule.forRoot(env, logTo([]))] }).compile());
const AT = '/account/delete';

/** The portal's round, then the worker's. */
async function rounds(): Promise<void> {
  await portal.app.get(DeletionRounds).runOnce();
  await worker.get(ErasureService).runOnce();
}

const at = ({ organization }: Someone) => ({ organization });
const ask = (one: Someone) => portal.post(AT, {}, one.cookie).expect(303);
const pageOf = async (one: Someone) => (await portal.get(AT, one.cookie).expect(200)).text;
const overdue = ({ user }: Someone) => make.query(`UPDATE account_deletions SET due_at = now() - interval '1 second' WHERE user_id = $1`, [user.id]);
const wishes = ({ user }: Someone) =>
  make.query(`SELECT due_at - asked_at = interval '7 days' AS week FROM account_deletions WHERE user_id = $1`, [user.id]);
const tiesOf = ({ user }: Someone) =>
  make.query<{ organization_id: string; status: string }>(
    `SELECT organization_id, status FROM members WHERE user_id = $1 UNION ALL SELECT organization_id, status FROM parents WHERE user_id = $1`,
    [user.id],
  );
const exists = async ({ user }: Someone) => (await make.query('SELECT FROM users WHERE id = $1', [user.id])).length === 1;
const mailsOf = (organizationId: string | null) =>
  make.query<{ kind: string; recipient: string }>(
    `SELECT kind, recipient FROM outbox WHERE organization_id IS NOT DISTINCT FROM $1 AND kind LIKE 'account_deletion%' ORDER BY 1, 2`,
    [organizationId],
  );

describe('deleting one’s own account', () => {
  it('changes nothing for seven days, in which it is called off; the person and the owners are mailed', async () => {
    const owner = await portal.someone('owner');
    const [student, admin] = [await portal.someone('student', at(owner)), await portal.someone('admin', at(owner))];
    for (const one of [student, admin]) {
      expect(await pageOf(one)).toContain('Delete my account in seven days');
      await ask(one);
      await ask(one);
      expect(await wishes(one)).toEqual([{ week: true }]);
      expect((await portal.get('/account', one.cookie).expect(200)).text).toContain('Your account is deleted on');
      await rounds();
      expect((await tiesOf(one)).map(({ status }) => status)).toEqual(['accepted']);
    }
    expect(await mailsOf(owner.organization.id)).toEqual([{ kind: 'account_deletion_asked', recipient: owner.user.email }]);
    expect((await mailsOf(null)).map(({ recipient }) => recipient).sort()).toEqual([student.user.email, admin.user.email].sort());
    for (const one of [student, admin]) await portal.post(`${AT}/call-off`, {}, one.cookie).expect(303);
    expect([await wishes(student), await wishes(admin)]).toEqual([[], []]);
    await rounds();
    expect([await exists(student), await exists(admin)]).toEqual([true, true]);
    const audited = (await portal.audited(owner.organization.id)).filter(({ operation }) => operation.endsWith('account deletion'));
    expect(audited.map(({ operation, by }) => [operation, by])).toEqual([
      ['ask account deletion', student.user.id],
      ['ask account deletion', admin.user.id],
      ['call off account deletion', student.user.id],
      ['call off account deletion', admin.user.id],
    ]);
  });

  it('ends every tie and erases everywhere, once the days are over, and then the login', async () => {
    const [here, there] = [await portal.someone('owner'), await portal.someone('owner')];
    const tutor = await portal.someone('tutor', at(here));
    const { id } = tutor.user;
    await make.parent(there.organization.id, { user: { id }, children: [(await make.student(there.organization.id)).id] });
    await make.member((await make.organization()).id, { user: { id }, role: 'student', status: 'pending' });
    const lesson = await make.session(here.organization.id, { tutorId: id, startsAt: new Date(Date.now() + 86_400_000) });
    await ask(tutor);
    await overdue(tutor);
    await portal.post(`${AT}/call-off`, {}, tutor.cookie).expect(303);
    expect(await wishes(tutor)).toHaveLength(1);
    await rounds();
    await rounds();
    expect([await exists(tutor), await tiesOf(tutor)]).toEqual([false, []]);
    expect(await make.find('sessions', lesson.id)).toMatchObject({ tutorId: null });
    expect((await portal.get('/account', tutor.cookie)).headers.location).toContain('/sign-in');
    expect(await make.query('SELECT FROM users WHERE email_normalized = $1', [tutor.user.emailNormalized])).toEqual([]);
  });

  it('is not for the only owner of an organization, who is told what to do first, also once the days are over', async () => {
    const owner = await portal.someone('owner');
    expect(await pageOf(owner)).toContain('make somebody else an owner first');
    expect((await ask(owner)).headers['set-cookie']).toBeDefined();
    expect(await wishes(owner)).toEqual([]);
    const second = await portal.someone('owner', at(owner));
    await portal.setPassword(second.user.id);
    await ask(owner);
    await overdue(owner);
    await make.query(`UPDATE members SET role = 'admin' WHERE user_id = $1`, [second.user.id]);
    await rounds();
    expect((await tiesOf(owner)).map(({ status }) => status)).toEqual(['accepted']);
    await make.query(`UPDATE members SET role = 'owner' WHERE user_id = $1`, [second.user.id]);
    await rounds();
    expect(await exists(owner)).toBe(false);
  });

  it('an owner’s hold keeps what that organization knows until it is released, and the person is told', async () => {
    const [here, there] = [await portal.someone('owner'), await portal.someone('owner')];
    const student = await portal.someone('student', at(here));
    await make.member(there.organization.id, { user: { id: student.user.id } });
    await make.row('holds', { organizationId: here.organization.id, userId: student.user.id, reason: 'A dispute about fees' });
    const shown = await pageOf(student);
    expect(shown).toContain('An owner holds your data');
    expect(shown).not.toContain('A dispute about fees');
    await ask(student);
    await overdue(student);
    await rounds();
    expect(await tiesOf(student)).toEqual([{ organization_id: here.organization.id, status: 'archived' }]);
    expect(await exists(student)).toBe(true);
    await rounds();
    await make.query('DELETE FROM holds WHERE user_id = $1', [student.user.id]);
    await rounds();
    expect(await exists(student)).toBe(false);
  });

  it('an owner who calls the erasure off does not stop it', async () => {
    const owner = await portal.someone('owner');
    const student = await portal.someone('student', at(owner));
    await ask(student);
    await overdue(student);
    await portal.app.get(DeletionRounds).runOnce();
    const page = `/o/${owner.organization.slug}/people/${student.user.id}/erase`;
    await portal.post(`${page}/call-off`, { form_token: randomUUID() }, owner.cookie).expect(303);
    await rounds();
    expect(await exists(student)).toBe(false);
  });
});
