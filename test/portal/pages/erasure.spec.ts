import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

let pages: PeoplePages;

const joining = await JoinFixture.shared();
beforeEach(async () => {
  pages = await PeoplePages.open(joining);
});

const { make } = joining.portal;
const here = () => pages.provisioning.id;
const asked = () =>
  make.query(`SELECT person_id, keep_results, due_at - asked_at = interval '7 days' AS week FROM erasures WHERE organization_id = $1`, [here()]);

async function leaver(role: 'student' | 'tutor' | 'admin' = 'student') {
  const wish = { role, status: 'archived' as const, acceptedAt: new Date('2026-01-01') };
  const person = await make.member(here(), { ...wish, user: { firstName: 'Mia', lastName: 'Chen' } });
  const path = `${pages.base}/${person.id}`;
  const post = (what: string, form = {}) => pages.owner.post(`${path}/erase/${what}`, form);
  const page = async () => (await pages.owner.get(`${path}/erase`)).text;
  return { ...person, path, post, page };
}

describe('erasing somebody', () => {
  it('is for owners to decide, a week ahead, and to call off; the person and the owners are mailed', async () => {
    const person = await leaver();
    expect((await pages.owner.get(person.path)).text).toContain(`${person.path}/erase`);
    expect(await person.page()).toContain('Erase in seven days');
    expect((await person.post('ask', { results: 'keep' })).status).toBe(303);
    expect(await asked()).toEqual([{ person_id: person.id, keep_results: true, week: true }]);
    expect(await person.page()).toContain('Call it off');
    const mails = await make.query<{ kind: string; email_normalized: string }>(
      `SELECT kind, email_normalized FROM outbox WHERE organization_id = $1 AND kind LIKE 'erasure%' ORDER BY 1`,
      [here()],
    );
    const [owner] = await make.query<{ email_normalized: string }>('SELECT email_normalized FROM users WHERE id = $1', [pages.ownerId]);
    expect(mails).toEqual([
      { kind: 'erasure_asked', ...owner },
      { kind: 'erasure_coming', email_normalized: person.emailNormalized },
    ]);
    await person.post('call-off');
    expect(await asked()).toEqual([]);
    expect(await pages.audited('ask erasure')).toEqual([expect.objectContaining({ user_id: person.id })]);
    expect(await pages.audited('call off erasure')).toHaveLength(1);
  });

  it('is stopped by a hold, with its reason, until an owner releases it', async () => {
    const person = await leaver();
    await person.post('ask');
    await person.post('hold', { reason: ' ' });
    expect(await asked()).toHaveLength(1);
    await person.post('hold', { reason: 'A dispute about fees' });
    expect(await asked()).toEqual([]);
    expect(await person.page()).toContain('A dispute about fees');
    await person.post('ask');
    expect(await person.page()).toContain('data is held');
    expect(await asked()).toEqual([]);
    await person.post('release');
    await person.post('ask');
    expect(await asked()).toHaveLength(1);
  });

  it('is not about somebody who belongs or managed, and not for admins', async () => {
    const [former, student] = [await leaver('admin'), await make.student(here())];
    await former.post('ask');
    expect(await former.page()).toContain('can ask for this');
    await pages.owner.post(`${pages.base}/${student.id}/erase/ask`, {});
    expect((await pages.owner.get(`${pages.base}/${student.id}/erase`)).text).toContain('still belongs here');
    const admin = await joining.portal.someone('admin', { organization: await make.find('organizations', here()) });
    const person = await leaver();
    expect((await joining.portal.get(`${person.path}/erase`, admin.cookie)).status).toBe(404);
    await joining.portal.post(`${person.path}/erase/ask`, {}, admin.cookie);
    expect(await asked()).toEqual([]);
  });
});
