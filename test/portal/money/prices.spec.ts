import { randomUUID } from 'node:crypto';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await fixture(TestPortal.start());
const { make } = portal;

/** What the table's form holds, with what somebody types. */
async function typed(owner: Someone, fields: Record<string, string> = {}): Promise<Record<string, string>> {
  const { text } = await portal.get(`/o/${owner.organization.slug}/settings/prices`, owner.cookie);
  const inputs = [...text.matchAll(/<input[^>]* name="([^"]+)"[^>]* value="([^"]*)"/g)].filter(([tag]) => !tag.includes('checkbox'));
  return { ...Object.fromEntries(inputs.map(([, name, value]) => [name!, value!])), form_token: randomUUID(), ...fields };
}

const save = async (owner: Someone, fields: Record<string, string>) =>
  portal.post(`/o/${owner.organization.slug}/settings/prices`, await typed(owner, fields), owner.cookie);

const cells = (owner: Someone) =>
  make.query(
    `SELECT id, session_kind, student_rate_cents::int AS price, inperson_surcharge_cents::int AS surcharge, tutor_pay_pct::float AS pct,
       tutor_flat_rate_cents::int AS flat FROM rate_cells WHERE organization_id = $1 ORDER BY created_at, student_rate_cents`,
    [owner.organization.id],
  );

const settings = (owner: Someone, page: string, fields: Record<string, string>) =>
  portal.post(`/o/${owner.organization.slug}/settings/${page}`, { form_token: randomUUID(), ...fields }, owner.cookie);

