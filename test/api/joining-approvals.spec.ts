import { Approvals } from '@app/accounts';
import { newAddress, type Office } from '../support/data/provisioning.js';
import { JoinDesk, newcomer } from '../support/portal/join-desk.js';
import { PASSWORD } from '../support/portal/portal.js';
import { mailsTo } from '../support/worker/mailbox.js';
import { fixture } from '../support/process/fixture.js';

let office: Office;

const desk = await fixture(JoinDesk.open());
const make = desk.portal.make;

beforeEach(async () => {
  office = await desk.office();
});

const NAMED = { name: 'Demo Tutoring', timeZone: 'Australia/Melbourne' };
const provisioner = ({ id }: Office) => ({ organizationId: id, organization: NAMED, keyId: null });

/** The decisions of owners and admins in the audit log. */
async function decisions(): Promise<unknown[]> {
  const rows = await make.query(
    `SELECT operation, user_id AS by, details FROM audit_log WHERE organization_id = $1 AND operation LIKE '%_member' ORDER BY created_at`,
    [office.id],
  );
  return rows.map(({ operation, by, details }) => [operation, { ...(details as object), by }]);
}

describe('a tutor who joins by a code', () => {
  it('waits for approval, which is requested once', async () => {
    const admin = await make.member(office.id, { role: 'admin' });
    const code = await desk.invite(office, { scope: 'organization', role: 'tutor' });
    const email = newAddress();
    const outcome = await desk.accept(code, null, newcomer(email));
    expect(outcome).toMatchObject({ status: 'joined', waits: true });
    const { userId } = outcome as { userId: string };
    expect(await desk.accept(code, null, { signedInAs: userId })).toMatchObject({ waits: true });
    expect((await mailsTo(desk.api, make, admin.email)).map(({ kind }) => kind)).toEqual(['approval_request']);
    // Proving the address is not an approval.
    const [confirmation] = await mailsTo(desk.api, make, email);
    expect(await desk.accept(confirmation!.token, confirmation!.proof, { password: PASSWORD })).toMatchObject({
      verified: true,
      waits: true,
    });
    expect(await office.seen('/v1/tutors', userId)).toMatchObject({ first_name: 'Mia', email, status: 'pending' });
    const other = await desk.office();
    const decider = { userId: admin.id, requestId: 'request-2' };
    const approve = (by: Office) => desk.portal.app.get(Approvals).approve(provisioner(by), decider, userId);
    expect(await approve(other)).toBe('absent');
    expect((await Promise.all([approve(office), approve(office)])).sort()).toEqual(['decided', 'done']);
    expect(await office.seen('/v1/tutors', userId)).toMatchObject({ status: 'accepted' });
    expect(await decisions()).toEqual([['approve_member', { user_id: userId, by: admin.id }]]);
  });

  it('cannot rejoin by code after being declined, only by an invite to the address', async () => {
    const code = await desk.invite(office, { scope: 'organization', role: 'tutor' });
    const email = newAddress();
    const early = await desk.invite(office, { scope: 'organization', role: 'tutor', email });
    const id = await desk.joined(code, null, newcomer(email));
    const [other, decider] = [await desk.office(), { userId: (await make.user()).id, requestId: 'request-3' }];
    const decline = (by: Office) => desk.portal.app.get(Approvals).decline(provisioner(by), decider, id);
    expect([await decline(other), await decline(office), await decline(office)]).toEqual(['absent', 'done', 'decided']);
    expect(await decisions()).toEqual([['decline_member', { user_id: id, by: decider.userId }]]);
    expect(await office.seen('/v1/tutors', id)).toMatchObject({ status: 'archived', email });
    for (const secret of [code, early]) {
      expect(await desk.accept(secret, null, { signedInAs: id })).toEqual({ status: 'refused', problem: 'archived' });
    }
    const later = await desk.invite(office, { scope: 'organization', role: 'tutor', email });
    expect(await desk.accept(later, null, { signedInAs: id })).toMatchObject({ status: 'joined', waits: false });
    expect(await office.seen('/v1/tutors', id)).toMatchObject({ status: 'accepted' });
  });

  it('does not wait if the invite was to the address', async () => {
    const email = newAddress();
    const outcome = await desk.accept(
      await desk.invite(office, { scope: 'organization', role: 'tutor', email }),
      null,
      newcomer(email),
    );
    expect(outcome).toMatchObject({ status: 'joined', waits: false });
  });
});
