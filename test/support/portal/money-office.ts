import { randomUUID } from 'node:crypto';
import { cookieOf, type TestPortal } from './portal.js';

/** The owner of an organization with a family, and their pages. */
export async function moneyOffice(portal: TestPortal) {
  const { make } = portal;
  const organization = await make.organization({ timeZone: 'Australia/Melbourne', currency: 'AUD' });
  const owner = await portal.someone('owner', { organization });
  const child = await make.student(organization.id, { user: { firstName: 'Ada', lastName: 'Byron' } });
  const sibling = await make.student(organization.id, { user: { firstName: 'Ben', lastName: 'Byron' } });
  const parent = await make.parent(organization.id, { children: [child.id, sibling.id], user: { firstName: 'Ann', lastName: 'Lee' } });
  const base = `/o/${organization.slug}/money`;
  /** A path below Money, or of another area. */
  const at = (path: string) => (path.startsWith('/o/') ? path : base + path);
  const look = async (path: string) => (await portal.get(at(path), owner.cookie).expect(200)).text;
  const post = (path: string, fields: Record<string, string> = {}) => portal.post(at(path), { form_token: randomUUID(), ...fields }, owner.cookie);
  /** Sends a form that is accepted. @returns kind and text at the top of the next page */
  const told = async (path: string, fields: Record<string, string> = {}) => {
    const answer = await post(path, fields).expect(303);
    const { text } = await portal.get(answer.headers.location!, `${owner.cookie}; ${cookieOf(answer, 'flash')}`).expect(200);
    return /<p class="flash (\w+)" role="\w+"[^>]*>([^<]*)/.exec(text)!.slice(1, 3);
  };
  /** What is wrong with a form that is refused, by the ids of its fields. */
  const refused = async (path: string, fields: Record<string, string> = {}) => {
    const { text } = await post(path, fields).expect(422);
    expect(text).toContain('<title>Error: ');
    return Object.fromEntries<string>([...text.matchAll(/<p class="error" id="([\w-]+)-error">([^<]+)/g)].map(([, at, what]) => [at!, what!]));
  };
  const draft = (studentId = child.id, more = {}) =>
    make.invoice(organization.id, studentId, { status: 'draft', invoiceNumber: null, amountDueCents: 0, ...more });
  /** An issued invoice. */
  const issued = async (unit: string, dueDate = '2199-01-31', studentId = child.id) => {
    const { id } = await draft(studentId);
    await post(`/invoices/${id}/add-line`, { description: 'Lesson', quantity: '1', unit }).expect(303);
    await post(`/invoices/${id}/finalize`, { due_date: dueDate }).expect(303);
    return id;
  };
  const invoice = (id: string) => make.find('invoices', id);
  const payments = () => make.query<{ id: string; amount: number; credit: number; status: string }>(
    `SELECT id, amount_cents::int AS amount, credit_cents::int AS credit, status FROM payments WHERE organization_id = $1 ORDER BY created_at, id`,
    [organization.id],
  ); // prettier-ignore
  return { organization, owner, child, sibling, parent, base, look, post, told, refused, draft, issued, invoice, payments };
}

/** Name and amount of each figure at the top of a page. */
export const figures = (html: string): Record<string, string> =>
  Object.fromEntries<string>(
    [...html.matchAll(/<dt>([^<]+)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name, text]) => [name!, text!.replaceAll(/<[^>]+>/g, '')]),
  );
