import { randomBytes } from 'node:crypto';
import { Joining } from '@app/accounts';
import { newAddress, PeopleFixture, studentRow } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';
import { JoinFixture, newcomer } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { mailsTo, tokenOf } from '../../support/worker/mailbox.js';
import { fixture } from '../../support/process/fixture.js';

let provisioning: PeopleFixture;

const desk = await fixture(JoinFixture.open());
const make = desk.portal.make;

beforeEach(async () => {
  provisioning = await desk.provisioning();
});

describe('joining', () => {
  it('an organization creates a member, and a profile for tutors', async () => {
    for (const [role, path] of [
      ['student', '/v1/students'],
      ['tutor', '/v1/tutors'],
    ]) {
      const email = newAddress();
      const id = await desk.joined(await desk.invite(provisioning, { scope: 'organization', role, email }), null, newcomer(email));
      expect(await provisioning.seen(path!, id)).toMatchObject({ first_name: 'Mia', email, status: 'accepted' });
    }
    const admin = newAddress();
    await desk.invite(provisioning, { scope: 'organization', role: 'admin', email: admin });
    const { token, proof } = await desk.mail(admin);
    const id = await desk.joined(token, proof, newcomer(admin));
    // Until an owner approves: see test/portal/joining/admins.spec.ts.
    expect(await make.query('SELECT role, status FROM members WHERE user_id = $1', [id])).toEqual([{ role: 'admin', status: 'pending' }]);
  });

  it('a classroom or group adds the person to it', async () => {
    const classroom = await make.classroom(provisioning.id);
    const group = await make.group(provisioning.id);
    const inRoom = await desk.joined(await desk.invite(provisioning, { scope: 'classroom', classroom_id: classroom.id }), null, newcomer());
    expect(await make.query('SELECT user_id, role FROM classroom_members WHERE classroom_id = $1', [classroom.id])).toEqual([
      { user_id: inRoom, role: 'student' },
    ]);
    const inGroup = await desk.joined(await desk.invite(provisioning, { scope: 'group', group_id: group.id }), null, newcomer());
    expect((await desk.api.get(`/v1/student-groups/${group.id}`, provisioning.key)).body).toMatchObject({ student_ids: [inGroup] });
    expect((await provisioning.list('/v1/students')).map(({ id }) => id).sort()).toEqual([inRoom, inGroup].sort());
  });

  it('a tutor links the student to the tutor, with the subject', async () => {
    const tutor = await make.tutor(provisioning.id);
    const subject = await make.subject(provisioning.id);
    const link = await desk.invite(provisioning, { scope: 'tutor_student', tutor_id: tutor.id, subject_id: subject.id });
    const id = await desk.joined(link, null, newcomer());
    await desk.joined(link, null, { signedInAs: id });
    expect(await make.query('SELECT tutor_id, student_id, subject_id, status FROM tutor_students')).toEqual([
      { tutor_id: tutor.id, student_id: id, subject_id: subject.id, status: 'active' },
    ]);
  });

  it('a child links the parent of an invite to their address to the child', async () => {
    const [child, email] = [await make.student(provisioning.id), newAddress()];
    const id = await desk.joined(await desk.invite(provisioning, { scope: 'parent', student_id: child.id, email }), null, newcomer(email));
    expect((await desk.api.get(`/v1/parents/${id}`, provisioning.key)).body).toMatchObject({ student_ids: [child.id], status: 'accepted' });
    expect(await provisioning.list('/v1/students')).toHaveLength(1);
  });

  it('a provisioned account confirms it', async () => {
    const email = newAddress();
    const { id } = await provisioning.inviteOne(studentRow({ email }));
    const [mail] = await mailsTo(desk.api, make, email);
    expect(await desk.accept(mail!.token, mail!.proof, { password: PASSWORD })).toMatchObject({
      status: 'joined',
      userId: id,
      created: false,
      verified: true,
    });
  });

  it('writes an audit row without names or secrets', async () => {
    const email = newAddress();
    const token = await desk.invite(provisioning, { scope: 'organization', role: 'student', email });
    const id = await desk.joined(token, null, newcomer(email));
    const [row] = await make.query(`SELECT * FROM audit_log WHERE operation = 'join' AND organization_id = $1`, [provisioning.id]);
    expect(row).toMatchObject({ request_id: 'request-1', details: { user_id: id, scope: 'organization', role: 'student' } });
    expect(JSON.stringify(row)).not.toMatch(/Mia|Nguyen|person-|correct horse/);
  });
});

