import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { TestApi } from '../../support/http/api.js';
import { faultsOf, TestBrowser } from '../../support/portal/browser.js';
import { PASSWORD, type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const SETTINGS = { ENCRYPTION_KEY: randomBytes(32).toString('hex') };

const api = await fixture(TestApi.start(SETTINGS));
const address = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;
const portal = await fixture(TestPortal.start({ ...SETTINGS, PUBLIC_URL: address }, api.database));
const browser = await fixture(TestBrowser.start());

async function someOwner(): Promise<Someone & { base: string }> {
  const owner = await portal.someone('owner', { user: { firstName: 'Olive', lastName: 'Owner' } });
  return { ...owner, base: `/o/${owner.organization.slug}/keys` };
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();
const keyOn = async (page: Page): Promise<string> => page.getByLabel('API key', { exact: true }).inputValue();

describe.each([true, false])('with JavaScript: %s', (javaScript) => {
  it('an owner creates and uses a key', async () => {
    const { user, base, organization } = await someOwner();
    await portal.setPassword(user.id);
    const page = await browser.visit(portal, { javaScript });
    await page.goto(base);
    await page.getByLabel('Email address').fill(user.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`**${base}`);

    await page.getByRole('link', { name: 'Create your first key' }).click();
    await page.getByLabel('Name').fill('Website');
    expect(await page.getByRole('checkbox').first().isVisible()).toBe(false);
    await page.getByLabel('Choose scopes').check();
    await page.getByLabel('payments:write').first().check();
    await page.getByLabel('In 90 days').check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForURL('**/created');
    expect(await heading(page)).toBe('Your new key “Website”');
    const key = await keyOn(page);
    expect(key).toMatch(/^tk_live_[0-9a-f]{64}$/);
    expect(page.url()).not.toContain(key.slice(8));
    if (javaScript) {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      expect(await page.evaluate('getSelection().toString()')).toBe(key);
      await page.getByRole('button', { name: 'Copy key' }).click();
      expect(await page.getByRole('button', { name: 'Copied' }).textContent()).toBe('Copied');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    } else {
      expect(await page.getByRole('button', { name: /copy/i }).count()).toBe(0);
    }

    // The printed request works as it is.
    const [curl, typescript] = await page.locator('pre').allTextContents();
    const [, given] = /Token token=(\w+)'/.exec(curl!)!;
    const [, url] = /(http:\S+)/.exec(curl!)!;
    const answer = await fetch(url!, { headers: { Authorization: `Token token=${given}` } });
    expect([answer.status, ((await answer.json()) as { org_id: string }).org_id]).toEqual([200, organization.id]);
    expect(typescript).toContain(`Authorization: 'Token token=${key}'`);
    expect(typescript).toContain(url);

    await page.reload();
    expect(await heading(page)).toBe('This key cannot be shown again');
    await page.goBack();
    await page.goForward();
    expect(await page.content()).not.toContain(key.slice(8));
    await page.goto(base);
    await vi.waitFor(async () => {
      await page.reload();
      expect(await page.locator('.key-dates').textContent()).toMatch(/Last used(just now|\d minutes? ago)/);
    });
    expect(await page.locator('.keys > li').textContent()).toContain('payments:write');
  });
});

it('the pages after the form have no faults, and one restored from the back/forward cache does not show the key', async () => {
  const { base, cookie } = await someOwner();
  const page = await browser.visit(portal, { cookie, width: 320 });
  await page.goto(`${base}/new`);
  await page.getByLabel('Name').fill('Website');
  await page.getByLabel('On a date').check();
  await page.getByLabel('Last day').fill('2020-01-01');
  await page.locator('form.key-form').evaluate((form: { noValidate: boolean }) => (form.noValidate = true));
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Choose today or a later date').first().waitFor();
  expect(await faultsOf(page, 'keys faults')).toEqual([]);
  await page.getByLabel('Last day').fill('2031-01-31');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.waitForURL('**/created');
  const key = await keyOn(page);
  expect(await faultsOf(page, 'keys created')).toEqual([]);
  // What a browser fires when it restores a page from memory.
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
  await page.getByRole('heading', { name: 'This key cannot be shown again' }).waitFor();
  expect(await page.content()).not.toContain(key.slice(8));
});
