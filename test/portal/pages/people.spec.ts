import { newAddress, studentRow } from '../../support/data/provisioning.js';
import { JoinFixture, TUTOR } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

let pages: PeoplePages;

const joining = await JoinFixture.shared();
const { sql } = joining;
beforeEach(async () => {
  pages = await PeoplePages.open(joining);
});

const namesOn = (html: string) => [...html.matchAll(/<th scope="row"><a [^>]*>([^<]+)<\/a>/g)].map(([, name]) => name);

describe('a search', () => {
  it.each([
    ["Seán O’Brien", ["O'Brien", 'obrien', 'O‘BRIEN', 'sean obrien', 'o`brien', 'OʼBrien', 'O＇Brien']],
    ["Máire O'Brien-Ní Bhriain", ['O’Brien', 'brien ni', 'BRIEN-NÍ', 'obrien–ni', 'o’brien‑ní']],
    ['Søren Ørsted', ['Soren Orsted', 'SØREN', 'ørsted soren']],
    ['Łukasz Wałęsa', ['lukasz walesa', 'ŁUKASZ']],
    ['Đặng Nguyễn', ['dang nguyen', 'Đang', 'đặng'.normalize('NFD')]],
    ['Jürgen Groß', ['jurgen gross', 'GROSS', 'GROẞ', 'groß']],
    ['Işıl Yıldız', ['isil yildiz', 'IŞIL', 'YILDIZ']],
    ['İpek Çelik', ['ipek celik', 'İPEK']],
    ['Æsa Œrsted', ['aesa oersted', 'ÆSA']],
    ['Þórður Ðarri', ['thordur darri', 'ÞÓRÐUR']],
    ['Ngọc Ánh Nguyên', ['NGOC ANH', 'ngọc ánh'.normalize('NFD')]],
    ['Νίκος Παππάς', ['ΝΙΚΟΣ', 'παππας', 'νικοσ']],
    ['Юлия Ёлкина', ['юлия елкина', 'ЁЛКИНА']],
    ['Anna\u00adMaria Ｔａｎ', ['annamaria tan', 'TAN']],
  ])('for %s finds them however it is typed, also when a student is chosen for a draft', async (name, searches) => {
    const { provisioning, owner, base } = pages;
    const [firstName, ...rest] = name.split(' ');
    await provisioning.make.student(provisioning.id, { user: { firstName, lastName: rest.join(' '), phone: '٠٤٠٠ 111 222' } });
    await provisioning.make.student(provisioning.id, { user: { firstName: 'Someone', lastName: 'Else' } });
    for (const search of [...searches, '0400 111222']) {
      const [people, drafts] = [`${base}?search=`, `${base.replace('/people', '/money/draft')}?name=`];
      for (const at of [people, drafts]) {
        const { status, text } = await owner.get(at + encodeURIComponent(search));
        expect([search, at, status, text.includes('Someone Else')]).toEqual([search, at, 200, false]);
        expect([search, at, text.replaceAll('&#39;', "'").includes(name)]).toEqual([search, at, true]);
      }
    }
  }); // prettier-ignore
});

