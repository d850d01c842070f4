import { TestBrowser } from '../../support/portal/browser.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await TestPortal.shared();
const browser = await fixture(TestBrowser.start());

describe('a form that was refused', () => {
  it.each([true, false])('begins its title with "Error:", and focuses the list of what to correct (JavaScript: %s)', async (javaScript) => {
    const owner = await portal.someone('owner');
    const page = await browser.visit(portal, { cookie: owner.cookie, javaScript });
    await page.goto('/account/name');
    expect(await page.title()).not.toContain('Error');
    await page.fill('#field-first_name', '   ');
    await page.click('main button');
    expect(await page.title()).toMatch(/^Error: /);
    const summary = page.locator('.flash.problem');
    expect(await page.evaluate<boolean>(`document.activeElement.matches('.flash.problem')`)).toBe(true);
    await summary.locator('a').click();
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('field-first_name');
    await page.context().close();
  });

  it('says so at the sign-in', async () => {
    const { text } = await portal.post('/sign-in', { email: 'nobody@example.org', password: 'wrong' }).expect(422);
    expect(text).toContain('<title>Error: ');
    expect(text).toMatch(/class="flash problem" role="alert" tabindex="-1" autofocus/);
  });

  it('repeats only what its template said, escaped', async () => {
    const owner = await portal.someone('owner');
    const { text } = await portal
      .post(`/o/${owner.organization.slug}/keys`, { name: '<i>x</i>'.repeat(90), scopes: 'read', form_token: crypto.randomUUID() }, owner.cookie)
      .expect(422);
    expect(text).toContain('There is a problem');
    expect(text).not.toContain('<i>');
  });
});

it('a 404 anywhere leads whoever is signed in back', async () => {
  const { cookie } = await portal.someone('tutor');
  for (const path of ['/nowhere', '/join/no/where', '/people'])
    for (const [header, expected] of [
      [cookie, true],
      ['', false],
    ] as const) {
      const { text } = await portal.get(path, header).expect(404);
      expect([path, header, text.includes('Sign out')]).toEqual([path, header, expected]);
    }
});

describe('a 404 within an organization', () => {
  const navigation = (text: string, slug: string) => text.includes(`href="/o/${slug}/people"`);

  it('keeps the navigation for its managers, and shows others nothing of it', async () => {
    const owner = await portal.someone('owner');
    const { slug } = owner.organization;
    const tutor = await portal.someone('tutor', { organization: owner.organization });
    const stranger = await portal.someone('owner');
    for (const path of [`/o/${slug}/nowhere`, `/o/${slug}/people/018cc251-0000-7000-8000-000000000000`]) {
      const { text } = await portal.get(path, owner.cookie).expect(404);
      expect([path, navigation(text, slug)]).toEqual([path, true]);
    }
    for (const cookie of [tutor.cookie, stranger.cookie, '', 'session=x']) {
      const { text } = await portal.get(`/o/${slug}/nowhere`, cookie).expect(404);
      expect(navigation(text, slug)).toBe(false);
      expect(text).toBe((await portal.get('/o/no-such-school/nowhere', cookie).expect(404)).text);
    }
  });
});

it('the navigation is a menu on phones, which says where one is, and needs no script', async () => {
  const owner = await portal.someone('owner');
  const page = await browser.visit(portal, { cookie: owner.cookie, width: 390, javaScript: false });
  for (const path of ['keys', 'people', 'outbox', 'audit']) {
    await page.goto(`/o/${owner.organization.slug}/${path}`);
    expect([path, await page.locator('.areas').isVisible()]).toEqual([path, false]);
    const menu = page.locator('.menu-button');
    expect(await menu.innerText()).toMatch(path === 'people' ? /People$/ : /Developers$/);
    await menu.focus();
    await page.keyboard.press('Enter');
    for (const link of await page.locator('.areas a').all()) {
      const { x, width, height } = (await link.boundingBox())!;
      expect([path, x >= 0, x + width <= 390, height >= 36]).toEqual([path, true, true, true]);
    }
  }
  await page.context().close();
});

it('the header is one line on phones, whatever the names, with everything in view', async () => {
  const owner = await portal.someone('owner', { user: { firstName: 'Maximiliana-Theodora' } });
  await portal.make.member((await portal.make.organization()).id, { userId: owner.user.id, role: 'tutor', status: 'accepted' });
  await portal.make.query('UPDATE organizations SET name = $2 WHERE id = $1', [
    owner.organization.id,
    'The Very Long Tutoring Organization of Melbourne',
  ]);
  for (const width of [320, 390, 1440]) {
    const page = await browser.visit(portal, { cookie: owner.cookie, width, javaScript: false });
    await page.goto(`/o/${owner.organization.slug}/money`);
    expect([width, (await page.locator('.top').boundingBox())!.height < 64]).toEqual([width, true]);
    for (const one of await page.locator('.top a, .top button').all()) {
      const { x, width: wide } = (await one.boundingBox())!;
      expect([width, x >= 0, x + wide <= width, wide >= 24]).toEqual([width, true, true, true]);
    }
    await page.context().close();
  }
});