describe('the table of prices', () => {
  it('is filled in, changed and emptied, each with one save, and says what it did in the audit log', async () => {
    const owner = await portal.someone('owner');
    await save(owner, {
      ...{ 'price-new-1': '80', 'surcharge-new-1': '10,50', 'pay-new-1': '60%' },
      ...{ 'kind-new-3': 'group', 'price-new-3': '45.00', 'pay-new-3': '30' },
    }).then(({ status, text }) => expect([status, text]).toEqual([303, '']));
    const [group, all] = await cells(owner);
    expect([group, all]).toEqual([
      { id: expect.any(String) as string, session_kind: 'group', price: 4_500, surcharge: null, pct: null, flat: 3_000 },
      { id: expect.any(String) as string, session_kind: null, price: 8_000, surcharge: 1_050, pct: 60, flat: null },
    ]);
    await save(owner, { [`price-${String(all!.id)}`]: '85.00', [`remove-${String(group!.id)}`]: 'yes' });
    expect(await cells(owner)).toEqual([{ ...all, price: 8_500 }]);
    const audit = await make.query<{ details: object }>(
      `SELECT details FROM audit_log WHERE organization_id = $1 AND operation = 'PUT /v1/rate-cells' ORDER BY created_at, id`,
      [owner.organization.id],
    );
    expect(audit.map(({ details }) => details)).toEqual([
      { created: 2, changed: 0, deleted: 0 },
      { created: 0, changed: 1, deleted: 1 },
    ]);
  });

  it.each([
    ['price-new-1', 'eighty', 'Enter an amount such as 80.00.'],
    ['pay-new-1', '60 percent', 'Enter an amount such as 45.00, or a part such as 60%.'],
    ['pay-new-1', '101%', 'Enter an amount such as 45.00, or a part such as 60%.'],
    ['price-new-1', '99999999999.99', 'Enter an amount such as 80.00.'],
    ['surcharge-new-2', '-5', 'Enter an amount such as 80.00.'],
  ])('says at %s what is wrong with "%s", keeps what was typed, and saves nothing', async (name, value, reason) => {
    const owner = await portal.someone('owner');
    const { status, text } = await save(owner, { 'price-new-1': '70.00', 'price-new-2': '50.00', 'kind-new-2': 'group', [name]: value });
    expect(status).toBe(422);
    expect(text).toMatch(new RegExp(`name="${name}" value="${value}"[^>]*aria-invalid="true" aria-describedby="${name}-error"`));
    expect(text).toContain(`id="${name}-error">${reason}`);
    expect(await cells(owner)).toEqual([]);
  });

  it('refuses a second price for the same, and one for nothing', async () => {
    const owner = await portal.someone('owner');
    const { text } = await save(owner, { 'price-new-1': '70', 'price-new-2': '80' });
    expect(text).toContain('Another line has a price for the same.');
    expect((await save(owner, { 'kind-new-1': 'group' })).text).toContain('id="price-new-1-error"');
    expect(await cells(owner)).toEqual([]);
  });

  it.each([
    ['level-new-1', 'abc', 400],
    ['tier-new-1', 'abc', 400],
    ['kind-new-1', 'abc', 400],
    ['level-new-1', randomUUID(), 404],
    ['tier-new-1', randomUUID(), 404],
    ['subject-new-1', 'abc', 404],
  ])('refuses %s that is "%s", which no page offers', async (name, value, status) => {
    const owner = await portal.someone('owner');
    expect((await save(owner, { 'price-new-1': '80', [name]: value })).status).toBe(status);
    expect(await cells(owner)).toEqual([]);
  });

  it('is not saved over what somebody else has saved meanwhile', async () => {
    const owner = await portal.someone('owner');
    const late = await typed(owner, { 'price-new-1': '60' });
    await save(owner, { 'price-new-1': '80' });
    const { status, text } = await portal.post(`/o/${owner.organization.slug}/settings/prices`, late, owner.cookie);
    expect(status).toBe(422);
    expect(text).toContain('Somebody else has changed these prices meanwhile.');
    expect(await cells(owner)).toMatchObject([{ price: 8_000 }]);
  });

  it('shows forty prices at a time, of which each can be changed', async () => {
    const owner = await portal.someone('owner');
    const subjects = await make.rows('subjects', Array.from({ length: 41 }, (_, n) => ({ organizationId: owner.organization.id, name: `S${100 + n}`, code: `s${n}` }))); // prettier-ignore
    await make.rows('rate_cells', subjects.map(({ id }) => ({ organizationId: owner.organization.id, subjectId: id, studentRateCents: 5_000 }))); // prettier-ignore
    const path = `/o/${owner.organization.slug}/settings/prices`;
    const first = await portal.get(path, owner.cookie);
    expect(first.text.match(/name="remove-/g)).toHaveLength(40);
    const second = await portal.get(`${path}?page=2`, owner.cookie);
    expect(second.text.match(/name="remove-/g)).toHaveLength(1);
    expect(second.text).toContain('S140');
    expect((await save(owner, Object.fromEntries([...first.text.matchAll(/name="(price-[0-9a-f-]{36})"/g)].map(([, name]) => [name!, '51'])))).status).toBe(303); // prettier-ignore
    expect((await cells(owner)).map(({ price }) => price)).toEqual([5_000, ...Array<number>(40).fill(5_100)]);
  });
});

describe('lessons ahead', () => {
  /** An owner whose organization has one lesson ahead, at 80.00, and a table that would say 90.00. */
  async function planned() {
    const owner = await portal.someone('owner');
    const at = owner.organization.id;
    const [tutor, student] = [await make.tutor(at), await make.student(at)];
    await save(owner, { 'price-new-1': '80' });
    const startsAt = new Date(Date.now() + 86_400_000);
    const { id } = await make.session(at, { tutorId: tutor.id, status: 'scheduled', startsAt, endsAt: new Date(startsAt.getTime() + 3_600_000) });
    await make.participant(at, id, student.id, { status: 'accepted', rateCents: 8_000, rateGiven: false });
    const [cell] = await cells(owner);
    const rate = async () =>
      (await make.query<{ rate: number }>('SELECT rate_cents::int AS rate FROM lesson_participants WHERE session_id = $1', [id]))[0]!.rate;
    return { owner, fields: { [`price-${String(cell!.id)}`]: '90.00' }, rate };
  }

  it.each([
    ['keep', 8_000],
    ['anew', 9_000],
  ])('are asked about before anything is saved, and then: %s', async (ahead, cents) => {
    const { owner, fields, rate } = await planned();
    const asked = await save(owner, fields);
    expect(asked.status).toBe(200);
    expect(asked.text).toContain('1 upcoming lesson has other prices or pay than the table would say.');
    expect(await cells(owner)).toMatchObject([{ price: 8_000 }]);
    const kept = Object.fromEntries([...asked.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!])); // prettier-ignore
    const path = `/o/${owner.organization.slug}/settings/prices`;
    expect((await portal.post(path, { ...kept, ahead }, owner.cookie)).status).toBe(303);
    expect(await cells(owner)).toMatchObject([{ price: 9_000 }]);
    expect(await rate()).toBe(cents);
    // The browser's second click.
    expect((await portal.post(path, { ...kept, ahead }, owner.cookie)).status).toBe(303);
  });
});

describe('what prices are told apart by', () => {
  it.each([
    ['subjects', 'name', ''],
    ['levels', 'name', 'x'.repeat(201)],
    ['tiers', 'name', '\u2003'],
    ['levels', 'sort_order', 'first'],
    ['tiers', 'sort_order', '1000001'],
  ])('is refused: %s with %s "%s"', async (page, field, value) => {
    const owner = await portal.someone('owner');
    expect((await settings(owner, page, { name: 'Senior' })).status).toBe(303);
    const { text } = await portal.get(`/o/${owner.organization.slug}/settings/${page}`, owner.cookie);
    const [, id] = new RegExp(`settings/${page}/([0-9a-f-]{36})"`).exec(text)!;
    const changed = await settings(owner, `${page}/${id}`, { name: 'Junior', [field]: value });
    expect([changed.status, changed.text.includes(`id="field-${field}-error"`)]).toEqual([422, true]);
    if (field === 'name') expect((await settings(owner, page, { name: value })).status).toBe(422);
  });

  it('is a thousand subjects at most', async () => {
    const owner = await portal.someone('owner');
    await make.rows('subjects', Array.from({ length: 1_000 }, (_, n) => ({ organizationId: owner.organization.id, name: `S${n}`, code: `s${n}` }))); // prettier-ignore
    const { status, text } = await settings(owner, 'subjects', { name: 'One more' });
    expect([status, text.includes('An organization has at most 1,000 of these.'), text.includes('is in use')]).toEqual([422, true, false]);
  });
});

describe.each([
  ['subjects', 'subjects', { is_archived: 'yes', tax: 'free' }, { is_archived: true, tax: 'free' }],
  ['levels', 'rate_bands', { sort_order: '3' }, { sort_order: 3 }],
  ['tiers', 'tutor_tiers', { sort_order: '-2' }, { sort_order: -2 }],
])('%s', (page, table, more, stored) => {
  it('are added, listed, changed and deleted, but not while they are used', async () => {
    const owner = await portal.someone('owner');
    const rows = () => make.query(`SELECT * FROM ${table} WHERE organization_id = $1`, [owner.organization.id]);
    expect((await settings(owner, page, { name: 'Ünder 12' })).status).toBe(303);
    const [{ id }] = (await rows()) as [{ id: string }];
    expect((await portal.get(`/o/${owner.organization.slug}/settings/${page}`, owner.cookie)).text).toContain('Ünder 12');
    const again = await settings(owner, page, { name: ' ünder 12' });
    expect([again.status, /id="field-name-error">[^<]*has this name/.test(again.text)]).toEqual([422, true]);
    expect((await settings(owner, `${page}/${id}`, { name: 'Over 12', ...more })).status).toBe(303);
    expect(await rows()).toMatchObject([{ name: 'Over 12', ...stored }]);
    const column = { subjects: 'subject_id', rate_bands: 'band_id', tutor_tiers: 'tutor_tier_id' }[table]!;
    await make.query(`INSERT INTO rate_cells (id, organization_id, ${column}) VALUES ($1, $2, $3)`, [randomUUID(), owner.organization.id, id]);
    const refused = await settings(owner, `${page}/${id}/delete`, {});
    expect([refused.status, refused.text.includes('is in use.')]).toEqual([422, true]);
    await make.query('DELETE FROM rate_cells WHERE organization_id = $1', [owner.organization.id]);
    expect((await settings(owner, `${page}/${id}/delete`, {})).status).toBe(303);
    expect(await rows()).toEqual([]);
  });
});