describe('the list of people', () => {
  it('shows, and searches, only supplied data of a person who has not accepted', async () => {
    const stranger = await joining.portal.make.user({ firstName: 'Secretive', lastName: 'Canary' });
    await joining.portal.make.member((await joining.provisioning()).id, { user: stranger });
    await pages.provisioning.inviteOne(studentRow({ email: stranger.email, first_name: 'Supplied', last_name: 'Name' }));
    const { text } = await pages.owner.get(pages.base);
    expect(text).toContain('Supplied Name');
    expect(text).toContain('Invited');
    expect(text).not.toMatch(/Secretive|Canary/);
    const found = async (search: string) => namesOn((await pages.owner.get(`${pages.base}?search=${search}`)).text);
    expect([await found('supplied'), await found('Secretive'), await found('Canary')]).toEqual([['Supplied Name'], [], []]);
    const parent = await joining.portal.make.parent(pages.provisioning.id, {
      user: { firstName: 'Linh', lastName: 'Parent' },
      children: [(await pages.provisioning.make.student(pages.provisioning.id)).id],
    });
    await pages.provisioning.make.parent(pages.provisioning.id, { user: { firstName: 'Unlinked' } });
    const all = (await pages.owner.get(pages.base)).text;
    expect(all).toContain(parent.email);
    expect(all).not.toContain('Unlinked');
  });

  it('is filtered by each status and role, and ignores invalid filters', async () => {
    const make = joining.portal.make;
    const people = { accepted: {}, pending: {}, archived: {} } as const;
    for (const status of Object.keys(people) as (keyof typeof people)[]) {
      for (const role of ['admin', 'tutor', 'student'] as const) {
        const supplied = { suppliedFirstName: status, suppliedLastName: role, suppliedEmail: newAddress() };
        const user = { firstName: status, lastName: role };
        await make.member(pages.provisioning.id, { role, status, user, ...(status !== 'accepted' && supplied) });
      }
    }
    await pages.waitingTutor();
    const listed = async (query: string) => namesOn((await pages.owner.get(`${pages.base}${query}`)).text).sort();
    for (const status of Object.keys(people)) {
      const own = status === 'accepted' ? ['Ada Lovelace'] : [];
      const expected = ['admin', 'student', 'tutor'].map((role) => `${status} ${role}`);
      expect(await listed(`?status=${status}`)).toEqual([...own, ...expected]);
      for (const role of ['admin', 'tutor', 'student']) {
        expect(await listed(`?status=${status}&role=${role}`)).toEqual([`${status} ${role}`]);
      }
    }
    expect(await listed('?status=waiting')).toEqual(['Waiting Nguyen']);
    expect(await listed('?role=owner')).toEqual(['Ada Lovelace']);
    expect(await listed('?role=tutor')).toEqual(['Waiting Nguyen', 'accepted tutor', 'archived tutor', 'pending tutor']);
    const everybody = await listed('');
    expect(everybody).toHaveLength(11);
    for (const query of ['?status=x', '?role=x', '?after=x', '?status=a&status=b', "?after=1_'", '?after=999999999999999_x']) {
      expect(await listed(query)).toEqual(everybody);
    }
  });

  it('shows everybody exactly once page by page, even if created at the same instant', async () => {
    const make = joining.portal.make;
    const names = Array.from({ length: 130 }, (_, index) => `Person${String(index).padStart(3, '0')}`);
    for (const [index, firstName] of names.entries()) {
      const createdAt = new Date(Date.UTC(2026, 0, 1 + Math.floor(index / 40)));
      const role = index % 3 === 0 ? 'tutor' : 'student';
      await make.member(pages.provisioning.id, { role, user: { firstName, lastName: 'X' }, createdAt });
    }
    const child = await make.student(pages.provisioning.id, { user: { firstName: 'Child', lastName: 'X' } });
    const both = await make.tutor(pages.provisioning.id, { user: { firstName: 'Both', lastName: 'X' } });
    await make.parent(pages.provisioning.id, { user: { firstName: 'Parent', lastName: 'X' }, children: [child.id] });
    await make.query('INSERT INTO parents (organization_id, user_id) VALUES ($1, $2)', [pages.provisioning.id, both.id]);
    await make.link(pages.provisioning.id, both.id, child.id);
    const { portal } = joining;
    const walk = async (query: string) => namesOn(await portal.walk(`${pages.base}${query}`, pages.owner.header, 'Next page'));
    for (const query of ['', '?status=accepted']) {
      const seen = await walk(query);
      expect([...seen].sort()).toEqual(['Ada Lovelace', ...['Both', 'Child', 'Parent', ...names].map((name) => `${name} X`)].sort());
    }
    expect(await walk('?role=tutor')).toHaveLength(44 + 1);
    expect(await walk('?role=student&status=accepted')).toHaveLength(86 + 1);
    expect((await walk('?role=parent')).sort()).toEqual(['Both X', 'Parent X']);
  });

  it('is searched by name or address, ignoring case and accents and keeping the filters', async () => {
    const make = joining.portal.make;
    await make.student(pages.provisioning.id, { user: { firstName: 'Zoë', lastName: 'Åström', email: 'zoe.astrom@example.org' } });
    for (let more = 0; more < 40; more++) await make.student(pages.provisioning.id, { user: { firstName: `Sam${more}`, lastName: 'Searched' } });
    await make.tutor(pages.provisioning.id, { user: { firstName: 'Sam', lastName: 'Searched' } });
    const listed = async (query: string) => namesOn((await pages.owner.get(`${pages.base}${query}`)).text);
    for (const search of ['zoe', 'ASTROM', 'åström zoë', 'zoe.astrom@', ' Zoë ']) {
      expect([search, await listed(`?search=${encodeURIComponent(search)}`)]).toEqual([search, ['Zoë Åström']]);
    }
    expect(await listed('?search=zoe+nobody')).toEqual([]);
    // A search without words finds nobody, and neither does a wildcard.
    for (const search of ["''", '--', '%', '_', '\\']) expect([search, await listed(`?search=${encodeURIComponent(search)}`)]).toEqual([search, []]);
    expect(await listed('?search=searched&role=tutor')).toEqual(['Sam Searched']);
    const first = (await pages.owner.get(`${pages.base}?search=searched&role=student`)).text;
    const next = /href="([^"]+)">Next page/.exec(first)![1]!.replaceAll('&amp;', '&');
    expect(next).toContain('search=searched');
    const all = [...namesOn(first), ...(await (async () => namesOn((await pages.owner.get(next)).text))())];
    expect(all).toHaveLength(40);
    expect(new Set(all).size).toBe(40);
  });
});

