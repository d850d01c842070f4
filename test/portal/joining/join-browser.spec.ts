import type { Page } from 'playwright-core';
import { newAddress } from '../../support/data/provisioning.js';
import { TestBrowser } from '../../support/portal/browser.js';
import { JoinFixture, STUDENT } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const joining = await JoinFixture.shared();
const browser = await fixture(TestBrowser.start());
const provisioning = await joining.provisioning();

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
}

describe.each([true, false])('in a browser (with JavaScript: %s)', (javaScript) => {
  it('a new person enters a code, registers and is welcomed', async () => {
    const code = await joining.invite(provisioning, STUDENT);
    const page = await browser.visit(joining.portal, { javaScript, width: 320 });
    await page.goto('/join');
    await fill(page, { 'Code or link': `${code.slice(0, 5).toLowerCase()} - ${code.slice(5)}` });
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`**/join/${code}`);
    const email = newAddress();
    await fill(page, { 'First name': 'Mia', 'Last name': 'Nguyen', 'Email address': email, 'Choose a password': PASSWORD });
    await page.getByRole('button', { name: 'Accept and join' }).click();
    await page.waitForURL('**/join/done');
    expect(await heading(page)).toBe('Welcome to Demo Tutoring');
    const people = await provisioning.list('/v1/students');
    expect(people).toContainEqual(expect.objectContaining({ email, first_name: 'Mia', status: 'accepted' }));
  });

  it('a person with an account signs in to accept, and no request header reveals the link or the proof', async () => {
    const { id, email } = await joining.person();
    await joining.invite(provisioning, { ...STUDENT, email });
    const { token, proof } = await joining.mail(email);
    const page = await browser.visit(joining.portal, { javaScript });
    const sent: string[] = [];
    page.on('request', (request) => sent.push(JSON.stringify(request.headers())));
    await page.goto(`/join/${token}?proof=${proof}`);
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('link', { name: 'Sign in to accept' }).click();
    await fill(page, { 'Email address': email, Password: PASSWORD });
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`**/join/${token}`);
    await page.getByRole('button', { name: 'Accept and join' }).click();
    await page.waitForURL('**/join/done');
    expect(await provisioning.seen('/v1/students', id)).toMatchObject({ status: 'accepted' });
    expect(sent.length).toBeGreaterThan(5);
    for (const headers of sent) expect(headers).not.toMatch(/"referer":"[^"]/);
    expect(sent.join()).not.toContain(proof);
  });
});
