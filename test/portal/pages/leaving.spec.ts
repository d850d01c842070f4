import { LEAVING, type Leaving } from '@app/access';
import type { Row } from '../../support/data/sample-rows.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

type Role = 'owner' | 'admin' | 'tutor' | 'student' | 'parent';

const joining = await JoinFixture.shared();
const { make } = joining.portal;

const SOON = new Date(Date.now() + 90_000_000);
const AHEAD = { starts_at: SOON, ends_at: new Date(SOON.getTime() + 3_600_000), duration_minutes: 60, status: 'scheduled' };
const INVITE = { email: 'friend@example.org', scope: 'organization', role: 'tutor', expires_at: SOON };

/** What else a row needs to be valid and open. */
const OTHERS: Record<string, Row> = {
  'api_keys.replaced_by': { replaced_at: SOON },
  'conversation_participants.user_id': { role: 'student' },
  'invites.api_key_id': INVITE,
  'invites.created_by': INVITE,
  'invites.user_id': INVITE,
  'joins.user_id': { approval: 'waiting' },
  'lesson_participants.student_id': { status: 'accepted' },
  'lesson_plans.student_id': { scope: 'student' },
  'locations.student_id': { owner_type: 'student' },
  'locations.tutor_id': { owner_type: 'tutor' },
  'sessions.student_id': AHEAD,
  'sessions.tutor_id': AHEAD,
  'tutor_profiles.user_id': { is_published: true },
};

/** There already: the person, their key, and what triggers write. */
const THERE = ['members.user_id', 'parents.user_id', 'api_keys.created_by', 'session_students.student_id'];

/** What the columns refer to. */
const TARGETS = new Map(
  (await make.query<{ name: string; target: string }>(`
    SELECT k.conrelid::regclass || '.' || a.attname AS name, k.confrelid::regclass::text AS target
    FROM pg_constraint k CROSS JOIN unnest(k.conkey) c (num) JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = c.num
    WHERE k.contype = 'f' AND a.attname <> 'organization_id'`)).map(({ name, target }) => [name, target]),
); // prettier-ignore

const FATES = Object.entries<Leaving>(LEAVING).map(([name, fate]) => {
  const [table, column] = name.split('.') as [string, string];
  return { name, table, column, fate, ofKey: TARGETS.get(name) === 'api_keys' };
});

/** Those whose rows can name somebody with this role. */
function namingOf(role: Role) {
  const parents = ['parents.user_id', 'joins.user_id', 'conversation_participants.user_id', 'messages.sender_id'];
  return FATES.filter(({ name, column, ofKey }) => {
    const ofParent = TARGETS.get(name) === 'parents' || name === 'parents.user_id';
    if (role === 'parent') return ofParent || parents.includes(name);
    if (ofParent) return false;
    const ofStaff = ofKey || column.endsWith('tutor_id') || column === 'created_by' || name.startsWith('tutor_');
    return role === 'student' ? !ofStaff || name === 'tutor_students.student_id' : column !== 'student_id';
  });
}

describe.each<Role>(['owner', 'admin', 'tutor', 'student', 'parent'])('after somebody has left: %s', (role) => {
  it('every row that names them is what LEAVING says', async () => {
    const pages = await PeoplePages.open(joining);
    const organizationId = pages.provisioning.id;
    await joining.portal.setPassword(pages.ownerId);
    const person = role === 'parent' ? await make.parent(organizationId) : await make.member(organizationId, { role });
    const own = { organization_id: organizationId };
    const [key] = await make.insert('api_keys', [{ created_by: person.id, scopes: ['read'] }], own);
    const [invite] = await make.insert('invites', [{ target_id: organizationId, ...INVITE }], own);
    const [tutor, student] = [await make.tutor(organizationId), await make.student(organizationId)];
    const known = {
      ...own,
      user_id: person.id,
      tutor_id: tutor.id,
      student_id: student.id,
      assigned_by: tutor.id,
      parent_id: (await make.parent(organizationId)).id,
      subject_id: (await make.subject(organizationId)).id,
      session_id: (await make.session(organizationId, { startsAt: SOON, tutorId: tutor.id })).id,
      conversation_id: (await make.conversation({ participants: [pages.ownerId] })).id,
      classroom_id: (await make.classroom(organizationId)).id,
      group_id: (await make.group(organizationId)).id,
      invite_id: invite!.id,
    };
    const naming = namingOf(role).map((one) => ({ ...one, id: one.ofKey ? key!.id : person.id }));
    const rows = (where: (one: (typeof naming)[number]) => string) =>
      Promise.all(
        naming.map((one) =>
          make.query(`SELECT to_jsonb(t) AS row FROM ${one.table} t WHERE ${one.column} = $1 AND (${where(one)}) ORDER BY 1`, [one.id]),
        ),
      );
    const open = () => rows(({ fate }) => ('open' in fate ? fate.open : 'true'));

    for (const { name, table, column, id } of naming) {
      if (THERE.includes(name)) continue;
      const byName: Record<string, Row> = {
        'files.owner_id': { scope: 'private' },
        'files.student_id': { scope: 'personal', owner_id: tutor.id },
        'lesson_plans.created_by': { scope: 'classroom', classroom_id: known.classroom_id },
        'questions.author_id': own,
      };
      const more = byName[name] ?? OTHERS[name];
      await make.insert(table, [{ [column]: id, ...more }], known, organizationId);
    }
    const before = await open();
    expect(naming.filter((_, index) => before[index]!.length === 0).map(({ name }) => `${name}: give it an open row`)).toEqual([]);

    expect((await pages.owner.post(`${pages.base}/${person.id}/remove`, { sessions: 'unassign' })).status).toBe(303);
    const after = await open();
    const wrong = naming.filter(({ fate: { becomes } }, index) => {
      if (becomes === 'ends' || becomes === 'handed_over') return after[index]!.length > 0;
      const changed = JSON.stringify(after[index]) !== JSON.stringify(before[index]);
      return changed !== (becomes === 'frozen');
    });
    expect(wrong.map(({ name, fate }) => `${name} is not what LEAVING says: ${fate.becomes}`)).toEqual([]);
  });
});
