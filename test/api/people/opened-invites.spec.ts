import { OpenedInvites } from '@app/accounts';
import { type PeopleFixture, studentRow } from '../../support/data/provisioning.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { fixture } from '../../support/process/fixture.js';

let provisioning: PeopleFixture;

const joining = await fixture(JoinFixture.open());
const make = joining.portal.make;

beforeEach(async () => {
  provisioning = await joining.provisioning();
});

describe('the page of an invite', () => {
  const look = (secret: string) => joining.portal.app.get(OpenedInvites).look(secret, null);

  it('names its target, but only the first name of a child', async () => {
    const named = async (wish: object) => (await look(await joining.invite(provisioning, wish)))?.target;
    const [tutor, child] = [await make.tutor(provisioning.id), await make.student(provisioning.id)];
    const [classroom, group] = [await make.classroom(provisioning.id), await make.group(provisioning.id, { name: 'Tuesday' })];
    expect(await named({ scope: 'organization', role: 'tutor' })).toBeNull();
    expect(await named({ scope: 'classroom', classroom_id: classroom.id })).toBe('Room 1');
    expect(await named({ scope: 'group', group_id: group.id })).toBe('Tuesday');
    expect(await named({ scope: 'tutor_student', tutor_id: tutor.id })).toBe('Ada Lovelace');
    expect(await named({ scope: 'parent', student_id: child.id })).toBe('Ada');
    const elsewhere = await make.user({ firstName: 'Secretive' });
    await provisioning.invite(studentRow({ email: elsewhere.email, first_name: 'Supplied' }));
    expect(await named({ scope: 'parent', student_id: elsewhere.id })).toBe('Supplied');
  });

  it('is the same for an unknown code and one that no longer works', async () => {
    const ended = {
      expired: `UPDATE invites SET expires_at = now() WHERE id = $1`,
      revoked: `UPDATE invites SET revoked_at = now() WHERE id = $1`,
      accepted: `UPDATE invites SET accepted_at = now() WHERE id = $1`,
    };
    for (const statement of Object.values(ended)) {
      const code = await joining.invite(provisioning, { scope: 'organization', role: 'student' });
      expect(await look(code)).toMatchObject({ state: 'valid' });
      const [newest] = await make.query('SELECT id FROM invites ORDER BY created_at DESC, id DESC LIMIT 1');
      await make.query(statement, [newest!.id]);
      expect(await look(code)).toBeNull();
    }
    expect(await look('234567892345')).toBeNull();
  });
});
