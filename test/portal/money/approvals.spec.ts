import { CLAIM } from '@app/database';
import type { Someone } from '../../support/portal/portal.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

/** The owner of an organization with a tutor, and their page. */
async function office() {
  const organization = await make.organization({ timeZone: 'Australia/Melbourne', currency: 'AUD' });
  const owner = await portal.someone('owner', { organization });
  const tutor = await make.tutor(organization.id, { user: { firstName: 'Ann', lastName: 'Lee' } });
  const base = `/o/${organization.slug}/money/approvals`;
  const look = async (query = '') => (await portal.get(`${base}${query}`, owner.cookie).expect(200)).text;
  const decide = (path: string, fields: Record<string, string> = {}) => portal.post(`${base}/${path}`, fields, owner.cookie);
  /** What the next page says at its top. */
  const told = async (path: string, fields: Record<string, string> = {}) => {
    const { headers } = await decide(path, fields).expect(303);
    const flash = (headers['set-cookie'] as unknown as string[]).find((cookie) => cookie.includes('flash'))!;
    const { text } = await portal.get(headers.location!, `${owner.cookie}; ${flash.split(';')[0]}`);
    return /<p class="flash (\w+)" role="\w+"[^>]*>([^<]*)/.exec(text)!.slice(1, 3);
  };
  const trip = (more = {}) => make.mileage(organization.id, tutor.id, { destination: 'Brunswick', amountCents: 1100, ...more });
  const expense = (more = {}) => make.expense(organization.id, tutor.id, { category: 'parking', vendor: 'City parking', amountCents: 1250, ...more });
  return { organization, owner, tutor, base, look, decide, told, trip, expense };
}

