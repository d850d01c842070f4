import { axeFaults, TestBrowser } from '../../support/portal/browser.js';
import { moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await TestPortal.shared();
const browser = await fixture(TestBrowser.start());
const { make } = portal;

it.each([
  { width: 1440, colorScheme: 'dark', javaScript: true },
  { width: 390, colorScheme: 'light', javaScript: false },
] as const)('an owner drafts and issues an invoice, and completes a lesson, at $width px, with JavaScript: $javaScript', async (look) => {
  const { organization, owner, base, child } = await moneyOffice(portal);
  const tutor = await make.tutor(organization.id);
  const startsAt = new Date(Date.now() - 7_200_000);
  const times = { startsAt, endsAt: new Date(startsAt.getTime() + 3_600_000), durationMinutes: 60 };
  const session = await make.session(organization.id, { ...times, tutorId: tutor.id, status: 'scheduled', title: 'Algebra' });
  await make.participant(organization.id, session.id, child.id, { status: 'accepted', rateCents: 8_000, attendance: null, surchargeCents: null });
  const page = await browser.visit(portal, { cookie: owner.cookie, ...look });
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click();
  const arrive = async (heading: string, says: string) => {
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await page.locator('main').getByText(says).first().waitFor();
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect([heading, beyond, look.javaScript ? await axeFaults(page) : []]).toEqual([heading, 0, []]);
  };
  await page.goto(base);
  await page.getByRole('link', { name: 'Draft an invoice' }).first().click();
  await page.getByLabel('Name or address').fill('ada byr');
  await press('Find');
  await page.getByRole('link', { name: 'Ada Byron' }).click();
  await page.getByLabel('Description').first().fill('Exam course');
  await page.getByLabel('Unit price (AUD)').first().fill('12,5x');
  await press('Create draft');
  expect(await page.title()).toMatch(/^Error: /);
  await arrive('Draft an invoice for Ada Byron', 'There is a problem');
  await page.getByLabel('Unit price (AUD)').first().fill('12.50');
  await press('Create draft');
  await arrive('Draft', 'The draft was created.');
  await page.getByLabel('Description').fill('Book');
  await page.getByLabel('Unit price (AUD)').fill('7.50');
  await press('Add the line');
  await arrive('Draft', '$20.00');
  await press(/^Remove.*Book/);
  await press('Issue the invoice');
  await arrive('INV-000001', 'The invoice was issued.');
  await page.goto(`/o/${organization.slug}/lessons?state=due`);
  await page.getByRole('link', { name: /^Complete Algebra/ }).click();
  await page.getByLabel('Ada Byron').selectOption('Did not come, and is billed');
  await press('Complete the lesson');
  await arrive('Lessons to mark as done', 'The lesson was completed.');
  await page.getByLabel('Show').selectOption('Completed');
  await press('Show');
  await page.getByRole('link', { name: 'Algebra' }).click();
  await arrive('Algebra', '$80.00');
  await page.locator('summary').click();
  await press('Reopen Algebra');
  await arrive('Algebra', 'The lesson was reopened.');
  await page.context().close();
});
