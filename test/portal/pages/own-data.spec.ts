import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

interface Downloaded {
  you: { email: string };
  organizations: (Record<string, Record<string, unknown>[]> & { name: string })[];
}

it('everybody downloads what their organizations keep about them, and nothing of others', async () => {
  const tutor = await portal.someone('tutor');
  const { id } = tutor.organization;
  const student = await make.student(id, { user: { firstName: 'Canary' } });
  const session = await make.session(id, { tutorId: tutor.user.id });
  await make.row('leads', { organizationId: id, name: 'Canary', assignedTutorId: tutor.user.id, staffNotes: 'Canary' });
  await make.row('homework', { organizationId: id, assignedBy: tutor.user.id, studentId: student.id, scope: 'student', title: 'Surds' });
  const elsewhere = await portal.someone('tutor');
  const { text, headers } = await portal.get('/account/data/download', tutor.cookie).expect(200);
  expect(headers).toMatchObject({ 'content-disposition': 'attachment; filename="my-data.json"', 'cache-control': 'no-store' });
  const data = JSON.parse(text) as Downloaded;
  expect(data.you.email).toBe(tutor.user.email);
  expect(data.organizations).toHaveLength(1);
  const [own] = data.organizations;
  expect(own!.sessions!.map((row) => row.id)).toEqual([session.id]);
  expect(own!.homework).toMatchObject([{ title: 'Surds' }]);
  expect(text).not.toContain('Canary');
  expect(text).not.toContain(elsewhere.user.id);
  expect(text).not.toMatch(/"(seen_by|password_hash|staff_notes)"/);
});
