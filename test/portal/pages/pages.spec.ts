import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { faultsOf, lookOf, TestBrowser } from '../../support/portal/browser.js';
import { type FullOrganization, fullOrganization } from '../../support/portal/full-organization.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { joinPages } from '../../support/portal/join-states.js';
import type { Someone } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

/** HTML with its styles, scripts and images, uncompressed and uncached. */
const MOST_BYTES = 60_000;

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen';

/** Names as people may enter them: markup, a long word, right-to-left text, an unclosed override, emoji. */
const NAMES = ['<img src=x onerror=alert(1)>&quot;', `${LONG}${LONG}`.slice(0, 100), 'מיה לינا', '\u202eeve', '👩‍👩‍👧‍👦🦄'];

interface Visit {
  name: string;
  path: string;
  cookie?: string;
  /** The button that leads to the page. */
  press?: string;
  heading?: string;
}

/** Routes below the organization whose pages depend on the query or on a form. */
const MORE = [
  'people?status=waiting', 'people?status=archived', 'people/codes?after=9999999999999-ffffffff-ffff-ffff-ffff-ffffffffffff',
  'activity?status=4xx', 'outbox?status=dead', 'audit?day=2020-01-01', 'keys?page=2', 'keys?unused=30', 'money/approvals?state=all',
  'enquiries?status=new', 'inbox?status=archived', 'enquiries/requests?status=declined',
  'money?state=paid', 'money?search=nothing', 'money?search=9', 'money?search=rather&state=unpaid', 'money/families?search=rather', 'money/payments?received=this-month', 'money/drafts?all=yes', 'money/reports?by=tutor',
  'lessons?state=due', 'lessons?state=due&after=0-ffffffff-ffff-ffff-ffff-ffffffffffff', 'lessons?state=completed', 'lessons?state=clashing',
  'lessons?state=unassigned', 'lessons?state=cancelled&from=2026-01-05', 'lessons?from=2026-01-05', 'lessons?from=2026-01-05&view=day', 'lessons/new?name=rather', 'lessons/new?name=nobody',
  'money/draft?name=rather', 'money/draft?name=nobody', 'webhooks/deliveries?status=failed', 'webhooks/deliveries?type=nothing',
]; // prettier-ignore

const joining = await fixture(JoinFixture.open());
const browser = await fixture(TestBrowser.start());
const { portal } = joining;
const { make } = portal;

let full: FullOrganization;
let empty: Someone;
let visits: Visit[];

beforeAll(async () => {
  full = await fullOrganization(joining);
  empty = await portal.someone('owner');
  const [cookie, secret] = [full.owner.header, 'x'.repeat(43)];
  const ids: Record<string, string> = { slug: full.slug, key_id: full.keyId, invite_id: full.codeId, user_id: full.ownerId, lesson_id: full.lessons[0]!, request_id: full.requestId, endpoint_id: full.endpointId, delivery_id: full.deliveryId, invoice_id: full.invoices.open, payment_id: full.paymentId, secret };
  const routes = portal.routes().filter(({ method, path, access }) => method === 'GET' && access !== 'probe' && !/\/(download|download-xero|pdf|receipt|statement|adjustment-note)$/.test(path));
  const fill = (path: string) => path.replaceAll(/:([^/]+)/g, (_, name: string) => ids[name] ?? randomUUID());
  visits = [
    ...routes.map(({ path, access }) => ({ name: path, path: fill(path), ...(access !== 'public' && { cookie }) })),
    ...routes
      .map(({ path }) => path.replace(':slug', empty.organization.slug))
      .filter((path) => path.startsWith('/o/') && !path.includes(':'))
      .map((path) => ({ name: `empty: ${path}`, path, cookie: empty.cookie })),
    ...Object.values(full.invoices).map((id) => ({ name: `invoice ${id}`, path: `/o/${full.slug}/money/invoices/${id}`, cookie })),
    ...full.lessons.map((id) => ({ name: `lesson ${id}`, path: `/o/${full.slug}/lessons/${id}`, cookie })),
    ...['', '&tutor=TUTOR', '&tutor=TUTOR&check=yes', '&tutor=TUTOR&check=yes&day=2030-01-07&start=10:00&every=1&until=2030-03-31'].map((query) => ({
      name: `book ${query}`,
      path: `/o/${full.slug}/lessons/new?student=${full.payers[0]}${query.replace('TUTOR', full.ownerId)}`,
      cookie,
    })),
    { name: 'draft for a student', path: `/o/${full.slug}/money/families/${full.payers[0]}/draft`, cookie },
    ...full.payers.map((id) => ({ name: `family ${id}`, path: `/o/${full.slug}/money/families/${id}`, cookie })),
    ...MORE.map((query) => ({ name: query, path: `/o/${full.slug}/${query}`, cookie })),
    { name: 'not found', path: `/o/${full.slug}/nothing`, cookie },
    { name: 'password link gone', path: `/password/${secret}`, cookie },
    { name: 'confirm a password', path: await linkOf(full.ownerId) },
    { name: 'set a password', path: await linkOf((await make.user()).id) },
    ...Object.entries(await joinPages(joining, full.provisioning)).map(([name, visit]) => ({ ...visit, name: `join: ${name}` })),
    // Nobody sees the new secret but whoever presses the button, so these come last.
    { name: 'new secret', path: `/o/${full.slug}/build-hook/rotate`, cookie, press: 'Replace the secret' },
    { name: 'new secret of an endpoint', path: `/o/${full.slug}/webhooks/${full.endpointId}/rotate`, cookie, press: 'Replace the secret' },
  ];
}); // prettier-ignore

