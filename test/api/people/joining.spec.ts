import { randomBytes } from 'node:crypto';
import { Joining, OpenedInvites } from '@app/access';
import { staysSound } from '../../support/faults/invariants.js';
import { newAddress, PeopleFixture, studentRow } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';
import { JoinFixture, newcomer } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { mailsTo, tokenOf } from '../../support/worker/mailbox.js';
import { fixture } from '../../support/process/fixture.js';

let provisioning: PeopleFixture;

const desk = await fixture(JoinFixture.open());
staysSound(desk.api.make);
const make = desk.portal.make;

beforeEach(async () => {
  provisioning = await desk.provisioning();
});

/** What each kind of invite leads to, and how it ends, is shown by the pages: test/portal/joining. */
describe('joining', () => {
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

  it('a parent shows a child who has not accepted as the organization named it', async () => {
    const elsewhere = await make.user({ firstName: 'Secretive' });
    await provisioning.invite(studentRow({ email: elsewhere.email, first_name: 'Supplied' }));
    const code = await desk.invite(provisioning, { scope: 'parent', student_id: elsewhere.id });
    expect(await desk.portal.app.get(OpenedInvites).look(code, null)).toMatchObject({ target: 'Supplied' });
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