const auditOf = ({ organization }: Pick<Someone, 'organization'>) => portal.audited(organization.id);
const headings = (html: string) =>
  [...html.matchAll(/<li>\s*<div>\s*<strong>([^<]+)<\/strong> <span class="chip[^"]*">([^<]+)/g)].map(([, ...found]) => found.join(': '));

describe('Approvals', () => {
  it('shows who claims what, the amount and the receipt', async () => {
    const { look, trip, expense, tutor, organization } = await office();
    expect(await look()).toContain('Nothing waits for you');
    await trip({ tripDate: '2026-04-30', distanceKm: 12.53 });
    await expense({ expenseDate: '2026-05-01', receiptPhotoUrl: 'https://example.org/r.jpg?a=1&b=2', createdAt: new Date() });
    const html = await look();
    expect(headings(html)).toEqual(['Parking, City parking: Waiting', 'Trip to Brunswick, 12.5 km: Waiting']);
    for (const text of ['$12.50', '$11.00', '1 May 2026', '30 Apr 2026', `href="/o/${organization.slug}/people/${tutor.id}">Ann Lee`])
      expect(html).toContain(text);
    expect(html).toContain('href="https://example.org/r.jpg?a=1&amp;b=2" rel="noopener noreferrer"');
    const { id: uploadId } = (await make.row('uploads', { organizationId: organization.id })) as { id: string };
    const receipt = await make.row('files', { organizationId: organization.id, scope: 'org', title: 'Receipt', resourceType: 'file', uploadId });
    await expense({ receiptFileId: receipt.id });
    expect(await look()).toContain(`href="/o/${organization.slug}/files/${receipt.id}" rel="noopener noreferrer"`);
  });

  it('links no receipt whose address could run a script, and shows a claim without details', async () => {
    const { look, trip, expense } = await office();
    for (const receiptPhotoUrl of ['javascript:alert(1)', ' https://x.example/', 'data:text/html,x', '//x.example'])
      await expense({ receiptPhotoUrl });
    await trip({ destination: null, amountCents: null });
    await expense({ category: null, vendor: null });
    const html = await look();
    expect(html).not.toContain('Receipt');
    expect(headings(html)).toEqual(expect.arrayContaining(['Trip, 12.5 km: Waiting', 'Expense: Waiting']));
    expect(html).toContain('No amount');
  });

  it('lists the claims of each state, and those that wait unless asked', async () => {
    const { look, trip, expense } = await office();
    for (const status of CLAIM.values) {
      await trip({ status, destination: status });
      await expense({ status, vendor: status });
    }
    const shown = async (query: string) => headings(await look(query)).map((line) => /Trip to (\w+)|, (\w+)/.exec(line)!.slice(1, 3).find(Boolean)).sort(); // prettier-ignore
    for (const state of CLAIM.values) expect(await shown(`?state=${state}`)).toEqual([state, state]);
    expect(await shown('')).toEqual(['logged', 'logged']);
    expect(await shown('?state=nonsense&after=x')).toEqual(['logged', 'logged']);
    expect(await shown('?state=all')).toEqual(CLAIM.values.flatMap((state) => [state, state]).sort());
  });

  it('pages both kinds together, without repeating or hiding any', async () => {
    const { base, owner, trip, expense } = await office();
    for (let n = 0; n < 40; n++) {
      // Three share each millisecond.
      const createdAt = new Date(Date.UTC(2026, 4, 1) + Math.floor(n / 3));
      await (n % 2 ? trip({ createdAt, destination: `place${n}` }) : expense({ createdAt, vendor: `place${n}` }));
    }
    const text = await portal.walk(base, owner.cookie, 'Next page<', () => trip({ destination: 'later' }));
    const seen = headings(text).map((line) => /place\d+/.exec(line)![0]);
    expect(new Set(seen).size).toBe(40);
    expect(seen).toHaveLength(40);
  });

  it('approves a part of an expense, and reimburses it', async () => {
    const room = await office();
    const { id } = await room.expense();
    const stored = () => make.find('expense_claims', id);
    expect(await room.told(`expenses/${id}/approve`, { amount: '12.51' })).toEqual(['problem', 'Must not be more than what was claimed.']);
    for (const amount of ['x', '-1', '1.234', '1e3', '1,000.00']) {
      expect([amount, await room.told(`expenses/${id}/approve`, { amount })]).toEqual([amount, ['problem', 'Enter an amount such as 12.50.']]);
    }
    expect((await stored()).status).toBe('logged');
    expect(await room.told(`expenses/${id}/approve`, { amount: '10,5' })).toEqual(['success', 'The claim was approved.']);
    expect(await stored()).toMatchObject({ status: 'approved', approvedAmountCents: 1050 });
    expect(await room.look('?state=approved')).toContain('$10.50 of $12.50');
    expect(await room.told(`expenses/${id}/approve`)).toEqual(['success', 'That was done before.']);
    expect((await room.told(`expenses/${id}/reject`))[0]).toBe('notice');
    await room.decide(`expenses/${id}/reimburse`).expect(303);
    expect(await stored()).toMatchObject({ status: 'reimbursed', approvedAmountCents: 1050 });
    const by = room.owner.user.id;
    expect(await auditOf(room)).toEqual([
      { operation: 'POST /v1/expenses/:claim_id/approve', by, details: { claim_id: id } },
      { operation: 'POST /v1/expenses/:claim_id/reimburse', by, details: { claim_id: id } },
    ]);
  });

  it('approves all of an expense unless told otherwise, decides trips, and goes back to the same list', async () => {
    const room = await office();
    const [whole, none, first, second] = [await room.expense(), await room.expense(), await room.trip(), await room.trip()];
    await room.decide(`expenses/${whole.id}/approve`, { amount: '' });
    expect(await make.find('expense_claims', whole.id)).toMatchObject({ status: 'approved', approvedAmountCents: 1250 });
    await room.decide(`expenses/${none.id}/reject`);
    expect((await make.find('expense_claims', none.id)).status).toBe('rejected');
    const { headers } = await room.decide(`mileage/${first.id}/approve`, { from: '?state=all&x=1' });
    expect(headers.location).toBe(`${room.base}?state=all`);
    await room.decide(`mileage/${first.id}/reimburse`);
    await room.decide(`mileage/${second.id}/reject`);
    expect([(await make.find('mileage_trips', first.id)).status, (await make.find('mileage_trips', second.id)).status]).toEqual([
      'reimbursed',
      'rejected',
    ]);
    await room.decide(`mileage/${first.id}/delete`).expect(404);
  });

  it('is for owners and admins alone', async () => {
    const { organization, base, trip } = await office();
    const { id } = await trip();
    const tutor = await portal.someone('tutor', { organization });
    const admin = await portal.someone('admin', { organization });
    for (const path of [base, `${base}/download`]) expect((await portal.get(path, tutor.cookie)).status).toBe(403);
    expect((await portal.post(`${base}/mileage/${id}/approve`, {}, tutor.cookie)).status).toBe(403);
    expect((await make.find('mileage_trips', id)).status).toBe('logged');
    expect((await portal.post(`${base}/mileage/${id}/approve`, {}, admin.cookie)).status).toBe(303);
  });
});
