import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { TestApi } from '../../support/http/api.js';
import { axeFaults, inEachLook, LOOKS, TestBrowser } from '../../support/portal/browser.js';
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
const statusOf = async (path: string, key: string) => (await api.get(path, key)).status;

describe.each([true, false])('with JavaScript: %s', (javaScript) => {
  it('an owner creates, uses, replaces and revokes a key', async () => {
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

    await page.getByRole('link', { name: 'Replace Website' }).click();
    await page.getByLabel('One hour').check();
    await page.getByRole('button', { name: 'Replace key' }).click();
    await page.waitForURL('**/created');
    const next = await keyOn(page);
    expect([await statusOf('/v1/me', key), await statusOf('/v1/me', next)]).toEqual([200, 200]);
    await page.getByRole('link', { name: 'I have stored it' }).click();
    expect(await page.locator('.keys > li').count()).toBe(2);

    await page.getByRole('link', { name: 'Revoke Website' }).first().click();
    expect(await heading(page)).toBe('Revoke “Website”?');
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.waitForURL(`**${base}`);
    expect(await page.getByRole('status').textContent()).toContain('The key “Website” is revoked.');
    expect([await statusOf('/v1/me', key), await statusOf('/v1/me', next)]).toEqual([200, 401]);

    for (const path of ['', '/new']) {
      await page.goto(`${base}${path}`);
      for (const text of [key, next]) expect(await page.content()).not.toContain(text.slice(8));
    }
  });

  it('a form sent twice, by a double click or by going back, creates one key', async () => {
    const { base, cookie, organization } = await someOwner();
    const page = await browser.visit(portal, { cookie, javaScript });
    await page.goto(`${base}/new`);
    await page.getByLabel('Name').fill('Twice');
    await page.getByRole('button', { name: 'Create key' }).dblclick();
    await page.waitForURL('**/created');
    await page.waitForLoadState();
    expect(await keyOn(page)).toMatch(/^tk_live_/);
    const count = async () =>
      (await portal.make.query('SELECT FROM api_keys WHERE organization_id = $1', [organization.id])).length;
    expect(await count()).toBe(1);
    await page.goBack();
    await page.goForward();
    expect(await page.getByLabel('API key', { exact: true }).count()).toBe(0);
    expect(await count()).toBe(1);
  });
});

it('a page restored from the back/forward cache does not show the key', async () => {
  const { base, cookie } = await someOwner();
  const page = await browser.visit(portal, { cookie });
  await page.goto(`${base}/new`);
  await page.getByLabel('Name').fill('Website');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await keyOn(page);
  // What a browser fires when it restores a page from memory.
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
  await page.getByRole('heading', { name: 'This key cannot be shown again' }).waitFor();
  expect(await page.content()).not.toContain(key.slice(8));
});

describe('the pages of keys', () => {
  it('fit 320, 390 and 1440 px in both colour schemes, stay below 60 kB and pass axe', async () => {
    const { base, cookie, organization } = await someOwner();
    // The last width that is checked, too, so forms are filled in on a small screen.
    const page = await browser.visit(portal, { cookie, width: 320 });
    const seen: string[] = [];
    page.on('response', (response) => {
      if (response.headers()['content-type']?.startsWith('text/html')) {
        void response.body().then(
          (body) => expect(body.length).toBeLessThan(60_000),
          () => undefined,
        );
      }
    });
    const look = async (path: string, name: string) => {
      await page.goto(path);
      await check(name);
    };
    const check = async (name: string) => {
      await inEachLook(
        page,
        [...LOOKS.slice(1), { width: 320, colorScheme: 'light' }],
        async ({ width, colorScheme }) => {
          const axe = await axeFaults(page);
          const overflow = await page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          expect({ name, width, axe, overflow }).toEqual({ name, width, axe: [], overflow: 0 });
          const folder = process.env.SCREENSHOTS;
          if (folder) await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
        },
      );
      seen.push(name);
    };
    await look(base, 'empty');
    await look(`${base}/new`, 'new');
    await page.getByLabel('Choose scopes').check();
    await page.getByLabel('On a date').check();
    await page.getByLabel('Name').fill('Website');
    await page.getByLabel('Last day').fill('2020-01-01');
    await page.locator('form.key-form').evaluate((form: { noValidate: boolean }) => (form.noValidate = true));
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForLoadState();
    await check('faults');
    await page.getByLabel('Last day').fill('2031-01-31');
    await page.getByLabel('payments:write').first().check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForURL('**/created');
    await check('created');
    await page.reload();
    await check('shown');
    const { keys } = api;
    await keys.create(organization.id, {
      name: 'A till with a long name that goes on and on',
      expiresAt: { inDays: 9 },
    });
    const expired = await keys.create(organization.id, { name: 'Import of 2025' });
    await portal.make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired.id]);
    const revoked = await keys.create(organization.id, {
      name: 'Nightly sync',
      scopes: ['read', 'write', 'sessions:write'],
    });
    await keys.revoke(revoked.id);
    const { id } = await keys.create(organization.id, {
      name: 'Accounting',
      platformBlog: true,
      expiresAt: { inDays: 90 },
    });
    await keys.replace(organization.id, id, { overlap: '7d' });
    await portal.make.query(`UPDATE api_keys SET last_used_at = now() - interval '5 minutes' WHERE name LIKE 'A%'`);
    await look(base, 'list');
    const [newest] = await keys.list(organization.id);
    await look(`${base}/${newest!.id}/replace`, 'replace');
    await look(`${base}/${newest!.id}/revoke`, 'revoke');
    expect(seen).toEqual(['empty', 'new', 'faults', 'created', 'shown', 'list', 'replace', 'revoke']);
  });
});
