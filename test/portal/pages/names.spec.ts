import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newAddress, type PeopleFixture } from '../../support/data/provisioning.js';
import { TestBrowser } from '../../support/portal/browser.js';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { busyOffice, joinPages } from '../../support/portal/join-states.js';
import { fixture } from '../../support/process/fixture.js';

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen';

/** Names as people may enter them: markup, a long word, right-to-left text, an unclosed override, emoji. */
const NAMES = ['<img src=x onerror=alert(1)>&quot;', `${LONG}${LONG}`.slice(0, 100), 'מיה لينا', '\u202eeve', '👩‍👩‍👧‍👦🦄'];

let provisioning: PeopleFixture;

const joining = await fixture(JoinFixture.open());
const browser = await fixture(TestBrowser.start());

const sql = (statement: string, ...values: unknown[]) => joining.portal.make.query(statement, values);

/** Gives one of these to every record with a name. */
async function rename(): Promise<void> {
  const name = (shift: number) => `($1::text[])[1 + (${shift} + abs(hashtext(id::text))) % ${NAMES.length}]`;
  for (const table of ['api_keys', 'classrooms', 'student_groups', 'passkeys'])
    await sql(`UPDATE ${table} SET name = ${name(0)}`, NAMES);
  await sql(`UPDATE users SET first_name = ${name(0)}, last_name = ${name(1)}`, NAMES);
  for (const table of ['members', 'parents']) {
    await sql(
      `UPDATE ${table} SET supplied_first_name = $1, supplied_last_name = $2 WHERE accepted_at IS NULL`,
      NAMES[0],
      NAMES[1],
    );
  }
  await sql(`UPDATE organizations SET name = $1`, `${LONG} <b>${LONG}</b>`);
  await sql(
    `UPDATE outbox SET recipient = 'a' || repeat('x', 60) || '@' || repeat('y', 60) || '.example.org' WHERE topic = 'email'`,
  );
}

const cookiesIn = (header: string) =>
  header
    .split('; ')
    .filter(Boolean)
    .map((pair) => pair.split('='))
    .map(([name = '', value = '']) => ({ name, value, url: joining.portal.url }));

/** Faults of the open page: it scrolls sideways, or a name has become an element. */
async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (over > 0) faults.push(`${width} px: ${over} px too wide`);
  }
  const elements = await page.evaluate<number>('document.querySelectorAll("main img, b, i, main script").length');
  if (elements > 0) faults.push(`${elements} elements from names`);
  return faults;
}

it('every page shows any name as text and fits its window', async () => {
  const busy = await busyOffice(joining);
  provisioning = busy.provisioning;
  const { owner, base } = busy;
  const slug = base.split('/')[2]!;
  const key = await joining.api.keys.create(provisioning.id, { name: 'Website', scopes: ['read', 'write'] });
  await sql(
    `INSERT INTO request_log (id, organization_id, api_key_id, request_id, method, route, status, duration_ms, created_at)
     SELECT gen_random_uuid(), $1, $2, gen_random_uuid(), 'GET', '/v1/student-groups/{student_group_id}/students', 200, 12.5, now()`,
    provisioning.id,
    key.id,
  );
  await sql(`UPDATE api_keys SET last_used_at = now()`);
  const [me] = await sql(
    `SELECT user_id FROM members WHERE organization_id = $1 AND role = 'owner' AND status = 'accepted' LIMIT 1`,
    provisioning.id,
  );
  await provisioning.make.row('passkeys', { userId: me!.user_id as string });
  await joining.invite(provisioning, { scope: 'organization', role: 'student', email: newAddress() });
  const states = await joinPages(joining, provisioning);
  await rename();

  const visits = joining.portal
    .routes()
    .filter(({ method, access }) => method === 'GET' && (access === 'managers' || access === 'signed-in'))
    .map(({ path }) => path.replace(':slug', slug).replace(':key_id', key.id))
    .map((path) => ({ name: path, path, cookie: owner.header, press: undefined as string | undefined }));
  expect(visits.length).toBeGreaterThan(12);
  for (const [name, { path, cookie = '', press }] of Object.entries(states)) {
    visits.push({ name: `join: ${name}`, path, cookie, press });
  }
  visits.push({ name: 'not found', path: `/o/${slug}/nothing`, cookie: owner.header, press: undefined });

  // One page for all: a context costs more than a page.
  const page = await browser.visit(joining.portal);
  const faults: Record<string, string[]> = {};
  for (const { name, path, cookie, press } of visits) {
    await page.context().clearCookies();
    await page.context().addCookies(cookiesIn(cookie));
    await page.goto(path);
    if (press) await page.getByRole('button', { name: press, exact: true }).click();
    const found = await faultsOf(page);
    if (found.length > 0) faults[name] = found;
  }
  expect(faults).toEqual({});
});
