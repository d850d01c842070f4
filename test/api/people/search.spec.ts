import { PeopleFixture } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
const { id: school } = await PeopleFixture.open(api, make);
const { id: other } = await make.organization();
const [key, otherKey] = [await api.key(school), await api.key(other)];

type Listed = { data: { id: string }[]; meta: { count: number; total?: number } };

async function listed(path: string, query: Record<string, string>, as = key) {
  const answer = await api.get(`/v1/${path}?${new URLSearchParams(query).toString()}`, as);
  expect([query, answer.status, answer.text]).toEqual([query, 200, answer.text]);
  const { data, meta } = answer.body as Listed;
  return { ids: data.map(({ id }) => id), total: meta.total };
}

const idsOf = async (path: string, search: string, as?: string) => (await listed(path, { search }, as)).ids;

/** The makers of one person on each list. */
const LISTS = {
  students: (user: object, more: object = {}) => make.student(school, { user, ...more }),
  tutors: (user: object, more: object = {}) => make.tutor(school, { user, ...more }),
  parents: async (user: object, more: object = {}) => make.parent(school, { user, children: [(await make.student(school)).id], ...more }),
};

describe.each(Object.entries(LISTS))('a search of %s', (path, add) => {
  it('finds each word in name or address, however it is typed, and tells how many there are', async () => {
    const { id } = await add({ firstName: 'Seán', lastName: 'O’Brien-Łęcki', email: `sean.${path}@canary.example` });
    await add({ firstName: 'Someone', lastName: 'Else' });
    for (const search of ["O'Brien", 'obrien lecki', 'SEÁN', 'lecki sean', `sean.${path}@canary`]) {
      expect([search, await listed(path, { search })]).toEqual([search, { ids: [id], total: 1 }]);
      expect(await listed(path, { search, status: 'accepted' })).toEqual({ ids: [id], total: 1 });
      expect(await listed(path, { search, status: 'archived' })).toEqual({ ids: [], total: 0 });
      expect(await idsOf(path, search, otherKey)).toEqual([]);
    }
    for (const search of ['obrien nobody', '%%aa', '__', 'sean%']) {
      const { status } = await api.get(`/v1/${path}?${new URLSearchParams({ search }).toString()}`, key);
      if (status === 200) expect([search, await idsOf(path, search)]).toEqual([search, []]);
    }
  });

  it('finds people who have not accepted by what was supplied, and never by their login', async () => {
    const hidden = { firstName: 'Secretive', lastName: 'Hidden', email: `hidden.${path}@canary.example`, phone: '0400 999 888' };
    const given = { suppliedFirstName: 'Given', suppliedLastName: `By ${path}`, suppliedEmail: `given.${path}@canary.example` };
    const { id } = await add(hidden, { status: 'pending', ...given });
    expect(await idsOf(path, `given ${path}`)).toEqual([id]);
    expect(await listed(path, { search: 'given', status: 'pending' })).toEqual({ ids: [id], total: 1 });
    for (const search of ['secretive', 'hidden', '0400 999 888', '0400']) expect([search, await idsOf(path, search)]).toEqual([search, []]);
    // Nor by an address that nobody has.
    await add({ firstName: 'Plain', lastName: 'Holder', placeholderEmail: true, email: `nobody-${path}@placeholder.invalid` });
    expect(await idsOf(path, 'placeholder')).toEqual([]);
  });

  it('has at least two letters or digits, and no log has it', async () => {
    for (const search of ['', 'a', ' a ', "''", '--', '@a']) {
      const answer = await api.get(`/v1/${path}?${new URLSearchParams({ search }).toString()}`, key);
      expect([search, answer.status, answer.body]).toMatchObject([search, 422, { detail: [{ loc: ['query', 'search'], type: 'string_too_short' }] }]);
    }
    await idsOf(path, 'canarysearched');
    expect(api.logged.join('')).not.toContain('canarysearched');
  });
});

it('an invoice is found by its number alone', async () => {
  const { id: student } = await make.student(school);
  const row = { organization_id: school, student_id: student, status: 'open', amount_due_cents: 100, currency: 'AUD' };
  const stored = await make.insert(
    'invoices',
    [
      { ...row, invoice_number: 'INV-000007' },
      { ...row, invoice_number: 'INV-000070' },
    ],
    {},
  );
  expect((await listed('invoices', { invoice_number: 'INV-000007' })).ids).toEqual([stored[0]!.id]);
  expect((await listed('invoices', { invoice_number: 'INV-000007', status: 'paid' })).ids).toEqual([]);
  expect((await listed('invoices', { invoice_number: 'inv-000007' })).ids).toEqual([]);
  expect((await listed('invoices', { invoice_number: 'INV-000007' }, otherKey)).ids).toEqual([]);
});