async function linkOf(userId: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await make.query(`SELECT add_password_link($1, $2, '1 hour')`, [createHash('sha256').update(secret).digest(), userId]);
  return `/password/${secret}`;
}

const cookiesIn = (header: string) =>
  header
    .split('; ')
    .filter(Boolean)
    .map((pair) => pair.split('='))
    .map(([name = '', value = '']) => ({ name, value, url: portal.url }));

/** Opens each page in turn. @returns the faults that were found, by page */
async function inspect(check: (page: Page, visit: Visit, said: string[]) => Promise<string[]>, these = visits): Promise<Record<string, string[]>> {
  // One page for all: a context costs more than a page.
  const page = await browser.visit(portal);
  const faults: Record<string, string[]> = {};
  // What the browser logs: among it, each page that is answered with 4xx.
  const said: string[] = [];
  // What it focuses itself differs with its speed.
  page.on('console', (message) => message.text().startsWith('Autofocus processing was blocked') || said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  for (const visit of these) {
    await page.context().clearCookies();
    await page.context().addCookies(cookiesIn(visit.cookie ?? ''));
    await page.goto(visit.path);
    if (visit.press) await page.getByRole('button', { name: visit.press, exact: true }).click();
    const found = await check(page, visit, said);
    if (found.length > 0) faults[visit.name] = found;
  }
  await page.context().close();
  return faults;
}

describe('every page', () => {
  it('passes axe, fits its window in every look and can be used by keyboard', async () => {
    const faults = await inspect(async (page, { name, heading, press }, said) => {
      const found = said.splice(0).filter((text) => !/status of 4\d\d/.test(text));
      await page.keyboard.press('Tab');
      const first = await page.evaluate<string>('document.activeElement.textContent');
      // What is wrong with a form has the focus instead.
      const errs = (await page.title()).startsWith('Error: ');
      if (!press && !errs && first !== 'Skip to the content') found.push('does not start with a link to the content');
      if (heading && (await page.getByRole('heading', { level: 1 }).textContent()) !== heading) found.push('heading');
      await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
      found.push(...(await faultsOf(page, name, lookOf(visits.findIndex((visit) => visit.name === name)), true)));
      const fields = '[...document.querySelectorAll(".filters :is(input:not([type=checkbox]), select, button)")]';
      const heights = await page.evaluate<number[]>(`${fields}.map((field) => Math.round(field.offsetHeight))`);
      if (new Set(heights).size > 1) found.push('filters of different heights');
      return found;
    });
    expect(faults).toEqual({});
  });

  it('weighs less than 60 KB including assets, even with a full list', async () => {
    const heavy: [string, number][] = [];
    const assets = new Map<string, Promise<number>>();
    const weigh = async (url: string) => Number((await portal.get(url)).headers['content-length']);
    for (const { name, path, cookie } of visits) {
      const { text } = await portal.get(path, cookie);
      let bytes = Buffer.byteLength(text);
      for (const url of new Set([...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, url]) => url!))) {
        if (!assets.has(url)) assets.set(url, weigh(url));
        bytes += await assets.get(url)!;
      }
      if (bytes >= MOST_BYTES) heavy.push([name, bytes]);
    }
    expect(visits.length).toBeGreaterThan(60);
    expect(heavy).toEqual([]);
  });

  it('shows any name as text and fits its window', async () => {
    const name = (shift: number) => `($1::text[])[1 + (${shift} + abs(hashtext(id::text))) % ${NAMES.length}]`;
    for (const table of ['api_keys', 'classrooms', 'student_groups', 'passkeys']) await make.query(`UPDATE ${table} SET name = ${name(0)}`, [NAMES]);
    await make.query(`UPDATE users SET first_name = ${name(0)}, last_name = ${name(1)}`, [NAMES]);
    await make.query(`UPDATE webhook_endpoints SET description = ${name(0)}`, [NAMES]);
    const supplied = 'supplied_first_name = $1, supplied_last_name = $2 WHERE accepted_at IS NULL';
    for (const table of ['members', 'parents']) await make.query(`UPDATE ${table} SET ${supplied}`, NAMES.slice(0, 2));
    await make.query(`UPDATE organizations SET name = $1`, [`${LONG} <b>${LONG}</b>`]);
    const recipient = `'a' || repeat('x', 60) || '@' || repeat('y', 60) || '.example.org'`;
    await make.query(`UPDATE outbox SET recipient = ${recipient} WHERE topic = 'email'`);
    const faults = await inspect(
      async (page) => {
        const found: string[] = [];
        for (const width of [320, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          if (over > 0) found.push(`${width} px: ${over} px too wide`);
        }
        const elements = await page.evaluate<number>('document.querySelectorAll("main img, b, i, main script").length');
        if (elements > 0) found.push(`${elements} elements from names`);
        return found;
      },
      visits.filter(({ name }) => !name.startsWith('empty')),
    );
    expect(faults).toEqual({});
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
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Email me a link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
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
