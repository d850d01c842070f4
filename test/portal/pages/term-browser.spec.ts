import type { Page } from 'playwright-core';
import { addDays, dayOf, dayOfWeek } from '@app/scheduling';
import { axeFaults, TestBrowser } from '../../support/portal/browser.js';
import { lessonOffice } from '../../support/portal/lesson-office.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

/** How often somebody clicks from an empty organization to its first pay run, at most. */
const MOST_CLICKS = 90;
const ZONE = 'Australia/Melbourne';

const portal = await fixture(TestPortal.start({ SMTP_URL: 'smtp://127.0.0.1:1' }));
const browser = await fixture(TestBrowser.start());

it.each([
  { width: 1440, colorScheme: 'light', javaScript: true },
  { width: 390, colorScheme: 'dark', javaScript: false },
] as const)('an empty organization comes to its first pay run in the portal alone, at $width px, with JavaScript: $javaScript', async (look) => {
  const organization = await portal.make.organization({ timeZone: ZONE, currency: 'AUD' });
  const owner = await portal.someone('owner', { organization });
  const page: Page = await browser.visit(portal, { cookie: owner.cookie, ...look });
  const main = page.locator('main');
  let clicks = 0;
  const click = async (what: { click: () => Promise<void> }) => {
    clicks++;
    await what.click();
  };
  const press = (name: string | RegExp) => click(main.getByRole('button', { name }).first());
  const follow = (name: string | RegExp) => click(main.getByRole('link', { name }).first());
  const open = async (area: string, tab?: string) => {
    if (look.width < 600) await click(page.getByRole('button', { name: /^Menu/ }));
    await click(page.getByRole('navigation', { name: organization.name }).getByRole('link', { name: area, exact: true }));
    if (tab) await click(page.getByRole('navigation', { name: area }).getByRole('link', { name: tab, exact: true }));
  };
  const fill = async (fields: Record<string, string>) => {
    for (const [label, text] of Object.entries(fields)) await main.getByLabel(label, { exact: true }).first().fill(text);
  };
  const arrive = async (heading: string | RegExp, says: string | RegExp = '') => {
    await page.getByRole('heading', { level: 1, name: heading }).first().waitFor();
    if (says) await main.getByText(says).first().waitFor();
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect([heading, beyond, look.javaScript ? await axeFaults(page) : []]).toEqual([heading, 0, []]);
  };
  const address = (name: string) => `${name}.${look.width}@example.org`;
  const today = dayOf(new Date(), ZONE);
  /** A Monday in the past: two lessons of the term have been held. */
  const monday = addDays(today, -7 - ((dayOfWeek(today) + 6) % 7));

  // Prices.
  await page.goto('/');
  await arrive(organization.name, 'First steps');
  await follow(/price/i);
  await arrive('Prices');
  await fill({ 'Price of an hour in AUD: new price 1': '80', 'Tutor gets: new price 1': '60%' });
  await press('Save the prices');
  await arrive('Prices', /saved/);

  // A tutor with hours.
  await open('People', 'Tutors');
  await follow(/^Invite/);
  await arrive('Invite somebody');
  await click(main.getByLabel(/^Tutor/));
  await fill({ 'First name': 'Sam', 'Last name': 'Okafor', 'Email address': address('sam') });
  await press('Invite');
  await arrive('Person added');
  await follow('Open their page');
  await arrive('Sam Okafor');
  await follow(/Hours/);
  for (const day of ['Monday', 'Tuesday', 'Wednesday']) await click(main.getByLabel(day, { exact: true }));
  await fill({ From: '09:00', To: '18:00' });
  await press('Save hours');
  await arrive('Hours of Sam Okafor', /saved/);

  // A student with a parent.
  await open('People', 'Students');
  await follow(/^Invite/);
  await fill({
    'First name': 'Mia',
    'Last name': 'Nguyen',
    'Parent’s first name': 'Linh',
    'Parent’s last name': 'Nguyen',
    'Parent’s email address': address('linh'),
  });
  await press('Invite');
  await arrive('Person added');
  await follow('Open their page');
  await arrive('Mia Nguyen', 'Linh Nguyen');

  // A term of lessons.
  await follow(/^Book/);
  await arrive(/^Book a lesson/);
  await follow('Sam Okafor');
  await fill({ Day: monday, 'Begins at': '10:00', Until: addDays(monday, 70) });
  await main.getByLabel('Repeats').selectOption('Every week');
  await press('Continue');
  await arrive('Book 11 lessons?', '$80.00');
  await press(/^Book/);
  await arrive(/Lesson/);

  // One is completed, one moved, one canceled with a charge.
  await open('Lessons');
  await main.getByLabel('Show').selectOption('To mark as done');
  await press('Show');
  await follow(/^Complete/);
  await press('Complete the lesson');
  await arrive('Lessons to mark as done', 'The lesson was completed.');
  await page.goto(`/o/${organization.slug}/lessons?from=${addDays(monday, 14)}`);
  await click(main.getByRole('table').getByRole('link').first());
  await click(main.locator('summary', { hasText: 'Move' }));
  await fill({ Day: addDays(monday, 15), 'Begins at': '11:00' });
  await press(/^Save the lesson/);
  await arrive('Lesson', /moved|saved/);
  await open('Lessons');
  await page.goto(`/o/${organization.slug}/lessons?from=${addDays(monday, 21)}`);
  await click(main.getByRole('table').getByRole('link').first());
  await click(main.locator('summary', { hasText: 'Cancel' }));
  await click(main.getByLabel(/^Half/));
  await press('Cancel the lesson');
  await arrive('Lesson', /cancel/);

  // Drafts are issued and mailed, and paid.
  await open('Money', 'Drafts');
  await follow(/^Issue all/);
  await click(main.getByLabel(/^Email each invoice/));
  await press(/^Issue 1 invoice, \$120\.00/);
  await arrive('1 invoice issued, $120.00', 'INV-000001');
  await follow(/INV-000001/);
  await arrive('INV-000001', '$120.00');
  const mails = await portal.make.query<{ kind: string; recipient: string }>('SELECT kind, recipient FROM outbox WHERE organization_id = $1', [
    organization.id,
  ]);
  expect(mails).toContainEqual({ kind: 'invoice', recipient: address('linh') });
  await press(/^Record/);
  await arrive('INV-000001', /recorded/);

  // The tutor is paid.
  await open('Money', 'Pay run');
  await arrive('Pay run', 'Sam Okafor');
  await press(/^Continue|^Record|^Pay/);
  await press(/^Record/);
  await arrive('1 payout recorded, $48.00', 'Sam Okafor');
  const payouts = await portal.make.query('SELECT amount_cents::int AS cents FROM payouts WHERE organization_id = $1', [organization.id]);
  expect(payouts).toEqual([{ cents: 4_800 }]);
  expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  console.log(`${clicks} clicks at ${look.width} px`);
  await page.context().close();
});

