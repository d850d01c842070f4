import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { TestApi } from '../../support/http/api.js';
import { documentOf } from '../../support/http/routes.js';
import { axeFaults, TestBrowser } from '../../support/portal/browser.js';
import { fixture } from '../../support/process/fixture.js';

const api = await TestApi.shared();
const address = { url: `http://127.0.0.1:${(api.server.address() as AddressInfo).port}` };
const document = await documentOf(api);
const browser = await fixture(TestBrowser.start());

/** One operation of each kind: axe needs minutes for all of them, which are made from the same parts. */
const SOME = ['/v1/students', '/v1/students/{student_id}', '/v1/blog-images', '/v1/users/bulk-invite', '/v1/ping'];

const operation = (method: string, path: string) => `[id^="${method}-${path}"]`;

/** The reference, once it has shown the document, and what the browser's console has said. */
async function open(width: number, paths?: string[]): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.visit(address, { width });
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', ({ message }) => errors.push(message));
  if (paths) {
    const some = Object.fromEntries(Object.entries(document.paths).filter(([path]) => paths.includes(path)));
    await page.route('**/openapi.json', (route) => route.fulfill({ json: { ...document, paths: some } }));
  }
  await page.goto('/docs');
  await page.locator('#operations option').first().waitFor({ state: 'attached' });
  await page.locator(operation('get', '/v1/ping')).first().waitFor({ state: 'attached' });
  return { page, errors };
}

it('/docs shows every operation, in the order of the job, without an error in the console', async () => {
  const { page, errors } = await open(1440);
  const tags = await page.locator('.nav-bar-tag').allInnerTexts();
  expect(tags.map((tag) => tag.trim())).toEqual(document.tags!.map((tag) => (tag as unknown as Record<string, string>)['x-displayName'] ?? tag.name));
  const count = Object.values(document.paths).reduce((sum, operations) => sum + Object.keys(operations as object).length, 0);
  expect(await page.locator('#operations option').count()).toBe(count);
  expect(errors).toEqual([]);
});

it.each([1440, 390])('/docs has one heading, guides, and nothing that axe calls critical or serious, at %i px', async (width) => {
  const { page, errors } = await open(width, SOME);
  expect(await page.locator('h1').allTextContents()).toEqual([expect.stringMatching(/^\s*Tutoring API\s*$/)]);
  expect(await axeFaults(page, ['critical', 'serious'])).toEqual([]);
  const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect([errors, beyond]).toEqual([[], 0]);
  await page.getByRole('link', { name: 'Guides', exact: true }).click();
  await page.getByRole('link', { name: 'Idempotency' }).first().click();
  expect(await page.locator('h1').textContent()).toContain('Idempotency');
});

it('/docs shows the descriptions of the fields of bodies on a phone', async () => {
  const { page } = await open(390, SOME);
  const described = page.locator(operation('post', '/v1/students')).locator('api-request .tr .key-descr');
  await described.first().waitFor({ state: 'attached' });
  const fields = await described.all();
  expect(fields.length).toBeGreaterThan(5);
  for (const field of fields) {
    const text = (await field.textContent())!.trim();
    const { width = 0 } = (await field.boundingBox()) ?? {};
    expect(text).not.toContain('Pattern: \\S');
    if (text !== '') expect([text, width > 150, width < 390]).toEqual([text, true, true]);
  }
  if (process.env.PORTAL_SCREENSHOTS) {
    await described.nth(2).scrollIntoViewIfNeeded();
    await page.screenshot({ path: `${process.env.PORTAL_SCREENSHOTS}/docs-390.png` });
  }
});

it('/docs says without JavaScript where the same is', async () => {
  const page = await browser.visit(address, { javaScript: false });
  await page.goto('/docs');
  const said = page.locator('noscript p');
  expect([await said.isVisible(), await said.textContent()]).toEqual([true, expect.stringContaining('This page needs JavaScript.')]);
  const links = await said.locator('a').all();
  expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual(['openapi.json', './#guides']);
});
