import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await fixture(TestPortal.start());
const { make } = portal;

/** Two separated parents of one child, a parent of another, and what the tutor set and graded. */
async function school(sharesLearning: boolean) {
  const organization = await make.organization({ sharesLearning });
  const at = organization.id;
  const named = (firstName: string) => ({ user: { firstName, lastName: 'Byron' }, status: 'accepted' as const });
  const [child, sibling, other] = [await make.student(at, named('Tim')), await make.student(at, named('Ida')), await make.student(at, named('Otto'))];
  const mother = await make.parent(at, { ...named('Motherly'), children: [child.id, sibling.id] });
  const father = await make.parent(at, { ...named('Fatherly'), children: [child.id] });
  const stranger = await make.parent(at, { ...named('Stranger'), children: [other.id] });
  const tutor = await make.tutor(at, { status: 'accepted' });
  const classroom = await make.classroom(at, { name: 'Year 9' });
  await make.row('classroom_members', { organizationId: at, classroomId: classroom.id, userId: sibling.id, role: 'student' });
  const elsewhere = await make.organization();
  for (const { id } of [child, sibling, other]) {
    const session = await make.session(at, { tutorId: tutor.id });
    await make.participant(at, session.id, id);
    await make.member(elsewhere.id, { userId: id, role: 'student', status: 'accepted' });
  }
  const set = (title: string, studentId: string) => make.homework(tutor.id, { studentId, title, description: `About ${title}` }, at);
  const [surds] = [await set('Surds', child.id), await set('Prime numbers', sibling.id), await set('Foreign task', other.id)];
  await make.homework(tutor.id, { scope: 'classroom', classroomId: classroom.id, title: 'Task of the class' }, at);
  await make.result(child.id, { grade: 71, mode: 'homework', homeworkAssignmentId: surds.id, madeByOrganizationId: at });
  await make.result(child.id, { grade: 13, madeByOrganizationId: elsewhere.id });
  await make.result(other.id, { grade: 99, madeByOrganizationId: at });
  const look = async ({ id }: { id: string }) => portal.get(`/my/${organization.slug}/learning`, await portal.session(id));
  return { organization, at, child, sibling, mother, father, stranger, tutor, look };
}

/** What may stand on such a page. */
const WORDS = ['Tim', 'Ida', 'Otto', 'Surds', 'Prime numbers', 'Foreign task', 'Task of the class', '71%', '13%', '99%', 'Motherly', 'Fatherly'];
const wordsIn = (text: string) => WORDS.filter((word) => text.slice(text.indexOf('<main')).includes(word));

it('shows parents the homework and results of their own children, and students their own', async () => {
  const at = await school(true);
  const seen = {
    mother: [at.mother, ['Tim', 'Ida', 'Surds', 'Prime numbers', 'Task of the class', '71%']],
    father: [at.father, ['Tim', 'Surds', '71%']],
    stranger: [at.stranger, ['Otto', 'Foreign task', '99%']],
    child: [at.child, ['Surds', '71%']],
    sibling: [at.sibling, ['Prime numbers', 'Task of the class']],
  } as const;
  for (const [name, [who, words]] of Object.entries(seen)) {
    const { status, text } = await at.look(who);
    expect([name, status, wordsIn(text)]).toEqual([name, 200, words]);
    expect(text).toContain(`href="/my/${at.organization.slug}/learning"`);
  }
  expect((await at.look(at.tutor)).status).toBe(403);
  expect((await at.look((await school(true)).mother)).status).toBe(404);
  await make.query('DELETE FROM parent_students WHERE organization_id = $1 AND parent_id = $2', [at.at, at.father.id]);
  expect(wordsIn((await at.look(at.father)).text)).toEqual([]);
});

it('is not there until owners or admins share it on the page of settings', async () => {
  const at = await school(false);
  for (const who of [at.mother, at.child]) {
    expect((await at.look(who)).status).toBe(404);
    expect((await portal.get(`/my/${at.organization.slug}`, await portal.session(who.id))).text).not.toContain('/learning"');
  }
  const { cookie } = await portal.someone('owner', { organization: at.organization });
  const settings = `/o/${at.organization.slug}/settings`;
  const { name, timeZone, currency } = at.organization;
  const form = { name, time_zone: timeZone, currency };
  await portal.post(settings, { ...form, shares_learning: 'yes' }, cookie).expect(303);
  expect((await portal.get(settings, cookie)).text).toMatch(/name="shares_learning" value="yes" checked/);
  expect((await at.look(at.mother)).status).toBe(200);
  await portal.post(settings, { ...form, shares_learning: 'perhaps' }, cookie).expect(422);
  await portal.post(settings, form, cookie).expect(303);
  expect((await at.look(at.mother)).status).toBe(404);
});
