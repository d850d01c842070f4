import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeFaults, TestBrowser } from '../support/portal/browser.js';
import { PASSWORD, type Someone, TestPortal } from '../support/portal/portal.js';

let portal: TestPortal;
let browser: TestBrowser;
let owner: Someone;

beforeAll(async () => {
  portal = await TestPortal.start();
  browser = await TestBrowser.start();
  owner = await portal.someone('owner', { user: { email: 'owner@example.org' } });
  await portal.setPassword(owner.user.id);
});
afterAll(async () => {
  await browser.stop();
  await portal.stop();
});

describe('in a browser', () => {
  it.each([true, false])('people sign in and out (with JavaScript: %s)', async (javaScript) => {
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
  });

  it('axe finds nothing', async () => {
    const page = await browser.visit(portal);
    await page.goto('/sign-in');
    expect(await axeFaults(page)).toEqual([]);
  });
});
