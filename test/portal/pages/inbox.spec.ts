import { type Someone, TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

const pathOf = ({ organization }: Someone) => `/o/${organization.slug}/inbox`;
const look = async (someone: Someone, query = '') => (await portal.get(pathOf(someone) + query, someone.cookie).expect(200)).text;
const write = ({ organization }: Someone, wish: object) => make.row('inbox_messages', { organizationId: organization.id, message: 'Hello', ...wish });
const act = (someone: Someone, id: string, action: string) => portal.post(`${pathOf(someone)}/${id}/${action}`, {}, someone.cookie);

async function statusOf(id: string): Promise<string> {
  return (await make.find('inbox_messages', id)).status;
}

describe('Inbox', () => {
  it('shows who wrote what about whom, without what is archived', async () => {
    const someone = await portal.someone('admin');
    const at = someone.organization.id;
    const [tutor, student] = [
      await make.tutor(at, { user: { firstName: 'Tina', lastName: 'Tutor' } }),
      await make.student(at, { user: { firstName: 'Mia', lastName: 'Nguyen' } }),
    ];
    const parent = await make.parent(at, { user: { firstName: 'Ana', lastName: 'Silva' }, children: [student.id] });
    await write(someone, { guestName: '<b>Guest', guestEmail: 'guest@example.org', message: 'Line 1\nLine 2', subjectTutorId: tutor.id });
    await write(someone, { fromUserId: student.id, status: 'read' });
    await write(someone, { fromUserId: parent.id });
    await write(someone, { guestName: 'Archie', status: 'archived' });
    await write(await portal.someone('owner'), { guestName: 'Stranger' });
    const page = await look(someone);
    for (const text of ['&lt;b&gt;Guest', 'mailto:guest@example.org', 'Line 1\nLine 2', 'About Tina Tutor', 'Mia Nguyen', 'Ana Silva']) {
      expect(page).toContain(text);
    }
    for (const text of ['Archie', 'Stranger']) expect(page).not.toContain(text);
    expect(await look(someone, '?status=archived')).toContain('Archie');
    expect(await look(someone, '?status=archived')).not.toContain('Guest');
    expect(await look(someone, '?status=read')).not.toContain('Guest');
    // Invalid filters are ignored.
    expect(await look(someone, '?status=lost&before=x')).toContain('Guest');
  });

  it('does not name somebody who has not accepted otherwise than the organization did', async () => {
    const someone = await portal.someone('owner');
    const user = await make.user({ firstName: 'Hidden', lastName: 'Name' });
    await make.student(someone.organization.id, { user, status: 'pending', suppliedFirstName: 'Given', suppliedLastName: 'Name' });
    await write(someone, { fromUserId: user.id });
    const page = await look(someone);
    expect([page.includes('Given Name'), page.includes('Hidden')]).toEqual([true, false]);
  });

  it('marks messages as read and archives them, once, in the audit log', async () => {
    const someone = await portal.someone('owner');
    const { id } = await write(someone, { guestName: 'Guest' });
    for (const [action, status] of [['read', 'read'], ['read', 'read'], ['archive', 'archived'], ['archive', 'archived'], ['read', 'archived']] as const) {
      await act(someone, id, action).expect(303);
      expect([action, await statusOf(id)]).toEqual([action, status]);
    } // prettier-ignore
    const rows = (await portal.audited(someone.organization.id)).filter(({ operation }) => operation.includes('inbox'));
    expect(rows.map(({ operation }) => operation)).toEqual(['read inbox message', 'archive inbox message']);
  });

  it('is for owners and admins only', async () => {
    const tutor = await portal.someone('tutor');
    const { id } = await write(tutor, {});
    expect((await portal.get(pathOf(tutor), tutor.cookie)).status).toBe(403);
    expect((await act(tutor, id, 'archive')).status).toBe(403);
    expect(await statusOf(id)).toBe('unread');
  });

  it('pages by keyset', async () => {
    const someone = await portal.someone('owner');
    for (let n = 0; n < 60; n++) await write(someone, { guestName: `n${n}.`, createdAt: new Date(Date.UTC(2026, 4, 1, Math.floor(n / 4))) });
    const text = await portal.walk(pathOf(someone), someone.cookie, 'Older<');
    expect(new Set([...text.matchAll(/>(n\d+)\.</g)].map(([, name]) => name)).size).toBe(60);
  });
});