describe('a tutor who waits for approval', () => {
  it('is approved once by an owner and then sees the organization', async () => {
    const { id, email, visitor } = await pages.waitingTutor();
    const [{ to }] = (await sql<{ to: string }>('SELECT email AS to FROM users WHERE id = $1', pages.ownerId)) as [{ to: string }];
    expect(await joining.mail(to)).toMatchObject({ kind: 'approval_request', token: 'people?status=waiting' });
    expect((await pages.owner.get(pages.base)).text).toContain('One person is waiting for your approval');
    const answer = await pages.owner.post(`${pages.base}/members/${id}/approve`, { from: '?status=waiting' });
    expect(answer.headers.location).toBe(`${pages.base}?status=waiting`);
    expect((await pages.owner.follow(answer)).text).toContain(' was approved.');
    expect(await pages.provisioning.seen('/v1/tutors', id)).toMatchObject({ status: 'accepted', first_name: 'Waiting' });
    expect((await visitor.get('/organizations')).text).toContain('Demo Tutoring');
    const again = await pages.owner.follow(await pages.owner.post(`${pages.base}/members/${id}/decline`));
    expect(again.text).toContain('This has already been decided.');
    expect(await pages.provisioning.seen('/v1/tutors', id)).toMatchObject({ status: 'accepted' });
    expect(await pages.audited('approve_member')).toEqual([{ user_id: id, by: pages.ownerId }]);
    expect(await pages.audited('decline_member')).toEqual([]);
    expect(await joining.mail(email)).toMatchObject({ kind: 'approval_given', token: '', proof: '' });
  });

  it('cannot join by code again after being declined', async () => {
    const { id, email, visitor } = await pages.waitingTutor();
    await pages.owner.post(`${pages.base}/members/${id}/decline`);
    expect(await joining.mail(email)).toMatchObject({ kind: 'approval_declined', token: '', proof: '' });
    expect(await pages.provisioning.seen('/v1/tutors', id)).toMatchObject({ status: 'archived' });
    const again = await visitor.post(`/join/${await joining.invite(pages.provisioning, TUTOR)}`);
    expect(again.text).toContain('Your membership has ended');
    expect(await pages.audited('decline_member')).toEqual([{ user_id: id, by: pages.ownerId }]);
  });

  it('gets one decision from concurrent requests', async () => {
    const { id } = await pages.waitingTutor();
    const decide = (index: number) => pages.owner.post(`${pages.base}/members/${id}/${index % 2 ? 'approve' : 'decline'}`);
    await Promise.all(Array.from({ length: 10 }, (_, index) => decide(index)));
    expect([...(await pages.audited('approve_member')), ...(await pages.audited('decline_member'))]).toHaveLength(1);
  });
});
