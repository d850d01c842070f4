import { type PeopleFixture, parentRow, studentRow } from '../../support/data/provisioning.js';
import { JoinFixture, STUDENT } from '../../support/portal/join-fixture.js';
import type { Visitor } from '../../support/portal/visitor.js';

const joining = await JoinFixture.shared();
const { sql } = joining;
const provisioning = await joining.provisioning();

/** A student of the office who is signed in. */
async function student(): Promise<{ id: string; email: string; visitor: Visitor }> {
  const { id, email } = await joining.person();
  const visitor = await joining.signedIn(id);
  await visitor.post(`/join/${await joining.invite(provisioning, STUDENT)}`);
  return { id, email, visitor };
}

const audited = (at: PeopleFixture) =>
  sql(`SELECT user_id, api_key_id, details FROM audit_log WHERE organization_id = $1 AND operation = 'change_name'`, at.id);

describe('a person’s own name', () => {
  it('changes in the organizations that the person has accepted, and in no other', async () => {
    const { id, email, visitor } = await student();
    const [pending, parents] = [await joining.provisioning(), await joining.provisioning()];
    await pending.inviteOne(studentRow({ email, first_name: 'Supplied', last_name: 'Before' }));
    const { id: parentId } = await parents.inviteOne(parentRow({ email }));
    await parents.link(parentId, (await joining.portal.make.student(parents.id)).id);
    await visitor.post(`/organizations/${parents.id}/accept`, { as: 'parent' });
    const answer = await visitor.post('/account/name', { first_name: ' Zoë ', last_name: 'O’Neill-Ngô' });
    expect([answer.status, answer.headers.location]).toEqual([303, '/account']);
    const account = await visitor.follow(answer);
    expect(account.text).toContain('Zoë O’Neill-Ngô');
    expect(account.text).toContain('Your name was changed.');
    const names = { first_name: 'Zoë', last_name: 'O’Neill-Ngô' };
    expect(await provisioning.seen('/v1/students', id)).toMatchObject(names);
    expect(await parents.seen('/v1/parents', id)).toMatchObject(names);
    expect(await pending.seen('/v1/students', id)).toMatchObject({ first_name: 'Supplied', last_name: 'Before' });
    const row = { user_id: id, api_key_id: null, details: { user_id: id } };
    expect([await audited(provisioning), await audited(parents), await audited(pending)]).toEqual([[row], [row], []]);
    // The same name again changes nothing.
    await visitor.post('/account/name', { first_name: 'Zoë', last_name: 'O’Neill-Ngô' });
    expect(await audited(provisioning)).toEqual([row]);
  });

  it('has 1 to 200 characters, as in the API', async () => {
    const { id, visitor } = await student();
    const before = await provisioning.seen('/v1/students', id);
    for (const wrong of ['', '   ', 'x'.repeat(201), '😀'.repeat(201)]) {
      for (const field of ['first_name', 'last_name']) {
        const answer = await visitor.post('/account/name', { first_name: 'Mia', last_name: 'Nguyen', [field]: wrong });
        expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('up to 200 characters')]);
      }
    }
    const control = await visitor.post('/account/name', { first_name: 'M\u0000ia', last_name: 'Nguyen' });
    expect(control.status).toBe(400);
    expect(await provisioning.seen('/v1/students', id)).toEqual(before);
    const longest = '😀'.repeat(200);
    expect((await visitor.post('/account/name', { first_name: longest, last_name: longest })).status).toBe(303);
    expect(await provisioning.seen('/v1/students', id)).toMatchObject({ first_name: longest });
  });

  it('is not changed ten times an hour, nor without a session, nor by the form of somebody else', async () => {
    const { id, visitor } = await student();
    const names = (first_name: string) => ({ first_name, last_name: 'Nguyen' });
    const other = await joining.person();
    const foreign = await visitor.post('/account/name', { ...names('Foreign'), person: other.id });
    expect(foreign.status).toBe(409);
    expect((await joining.visitor().post('/account/name', names('Nobody'))).headers.location).toContain('/sign-in');
    const statuses: number[] = [];
    for (let change = 0; change < 11; change++) {
      statuses.push((await visitor.post('/account/name', names(`Mia ${change}`))).status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(303), 429]);
    expect(await provisioning.seen('/v1/students', id)).toMatchObject({ first_name: 'Mia 9' });
  });
});
