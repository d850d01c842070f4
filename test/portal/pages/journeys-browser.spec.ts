import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { Invites } from '@app/people';
import { newAddress } from '../../support/data/provisioning.js';
import { axeFaults, TestBrowser } from '../../support/portal/browser.js';
import { JoinFixture, registration } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const joining = await JoinFixture.shared();
const browser = await fixture(TestBrowser.start());
const { make } = joining.portal;

/** With and without JavaScript. axe runs where it can; `pages.spec.ts` shows it every page in the other looks. */
const LOOKS = [
  { width: 1440, colorScheme: 'light', javaScript: false },
  { width: 390, colorScheme: 'dark', javaScript: true },
] as const;

describe.each(LOOKS)('at $width px, $colorScheme, with JavaScript: $javaScript', (look) => {
  let pages: PeoplePages;
  let page: Page;
  let faults: string[];

  beforeEach(async () => {
    pages = await PeoplePages.open(joining);
    page = await browser.visit(joining.portal, { ...look, cookie: pages.owner.header });
    faults = [];
  });
  afterEach(async () => {
    await page.context().close();
    expect(faults).toEqual([]);
  });

  const at = () => pages.provisioning.id;
  const home = () => pages.base.replace(/\/people$/, '');
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click();
  const follow = (name: string | RegExp) => page.getByRole('link', { name }).click();
  /** Expects a page with this heading, and what it says; looks for faults. */
  const arrive = async (heading: string, says: string | RegExp = '') => {
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    if (says) await page.locator('main').getByText(says).first().waitFor();
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    const found = [...(beyond > 0 ? [`${beyond} px too wide`] : []), ...(look.javaScript ? await axeFaults(page) : [])];
    faults.push(...found.map((fault) => `${heading}: ${fault}`));
  };
  const colleague = async (role: 'tutor' | 'admin') => {
    const organization = await make.find('organizations', at());
    return joining.portal.someone(role, { organization, user: { firstName: 'Sam', lastName: 'Okafor' } });
  };

  it('an owner confirms who they are, and removes a tutor who has a key and sessions', async () => {
    const { user, cookie } = await colleague('tutor');
    const { id, key } = await joining.api.keys.create(at(), { name: 'theirs' });
    await make.query('UPDATE api_keys SET created_by = $1 WHERE id = $2', [user.id, id]);
    await make.session(at(), { tutorId: user.id, startsAt: new Date(Date.now() + 7_200_000) });
    await joining.portal.setPassword(pages.ownerId);
    await make.query(`UPDATE portal_sessions SET confirmed_at = now() - interval '1 hour' WHERE user_id = $1`, [pages.ownerId]);
    await page.goto(pages.base);
    await follow('Sam Okafor');
    await arrive('Sam Okafor', 'Teaching');
    await follow(/^Remove/);
    await arrive('Confirm that it is you');
    await page.getByLabel('Password').fill(PASSWORD);
    await press('Confirm');
    await arrive('Remove Sam Okafor?', '1 API key is revoked');
    await page.getByLabel('Cancel them').check();
    await press('Remove Sam Okafor');
    await arrive('Sam Okafor', '1 API key revoked, 1 lesson canceled.');
    expect((await joining.api.get('/v1/students', key)).status).toBe(401);
    const theirs = await browser.visit(joining.portal, { ...look, cookie });
    await theirs.goto('/');
    await theirs.getByRole('heading', { name: /^You no longer belong to/ }).waitFor();
    await theirs.context().close();
    await page.goto(`${home()}/audit?person=${user.id}`);
    await arrive('Audit', 'Ended the membership of');
  });

  it('replaces a leaked code, and removes those who came by it', async () => {
    await joining.portal.app.get(Invites).ensurePermanentCodes(at());
    await page.goto(pages.base);
    await follow('Codes');
    await arrive('Codes', 'Permanent code for students');
    const item = page.locator('.codes > li', { hasText: 'Permanent code for students' }).first();
    const code = () => item.getByLabel('The code').inputValue();
    const leaked = await code();
    await joining.visitor().post(`/join/${leaked}`, registration(newAddress()));
    await item.locator('summary', { hasText: 'Replace' }).click();
    await item.getByRole('button', { name: 'Make a new code' }).click();
    await arrive('Codes', 'The old code has stopped working.');
    expect(await code()).not.toBe(leaked);
    await follow(/^1 person joined since/);
    await arrive('Remove those who joined', '1 person will no longer see or do anything here.');
    await press('Remove 1 person');
    await arrive('Codes', '1 person removed.');
    await page.goto(home());
    await arrive((await make.find('organizations', at())).name);
    expect(await page.getByRole('heading', { name: 'New this week' }).count()).toBe(1);
  });

  it('invites a student with a parent, and reads their page', async () => {
    await page.goto(pages.base);
    await follow('Invite somebody');
    await arrive('Invite somebody');
    await press('Invite');
    await arrive('Invite somebody', 'There is a problem');
    for (const [label, text] of [['First name', 'Mia'], ['Last name', 'Nguyen'], ['Parent’s first name', 'Linh'], ['Parent’s last name', 'Nguyen']] as const)
      await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByLabel('Parent’s email address').fill(newAddress());
    await press('Invite');
    await arrive('Person added', 'Mia Nguyen is now a student');
    await follow('Open their page');
    await arrive('Mia Nguyen', 'Linh Nguyen');
  }); // prettier-ignore

  it('makes a second owner, and leaves', async () => {
    const { user } = await colleague('admin');
    await joining.portal.setPassword(user.id);
    await page.goto(`${pages.base}/${user.id}`);
    await page.getByText('Change role …').click();
    await page.getByLabel('Owner').check();
    await press('Change role');
    await arrive('Sam Okafor', 'The role was changed.');
    await page.goto(`${pages.base}/${pages.ownerId}`);
    await follow(/^Leave/);
    await arrive(`Leave ${(await make.find('organizations', at())).name}?`);
    await press('Leave');
    await arrive('Your organizations', 'You have left');
    expect((await page.goto(pages.base))!.status()).toBe(404);
  });

  it('says how to be reached, and finds that in the audit log and its file', async () => {
    await page.goto(`${home()}/settings`);
    await page.getByLabel('Phone').fill('+61 3 9000 0000');
    await press('Save');
    await arrive('Settings', /saved/);
    await page.goto(`${home()}/audit`);
    await arrive('Audit', 'Changed the organization’s settings');
    const [download] = await Promise.all([page.waitForEvent('download'), follow('Download CSV')]);
    expect(readFileSync(await download.path(), 'utf8')).toContain('Changed the organization’s settings');
  });
});
