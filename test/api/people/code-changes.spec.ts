import supertest from 'supertest';
import { JoinedByCode } from '@app/access';
import { newAddress, type PeopleFixture } from '../../support/data/provisioning.js';
import { acting } from '../../support/portal/acting.js';
import { JoinFixture, newcomer, STUDENT, TUTOR } from '../../support/portal/join-fixture.js';

let school: PeopleFixture;
let owner: { id: string; email: string };

const desk = await JoinFixture.shared();
const { sql } = desk;
const { make } = desk.portal;
const act = () => acting(desk.portal, school.id, by());
const undoing = () => desk.portal.app.get(JoinedByCode);

beforeEach(async () => {
  const organization = await desk.api.organizations.create({ name: 'Demo Tutoring', slug: `codes-${newAddress().split('@')[0]}` });
  school = Object.assign(await desk.provisioning(), { id: organization.id });
  Object.assign(school, { key: await desk.api.key(organization.id, { scopes: ['read', 'accounts:write'] }) });
  owner = await make.member(school.id, { role: 'owner' });
});

const by = () => ({ userId: owner.id, requestId: 'request-8' });
const links = async () => (await desk.api.get('/v1/org/join-link', school.key)).body as Record<string, string | null>;
const idOf = async (code: string) => {
  const hash = (await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1 ORDER BY created_at DESC, id DESC', school.id))[0]!;
  expect(code).toHaveLength(12);
  return hash.id;
};
const standing = async (role: string) =>
  (
    await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1 AND standing AND role = $2 AND revoked_at IS NULL', school.id, role)
  )[0]!.id;
const audits = async (operation: string) =>
  (await sql<{ details: object }>('SELECT details FROM audit_log WHERE organization_id = $1 AND operation = $2', school.id, operation)).map(
    ({ details }) => details,
  );
const join = async (code: string) => desk.accept(code, null, { signedInAs: (await desk.person()).id });
const belong = async (ids: string[], table = 'members') =>
  (await sql<{ id: string }>(`SELECT user_id AS id FROM ${table} WHERE organization_id = $1 AND status <> 'archived'`, school.id))
    .map(({ id }) => id)
    .filter((id) => ids.includes(id));

describe('POST /v1/org/join-link/replace', () => {
  it('ends the old codes at once, and answers as GET does', async () => {
    const before = await links();
    const answer = await school.post('/v1/org/join-link/replace');
    expect([answer.status, answer.body]).toEqual([200, await links()]);
    const after = await links();
    for (const role of ['student', 'tutor']) {
      expect(await join(before[`${role}_code`]!)).toMatchObject({ problem: 'revoked' });
      expect(await join(after[`${role}_code`]!)).toMatchObject({ status: 'joined' });
    }
    const made = await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1 AND standing AND revoked_at IS NULL', school.id);
    const [audited] = (await audits('POST /v1/org/join-link/replace')) as { invite_ids: string[] }[];
    expect(audited!.invite_ids.sort()).toEqual(made.map(({ id }) => id).sort());
  });

  it('does not turn on what was switched off', async () => {
    await act().switchOff(await standing('student'));
    expect(await links()).toMatchObject({ student_code: null, student_url: null });
    expect((await school.post('/v1/org/join-link/replace')).body).toMatchObject({ student_code: null });
    expect((await links()).student_code).toBeNull();
  });

  it('leaves one code of each kind under concurrent requests', async () => {
    await Promise.all(Array.from({ length: 8 }, () => school.post('/v1/org/join-link/replace')));
    expect(await sql('SELECT FROM invites WHERE organization_id = $1 AND standing AND revoked_at IS NULL', school.id)).toHaveLength(2);
  });
});

describe('DELETE /v1/invites/{id}', () => {
  const remove = (id: string, key = school.key) => supertest(desk.api.server).delete(`/v1/invites/${id}`).set('Authorization', `Token token=${key}`);

  it('ends an invite or a code, once; not another organization’s, a permanent code or a link to an account', async () => {
    for (const email of [undefined, newAddress()]) {
      const { body } = await school.post('/v1/invites', { ...STUDENT, email });
      const { id, token } = body as { id: string; token: string };
      const other = await desk.provisioning();
      expect((await remove(id, other.key)).status).toBe(404);
      expect((await remove(id)).status).toBe(204);
      expect((await remove(id)).status).toBe(404);
      expect(await desk.accept(token, null, newcomer(email))).toEqual({ status: 'refused', problem: 'revoked' });
    }
    expect((await remove(await standing('tutor'))).status).toBe(404);
    await desk.joined((await links()).student_code!, null, newcomer());
    const [account] = await sql<{ id: string }>(`SELECT id FROM invites WHERE organization_id = $1 AND scope = 'account'`, school.id);
    expect((await remove(account!.id)).status).toBe(404);
    const removed = (await audits('DELETE /v1/invites/:invite_id')).filter((details) => 'invite_id' in details);
    expect(removed).toHaveLength(2);
  });
});

describe('a code', () => {
  it('is replaced, switched off and on again, each with its audit row', async () => {
    const { id: classroom } = await make.classroom(school.id);
    for (const wish of [STUDENT, TUTOR, { scope: 'classroom', classroom_id: classroom }]) {
      const old = await desk.invite(school, wish);
      const id = await idOf(old);
      const replaced = await act().replace(id);
      expect(await join(old)).toMatchObject({ problem: 'revoked' });
      expect(await join(replaced.secret)).toMatchObject({ status: 'joined' });
      await expect(act().replace(id)).rejects.toMatchObject({ why: { code: 'code_replaced' } });
      await act().switchOff(replaced.id);
      // Again changes nothing.
      await act().switchOff(replaced.id);
      expect(await join(replaced.secret)).toMatchObject({ problem: 'revoked' });
      expect(await join((await act().replace(replaced.id)).secret)).toMatchObject({ status: 'joined' });
    }
    expect([(await audits('replace code')).length, (await audits('switch off code')).length]).toEqual([6, 6]);
  });

  it('that is permanent stays switched off until it is replaced, whatever else happens', async () => {
    const id = await standing('student');
    await act().switchOff(id);
    const admin = await make.member(school.id, { role: 'admin' });
    expect(await join((await links()).tutor_code!)).toMatchObject({ status: 'joined' });
    expect(await sql('SELECT FROM organizations_without_codes(1000) o WHERE o = $1', school.id)).toEqual([]);
    await desk.portal.someone('owner', { organization: await make.find('organizations', school.id) });
    // A manager who leaves has the others replaced.
    await act().end({ userId: admin.id });
    expect((await links()).student_code).toBeNull();
    const { secret } = await act().replace(id);
    expect((await links()).student_code).toBe(secret);
  });

  it('of another organization, to an address or to an account is unknown', async () => {
    const email = newAddress();
    await school.post('/v1/invites', { ...STUDENT, email });
    const ids = (await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1 AND email = $2', school.id, email)).map(({ id }) => id);
    ids.push((await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id <> $1 AND email IS NULL LIMIT 1', school.id))[0]!.id);
    expect(ids).toHaveLength(2);
    for (const id of ids) {
      const acts = [
        () => act().replace(id),
        () => act().switchOff(id),
        () => act().undo(id, new Date(0)),
        () => undoing().since({ organizationId: school.id }, id, new Date(0), 10),
      ];
      for (const attempt of acts) await expect(attempt()).rejects.toMatchObject({ why: { kind: 'not_found' } });
    }
  });
});

describe('undoing what came by a code', () => {
  const came = async (code: string) => ((await join(code)) as { userId: string }).userId;

  it('removes them together, and nobody who belongs for another reason', async () => {
    const second = await make.member(school.id, { role: 'admin' });
    const code = await desk.invite(school, STUDENT);
    const id = await idOf(code);
    const before = await came(code);
    await sql(`UPDATE joins SET joined_at = joined_at - interval '2 hours' WHERE organization_id = $1`, school.id);
    await sql(`UPDATE members SET created_at = created_at - interval '2 hours' WHERE organization_id = $1 AND user_id = $2`, school.id, before);
    const strangers = [await came(code), await came(code), await came(code)];
    await sql('UPDATE users SET email_verified_at = NULL WHERE id = $1', strangers[0]);
    const enrolled = await make.student(school.id);
    await desk.accept(code, null, { signedInAs: enrolled.id });
    const { id: invited, email } = await desk.person();
    await desk.accept(code, null, { signedInAs: invited });
    const { id: classroom } = await make.classroom(school.id);
    await desk.joined(await desk.invite(school, { scope: 'classroom', classroom_id: classroom, email }), null, { signedInAs: invited });
    const elsewhere = await came(await desk.invite(school, STUDENT));
    const promoted = await came(code);
    await sql(`UPDATE members SET role = 'admin' WHERE organization_id = $1 AND user_id = $2`, school.id, promoted);

    const since = new Date(Date.now() - 3_600_000);
    const [shown, count] = await undoing().since({ organizationId: school.id }, id, since, 2);
    expect([shown.map((person) => person.id), count]).toEqual([strangers.slice(0, 2), 3]);
    expect(await act().undo(id, since)).toEqual({ removed: 3, left: 0 });
    expect(await belong(strangers)).toEqual([]);
    const stay = [before, enrolled.id, invited, elsewhere, promoted];
    expect((await belong(stay)).sort()).toEqual(stay.sort());
    expect(await audits('end membership')).toHaveLength(3);
    expect(await audits('undo joins')).toEqual([{ invite_id: id, since: since.toISOString(), people: 3 }]);
    const mails = await sql<{ kind: string; recipient: string }>(
      `SELECT kind, recipient FROM outbox WHERE organization_id = $1 AND kind IN ('membership_ended', 'joins_undone') ORDER BY kind`,
      school.id,
    );
    // Whoever has not proven an address may have entered anybody's.
    expect(mails.filter(({ kind }) => kind === 'membership_ended')).toHaveLength(2);
    expect(mails.filter(({ kind }) => kind === 'joins_undone').map(({ recipient }) => recipient).sort()).toEqual(
      [second.email, (await make.find('users', promoted)).email].sort(),
    ); // prettier-ignore
    expect(await act().undo(id, since)).toEqual({ removed: 0, left: 0 });
    for (const stranger of strangers) expect(await desk.accept(code, null, { signedInAs: stranger })).toMatchObject({ problem: 'archived' });
  });

  it('stops in time, and goes on when it is asked again', async () => {
    const code = await desk.invite(school, STUDENT);
    const id = await idOf(code);
    const strangers = [await came(code), await came(code), await came(code)];
    for (const left of [2, 1, 0]) {
      expect(await act().undo(id, new Date(0), -1)).toEqual({ removed: 1, left });
      expect(await belong(strangers)).toHaveLength(left);
    }
  });

  it('ends the waiting of tutors and parents, but nothing that was approved', async () => {
    const child = await make.student(school.id);
    for (const [wish, as] of [
      [TUTOR, 'member'],
      [{ scope: 'parent', student_id: child.id }, 'parent'],
    ] as const) {
      const code = await desk.invite(school, wish);
      const id = await idOf(code);
      const [approved, waiting] = [await came(code), await came(code)];
      await act().approve(approved, as);
      expect(await act().undo(id, new Date(0))).toEqual({ removed: 1, left: 0 });
      expect(await belong([approved, waiting], `${as}s`)).toEqual([approved]);
      await expect(act().approve(waiting, as)).rejects.toMatchObject({ why: { state: 'decided' } });
    }
  });
});
