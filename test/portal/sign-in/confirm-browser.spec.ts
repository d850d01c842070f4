import type { Page } from 'playwright-core';
import { addAuthenticator, faultsOf, TestBrowser } from '../../support/portal/browser.js';
import { PASSWORD, type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const TITLE = 'Confirm that it is you';

const portal = await TestPortal.shared();
const browser = await fixture(TestBrowser.start());

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();
const keysOf = ({ organization }: Someone) => `/o/${organization.slug}/keys`;
const age = ({ user }: Someone) =>
  portal.make.query(`UPDATE portal_sessions SET confirmed_at = now() - interval '1 hour' WHERE user_id = $1`, [user.id]);

describe('an owner', () => {
  it.each([
    [true, 390],
    [false, 1440],
  ])('with JavaScript: %s, at %d px, shows the password, and goes on', async (javaScript, width) => {
    const owner = await portal.someone('owner');
    await portal.setPassword(owner.user.id);
    const page = await browser.visit(portal, { javaScript, cookie: owner.cookie, width });
    await age(owner);
    await page.goto(keysOf(owner));
    await page.getByRole('link', { name: 'Create your first key' }).click();
    expect(await heading(page)).toBe(TITLE);
    await page.getByText(owner.user.email).waitFor();
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.locator('.error', { hasText: 'This is not the password of your account.' }).waitFor();
    expect(await page.title()).toBe(`Error: ${TITLE}`);
    expect(await page.locator('[autofocus]').first().getAttribute('role')).toBe('alert');
    if (javaScript) expect(await page.evaluate(`document.activeElement.getAttribute('role')`)).toBe('alert');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.waitForURL('**/keys/new');

    // The form took too long.
    await page.getByLabel('Name').fill('Till');
    await age(owner);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Please send the form again').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.waitForURL('**/keys/new');
    await page.getByLabel('Name').fill('Till');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForURL('**/created');
    await page.context().close();
  });
});

it('an owner uses a passkey, after which the button that asked for it works', async () => {
  const owner = await portal.someone('owner');
  const page = await browser.visit(portal, { cookie: owner.cookie });
  await addAuthenticator(page);
  await page.goto('/account');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey was added').waitFor();
  await age(owner);
  // A request of the script leads there as a form does.
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.waitForURL('**/confirm?next=%2Faccount');
  expect(await page.getByLabel('Password').count()).toBe(0);
  await page.getByRole('button', { name: 'Use your passkey' }).click();
  await page.waitForURL('**/account');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('This device already has a passkey for your account.').waitFor();
  await page.context().close();
});

it('the page has no faults in any state', async () => {
  const found: Record<string, string[]> = {};
  for (const [name, ways] of Object.entries({ password: 1, passkey: 2, both: 3, neither: 0 })) {
    const owner = await portal.someone('owner');
    if (ways & 1) await portal.setPassword(owner.user.id);
    if (ways & 2) await portal.make.row('passkeys', { userId: owner.user.id });
    await age(owner);
    const page = await browser.visit(portal, { cookie: owner.cookie });
    await page.goto(`/confirm?next=${keysOf(owner)}`);
    expect(await heading(page)).toBe(TITLE);
    found[name] = await faultsOf(page, `confirm ${name}`);
    if (ways & 1) {
      await page.getByLabel('Password').fill('wrong');
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.locator('.error', { hasText: 'This is not the password of your account.' }).waitFor();
      found[`${name}, wrong`] = await faultsOf(page, `confirm ${name} wrong`);
    }
    await page.context().close();
  }
  expect(Object.entries(found).filter(([, faults]) => faults.length > 0)).toEqual([]);
});