describe('an invite', () => {
  it('to one person is accepted once, even by concurrent requests', async () => {
    const email = newAddress();
    const token = await desk.invite(provisioning, { scope: 'organization', role: 'student', email });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => desk.accept(token, null, newcomer(email))));
    expect(outcomes.filter(({ status }) => status === 'joined')).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === 'refused') expect(outcome.problem).toBe('accepted');
    expect(await provisioning.list('/v1/students')).toHaveLength(1);
  });

  it('for anybody can be accepted repeatedly, and its code in any spelling', async () => {
    const code = await desk.invite(provisioning, { scope: 'organization', role: 'student' });
    expect(code).toHaveLength(12);
    for (const typed of [code, ` ${code.slice(0, 5)}-${code.slice(5)} `, code.toLowerCase()]) {
      await desk.joined(typed, null, newcomer());
    }
    expect(await provisioning.list('/v1/students')).toHaveLength(3);
    expect(await desk.accept(`${code}2`, null, newcomer())).toMatchObject({ problem: 'unknown' });
  });

  it('cannot be accepted once it is revoked or expired or its target is gone', async () => {
    for (const [state, sql] of [
      ['revoked', 'UPDATE invites SET revoked_at = now() WHERE organization_id = $1'],
      ['expired', 'UPDATE invites SET revoked_at = NULL, expires_at = now() WHERE organization_id = $1'],
    ] as const) {
      const code = await desk.invite(provisioning, { scope: 'organization', role: 'student' });
      await make.query(sql, [provisioning.id]);
      expect(await desk.accept(code, null, newcomer())).toEqual({ status: 'refused', problem: state });
    }
    const child = await make.student(provisioning.id);
    const code = await desk.invite(provisioning, { scope: 'parent', student_id: child.id });
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [child.id]);
    expect(await desk.accept(code, null, newcomer())).toEqual({ status: 'refused', problem: 'gone' });
  });

  it('cannot be accepted by another account', async () => {
    const email = newAddress();
    const token = await desk.invite(provisioning, { scope: 'organization', role: 'student', email });
    const other = await desk.joined(await desk.invite(provisioning, { scope: 'organization', role: 'student' }), null, newcomer());
    expect(await desk.accept(token, null, { signedInAs: other })).toEqual({ status: 'refused', problem: 'other_account' });
  });

  it('does not give a member a second role or let an archived member back in by code', async () => {
    const id = await desk.joined(await desk.invite(provisioning, { scope: 'organization', role: 'student' }), null, newcomer());
    const asTutor = await desk.invite(provisioning, { scope: 'organization', role: 'tutor' });
    expect(await desk.accept(asTutor, null, { signedInAs: id })).toEqual({ status: 'refused', problem: 'role' });
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [id]);
    const code = await desk.invite(provisioning, { scope: 'organization', role: 'student' });
    expect(await desk.accept(code, null, { signedInAs: id })).toEqual({ status: 'refused', problem: 'archived' });
  });
});

describe('an account that was archived', () => {
  it('is restored by a link sent after the archiving, not by an earlier one', async () => {
    const email = newAddress();
    const { id } = await provisioning.inviteOne(studentRow({ email }));
    const [before] = await mailsTo(desk.api, make, email);
    await make.query(`UPDATE members SET status = 'archived', archived_at = now() WHERE user_id = $1`, [id]);
    expect(await desk.accept(before!.token, before!.proof, { password: PASSWORD })).toMatchObject({ problem: 'archived' });
    expect(await provisioning.seen('/v1/students', id)).toMatchObject({ status: 'archived' });
    await provisioning.tenMinutesLater();
    await provisioning.inviteOne(studentRow({ email }));
    await provisioning.post(`/v1/students/${id}/send-invite`);
    const [after] = await mailsTo(desk.api, make, email);
    expect(after!.token).not.toBe(before!.token);
    expect(await desk.accept(after!.token, after!.proof, { password: PASSWORD })).toMatchObject({ status: 'joined' });
  });
});

describe('without a mail server', () => {
  it('a second organization requires a sign-in, because the address cannot be proven', async () => {
    const settings = { ENCRYPTION_KEY: randomBytes(32).toString('hex') };
    const silent = await TestApi.start(settings, desk.api.database);
    const silentPortal = await TestApi.start({ ...settings, DATABASE_URL: desk.api.database.portalUrl }, desk.api.database);
    try {
      const [first, second] = [await PeopleFixture.open(silent, make), await PeopleFixture.open(silent, make)];
      const email = newAddress();
      const link = async (by: PeopleFixture) => {
        const { body } = await by.post('/v1/invites', { scope: 'organization', role: 'student', email });
        return tokenOf((body as { join_url: string }).join_url);
      };
      const joining = silentPortal.app.get(Joining);
      const made = await joining.accept(await link(first), null, newcomer(email), 'r');
      const token = await link(second);
      expect(await joining.accept(token, null, { password: 'not the password' }, 'r')).toMatchObject({ problem: 'sign_in' });
      const { userId } = made as { userId: string };
      expect(await joining.accept(token, null, { signedInAs: userId }, 'r')).toMatchObject({ status: 'joined' });
      expect(await second.seen('/v1/students', userId)).toMatchObject({ status: 'accepted', email });
    } finally {
      await silentPortal.close();
      await silent.close();
    }
  });
});
