import { newAddress } from '../../support/data/provisioning.js';
import { axeFaults, faultsOf, TestBrowser } from '../../support/portal/browser.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';
import { fixture } from '../../support/process/fixture.js';

const joining = await JoinFixture.shared();
const browser = await fixture(TestBrowser.start());

const ADMIN = { scope: 'organization', role: 'admin' };

/** A code for a parent, of an organization that says how to reach it. */
async function parentsCode() {
  const pages = await PeoplePages.open(joining);
  await pages.owner.post(pages.base.replace('/people', '/settings'), {
    app_url: 'https://app.example.org/',
    postal_address: '12 High Street, Carlton VIC 3053',
    phone: '+61 3 9000 0000',
    privacy_url: 'https://example.org/privacy',
  });
  const child = await joining.portal.make.student(pages.provisioning.id, { user: { firstName: 'Tim' } });
  return { pages, code: await joining.invite(pages.provisioning, { scope: 'parent', student_id: child.id }) };
}

it('a parent reads what they would agree to, and declines, at 390 px without JavaScript', async () => {
  const { code } = await parentsCode();
  const page = await browser.visit(joining.portal, { javaScript: false, width: 390 });
  await page.goto('/join');
  await page.getByLabel('Code or link').fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('invites you to join as a parent of Tim').waitFor();
  const consent = page.locator('.consent li').first();
  // Body text, before the button.
  const size = (selector: string) => page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).fontSize`);
  expect(await size('.consent li')).toBe(await size('body'));
  const accept = await page.getByRole('button', { name: 'Accept and join' }).boundingBox();
  expect((await consent.boundingBox())!.y).toBeLessThan(accept!.y);
  // Declining asks once more.
  expect(await page.getByRole('button', { name: 'This is not my child' }).isVisible()).toBe(false);
  await page.getByText('Decline …').click();
  await page.getByRole('button', { name: 'This is not my child' }).click();
  await page.waitForURL('**/join/declined');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Invitation declined');
  await page.goto(`/join/${code}`);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Enter your code');
});

it('the pages have no faults', async () => {
  const { pages, code } = await parentsCode();
  const cookie = pages.owner.header;
  const page = await browser.visit(joining.portal, { cookie });
  const slug = pages.base.split('/')[2]!;
  const faults: Record<string, string[]> = {};
  const look = async (name: string) => (faults[name] = await faultsOf(page, `consent ${name}`));
  for (const path of [`o/${slug}/settings`, `o/${slug}/people/invite`]) {
    await page.goto(`/${path}`);
    await look(path.split('/').at(-1)!);
  }
  await page.getByRole('button', { name: 'Invite' }).click();
  await look('invite, refused');
  await page.getByLabel('First name', { exact: true }).fill('Mia');
  await page.getByLabel('Last name', { exact: true }).fill('Nguyen');
  await page.getByLabel('Email address', { exact: true }).fill(newAddress());
  await page.getByRole('button', { name: 'Invite' }).click();
  await look('invited');
  const stranger = await browser.visit(joining.portal);
  const email = newAddress();
  const unproven = await joining.invite(pages.provisioning, { ...ADMIN, email });
  const person = await joining.person();
  await pages.provisioning.inviteOne({ type: 'tutor', first_name: 'A', last_name: 'B', email: person.email });
  for (const path of [`/join/${code}`, `/join/${unproven}`]) {
    await stranger.goto(path);
    faults[path] = await faultsOf(stranger, `consent ${path === `/join/${code}` ? 'parent' : 'unproven'}`);
    await stranger.getByText('Decline …').click();
    await stranger.getByRole('button', { name: 'Decline the invitation' }).click();
    await stranger.waitForURL('**/join/declined');
    faults[`${path} declined`] = await axeFaults(stranger);
  }
  await stranger.goto(`/join/${unproven}`);
  faults.declined = await faultsOf(stranger, 'consent declined');
  const offered = await browser.visit(joining.portal, { cookie: await joining.portal.session(person.id) });
  await offered.goto('/');
  faults.offer = await faultsOf(offered, 'consent offer');
  expect(Object.values(faults).flat()).toEqual([]);
});