it.each([true, false])('a tutor completes a lesson from the phone in four taps, with JavaScript: %s', async (javaScript) => {
  const { lesson, tutor, organization, at, stored } = await lessonOffice(portal);
  await portal.make.query(`UPDATE members SET status = 'accepted' WHERE organization_id = $1`, [at]);
  const startsAt = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 7_200_000);
  const id = await lesson(0, '10:00', { startsAt, endsAt: new Date(startsAt.getTime() + 3_600_000) });
  const page = await browser.visit(portal, { cookie: await portal.session(tutor.id), width: 390, javaScript });
  await page.goto('/');
  await page.getByRole('heading', { level: 1, name: 'My week' }).waitFor();
  await page.getByRole('link', { name: 'Algebra' }).first().click();
  await page.getByLabel('Ada Byron').selectOption('Did not come');
  await page.getByRole('button', { name: 'Complete the lesson' }).click();
  await page.getByText('The lesson was completed.').waitFor();
  expect(await stored(id)).toMatchObject({ status: 'completed' });
  expect([new URL(page.url()).pathname, javaScript ? await axeFaults(page) : []]).toEqual([`/my/${organization.slug}/lessons/${id}`, []]);
  await page.context().close();
});

it.each([true, false])(
  'a parent reads the next lesson from the link of its mail, and an invoice two taps later, with JavaScript: %s',
  async (javaScript) => {
    const { lesson, parent, child, organization, at, issued } = await lessonOffice(portal);
    await portal.make.query(`UPDATE parents SET status = 'accepted' WHERE organization_id = $1`, [at]);
    await portal.make.query(`UPDATE parent_students SET pays = true WHERE organization_id = $1 AND student_id = $2`, [at, child.id]);
    const id = await lesson(0, '10:00');
    await issued('80');
    const page = await browser.visit(portal, { cookie: await portal.session(parent.id), width: 390, javaScript });
    await page.goto(`/my/${organization.slug}/lessons/${id}`);
    await page.getByText('Sam O.').waitFor();
    await page.getByRole('button', { name: /^Menu/ }).click();
    await page.getByRole('link', { name: 'Money', exact: true }).click();
    await page.getByText('INV-000001', { exact: true }).waitFor();
    const pdf = page.getByRole('link', { name: /^PDF/ }).first();
    expect([await pdf.count(), javaScript ? await axeFaults(page) : []]).toEqual([1, []]);
    await page.context().close();
  },
);
