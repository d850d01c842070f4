import { newAddress, type PeopleFixture } from '../../support/data/provisioning.js';
import { acting } from '../../support/portal/acting.js';
import { JoinFixture, newcomer } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { mailsTo } from '../../support/worker/mailbox.js';

let provisioning: PeopleFixture;

const joining = await JoinFixture.shared();
const make = joining.portal.make;

beforeEach(async () => {
  provisioning = await joining.provisioning();
});

/** The decisions of owners and admins in the audit log. */
async function decisions(): Promise<unknown[]> {
  const rows = await make.query(
    `SELECT operation, user_id AS by, details FROM audit_log WHERE organization_id = $1 AND operation LIKE '%_member' ORDER BY created_at`,
    [provisioning.id],
  );
  return rows.map(({ operation, by, details }) => [operation, { ...(details as object), by }]);
}

describe('a tutor who joins by a code', () => {
  it('waits for approval, which is requested once', async () => {
    const admin = await make.member(provisioning.id, { role: 'admin' });
    const code = await joining.invite(provisioning, { scope: 'organization', role: 'tutor' });
    const email = newAddress();
    const outcome = await joining.accept(code, null, newcomer(email));
    expect(outcome).toMatchObject({ status: 'joined', waits: true });
    const { userId } = outcome as { userId: string };
    expect(await joining.accept(code, null, { signedInAs: userId })).toMatchObject({ waits: true });
    expect((await mailsTo(joining.api, make, admin.email)).map(({ kind }) => kind)).toEqual(['approval_request']);
    // Proving the address is not an approval.
    const [confirmation] = await mailsTo(joining.api, make, email);
    expect(await joining.accept(confirmation!.token, confirmation!.proof, { password: PASSWORD })).toMatchObject({ verified: true, waits: true });
    expect(await provisioning.seen('/v1/tutors', userId)).toMatchObject({ first_name: 'Mia', email, status: 'pending' });
    const other = await joining.provisioning();
    const decider = { userId: admin.id, requestId: 'request-2' };
    const approve = (by: PeopleFixture) => acting(joining.portal, by.id, decider).approve(userId);
    await expect(approve(other)).rejects.toMatchObject({ why: { kind: 'not_found' } });
    const both = await Promise.allSettled([approve(provisioning), approve(provisioning)]);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { why: { state: 'decided' } } });
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await provisioning.seen('/v1/tutors', userId)).toMatchObject({ status: 'accepted' });
    expect(await decisions()).toEqual([['approve_member', { user_id: userId, by: admin.id }]]);
  });

  it('cannot rejoin by code after being declined, only by an invite to the address', async () => {
    const code = await joining.invite(provisioning, { scope: 'organization', role: 'tutor' });
    const email = newAddress();
    const early = await joining.invite(provisioning, { scope: 'organization', role: 'tutor', email });
    const id = await joining.joined(code, null, newcomer(email));
    const [other, decider] = [
      await joining.provisioning(),
      { userId: (await make.member(provisioning.id, { role: 'admin' })).id, requestId: 'request-3' },
    ];
    const decline = (by: PeopleFixture) => acting(joining.portal, by.id, decider).decline(id);
    await expect(decline(other)).rejects.toMatchObject({ why: { kind: 'not_found' } });
    await decline(provisioning);
    await expect(decline(provisioning)).rejects.toMatchObject({ why: { state: 'decided' } });
    expect(await decisions()).toEqual([['decline_member', { user_id: id, by: decider.userId }]]);
    expect(await provisioning.seen('/v1/tutors', id)).toMatchObject({ status: 'archived', email });
    for (const secret of [code, early]) {
      expect(await joining.accept(secret, null, { signedInAs: id })).toEqual({ status: 'refused', problem: 'archived' });
    }
    const later = await joining.invite(provisioning, { scope: 'organization', role: 'tutor', email });
    expect(await joining.accept(later, null, { signedInAs: id })).toMatchObject({ status: 'joined', waits: false });
    expect(await provisioning.seen('/v1/tutors', id)).toMatchObject({ status: 'accepted' });
  });

  it('does not wait if the invite was to the address', async () => {
    const email = newAddress();
    const outcome = await joining.accept(await joining.invite(provisioning, { scope: 'organization', role: 'tutor', email }), null, newcomer(email));
    expect(outcome).toMatchObject({ status: 'joined', waits: false });
  });
});
