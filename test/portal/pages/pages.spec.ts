import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults, inEachLook, LOOKS, TestBrowser } from '../../support/portal/browser.js';
import { PASSWORD, type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

let owner: Someone;
/** Links for setting a password, by the page that they open. */
const links: Record<string, string> = {};

/** A folder for screenshots, if set. */
const SCREENSHOTS = process.env.PORTAL_SCREENSHOTS;

const portal = await fixture(TestPortal.start({ SMTP_URL: 'smtp://127.0.0.1:1' }));
const browser = await fixture(TestBrowser.start());

beforeAll(async () => {
  const organization = await portal.make.organization({
    name: 'Wattle Lane Tutoring',
    timeZone: 'Australia/Melbourne',
  });
  owner = await portal.someone('owner', { organization, user: { email: 'owner@example.org' } });
  await portal.setPassword(owner.user.id);
  await portal.session(owner.user.id);
  await portal.make.row('passkeys', { userId: owner.user.id, name: 'Safari on iPhone' });
  links['password-confirm'] = await linkOf(owner.user.id);
  links['password-set'] = await linkOf((await portal.make.user()).id);
});

async function linkOf(userId: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(secret).digest();
  await portal.make.query(`SELECT add_password_link($1, $2, '1 hour')`, [hash, userId]);
  return `/password/${secret}`;
}

/** Every page that can be opened without an id, and some states of others. */
function visits(): { name: string; path: string; cookie?: string }[] {
  const pages = portal.routes().filter(({ method, access }) => method === 'GET' && access !== 'probe');
  const open = pages.filter(({ path }) => !path.replace(':slug', '').includes(':'));
  const listed = open.map(({ path, access }) => ({
    name: path.slice(1).replaceAll('/', '-').replace(':slug', 'slug') || 'home',
    path: path.replace(':slug', owner.organization.slug),
    ...(access !== 'public' && { cookie: owner.cookie }),
  }));
  return [
    ...listed,
    { name: 'not-found', path: '/nothing' },
    { name: 'password-gone', path: `/password/${'x'.repeat(43)}` },
    { name: 'password-gone-signed-in', path: `/password/${'x'.repeat(43)}`, cookie: owner.cookie },
    ...Object.entries(links).map(([name, path]) => ({ name, path })),
  ];
}

/** One page for visitors and one for the owner: opening a browser's context costs more than opening a page in it. */
const opened = new Map<string | undefined, Promise<Page>>();

function pageOf(cookie: string | undefined): Promise<Page> {
  if (!opened.has(cookie)) opened.set(cookie, browser.visit(portal, { cookie }));
  return opened.get(cookie)!;
}

/** Whether nothing makes the page scroll sideways. */
function fits(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
}

describe('every page', () => {
  it('passes axe and fits its window, at two widths and in both colour schemes', async () => {
    for (const { name, path, cookie } of visits()) {
      const page = await pageOf(cookie);
      const faults: string[] = [];
      const note = (fault: string) => faults.push(fault);
      page.on('console', (message) => note(message.text()));
      page.on('pageerror', (error) => note(error.message));
      await page.goto(path);
      await inEachLook(page, LOOKS, async ({ width, colorScheme }) => {
        if (SCREENSHOTS) {
          mkdirSync(SCREENSHOTS, { recursive: true });
          await page.screenshot({ path: join(SCREENSHOTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        }
        expect([name, width, colorScheme, await axeFaults(page)]).toEqual([name, width, colorScheme, []]);
        expect([name, width, await fits(page)]).toEqual([name, width, true]);
      });
      // The browser logs pages that return 404.
      expect([name, faults.filter((fault) => !fault.includes('status of 404'))]).toEqual([name, []]);
      page.removeAllListeners();
    }
  });

  it('fits 320 px and starts with a link to skip to the content', async () => {
    for (const { name, path, cookie } of visits()) {
      const page = await pageOf(cookie);
      await page.setViewportSize({ width: 320, height: 900 });
      await page.goto(path);
      expect([name, await fits(page)]).toEqual([name, true]);
      await page.keyboard.press('Tab');
      expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Skip to the content');
    }
  });
});

describe('signing in', () => {
  it('is offered in other ways after too many wrong passwords', async () => {
    const email = 'typing@example.org';
    for (let wrong = 0; wrong < 10; wrong++) await portal.post('/sign-in', { email, password: `wrong ${wrong}` });
    const page = await browser.visit(portal);
    await page.goto('/sign-in');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill('wrong again');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in another way' }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(1);
    await inEachLook(page, LOOKS, async (look) => {
      expect([look, await fits(page), await axeFaults(page)]).toEqual([look, true, []]);
    });
    await page.getByRole('button', { name: 'Email me a link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await page.context().close();
  });

  it.each([true, false])('and out works with JavaScript: %s', async (javaScript) => {
    const page = await browser.visit(portal, { javaScript });
    await page.goto('/account');
    await page.getByLabel('Email address').fill('owner@example.org');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL('**/account');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your account');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL('**/sign-in');
    expect(await page.getByRole('status').textContent()).toBe('You are signed out.');
    await page.context().close();
  });

  it('shows the error and keeps the address', async () => {
    const page = await browser.visit(portal, { javaScript: false });
    await page.goto('/sign-in');
    await page.getByLabel('Email address').fill('owner@example.org');
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe('owner@example.org');
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    await page.context().close();
  });
});

describe('scripts and styles', () => {
  it('have versioned names and are cached for ever', async () => {
    const page = (await portal.get('/sign-in')).text;
    const urls = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, url]) => url!);
    expect(urls.length).toBeGreaterThanOrEqual(4);
    for (const url of urls) {
      const { status, headers } = await portal.get(url);
      expect([url, status, headers['cache-control']]).toEqual([url, 200, 'public, max-age=31536000, immutable']);
    }
    expect((await portal.get('/assets/portal.css')).status).toBe(404);
  });
});
