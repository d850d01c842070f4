import { randomUUID } from 'node:crypto';
import supertest from 'supertest';
import { TestPortal } from '../../support/portal/portal.js';
import { Visitor } from '../../support/portal/visitor.js';

const portal = await TestPortal.shared();
const { make } = portal;

const optOuts = async (at: string) =>
  (await make.query<{ kind: string }>('SELECT kind FROM mail_opt_outs WHERE organization_id = $1 ORDER BY kind', [at])).map(({ kind }) => kind);

async function link(): Promise<{ at: string; token: string; visitor: Visitor }> {
  const { id: at } = await make.organization({ name: 'Wattle Lane' });
  const [{ token }] = (await make.query<{ token: string }>(
    `INSERT INTO mail_links (organization_id, address) VALUES ($1, 'mio@example.org') RETURNING token`,
    [at],
  )) as [{ token: string }];
  return { at, token, visitor: new Visitor(portal) };
}

describe('the link at the end of a mail', () => {
  it('shows which emails the address gets, and opening it changes nothing', async () => {
    const { at, token, visitor } = await link();
    const { status, text } = await visitor.get(`/mails/${token}`);
    expect(status).toBe(200);
    expect(text).toContain('From Wattle Lane, at m•••@example.org.');
    expect(text.match(/ checked/g)).toHaveLength(2);
    expect(await optOuts(at)).toEqual([]);
  });

  it('switches them off and on again', async () => {
    const { at, token, visitor } = await link();
    const off = await visitor.post(`/mails/${token}`, { wanted: 'reminders' });
    expect([off.status, off.text]).toEqual([200, expect.stringContaining('You get no more emails about lessons.')]);
    expect(await optOuts(at)).toEqual(['lessons']);
    await visitor.post(`/mails/${token}`, {});
    expect(await optOuts(at)).toEqual(['lessons', 'reminders']);
    await make.query(`UPDATE mail_opt_outs SET created_at = '2026-01-01'`);
    await visitor.post(`/mails/${token}`, {});
    expect(await make.query(`SELECT FROM mail_opt_outs WHERE organization_id = $1 AND created_at = '2026-01-01'`, [at])).toHaveLength(2);
    // Also of what is as it was.
    for (let again = 0; again < 2; again++) {
      const on = await portal.post(`/mails/${token}`, { wanted: ['lessons', 'reminders'] }).set('Origin', visitor.origin);
      expect(on.text).toContain('>Saved.</p>');
    }
    expect(await optOuts(at)).toEqual([]);
    expect((await visitor.get(`/mails/${token}`)).text).not.toContain('Saved.');
  });

  it('works with the one click of a mail program, which sends no origin', async () => {
    const { at, token } = await link();
    const click = supertest(portal.app.getHttpServer()).post(`/mails/${token}`).type('form').send({ 'List-Unsubscribe': 'One-Click' });
    expect((await click).status).toBe(200);
    expect(await optOuts(at)).toEqual(['lessons', 'reminders']);
  });

  it('is a 404 if it leads nowhere, or its organization has moved', async () => {
    const { at, token, visitor } = await link();
    for (const path of [randomUUID(), 'x', `${token}x`]) {
      expect((await visitor.get(`/mails/${path}`)).status).toBe(404);
      expect((await visitor.post(`/mails/${path}`)).status).toBe(404);
    }
    await make.query(`INSERT INTO moves (organization_id, state, moved_to) VALUES ($1, 'moved', 'https://new.example.org')`, [at]);
    expect((await visitor.post(`/mails/${token}`)).status).toBe(404);
    await make.query('DELETE FROM moves WHERE organization_id = $1', [at]);
    expect(await optOuts(at)).toEqual([]);
  });
});

describe('emails to families, in the settings', () => {
  it('are off, and can be switched on and off one by one', async () => {
    const { organization, visitor } = await signedIn();
    const path = `/o/${organization.slug}/settings/mails`;
    expect((await visitor.get(path)).text.match(/>off</g)).toHaveLength(5);
    const on = await visitor.follow(await visitor.post(`${path}/on`, { kind: 'reminders' }));
    expect(on.text).toContain('Saved. These emails are sent from now on.');
    expect(on.text.match(/>off</g)).toHaveLength(4);
    await visitor.post(`${path}/off`, { kind: 'reminders' });
    expect(await make.query('SELECT FROM family_switches WHERE organization_id = $1', [organization.id])).toEqual([]);
    const audit = await visitor.get(`/o/${organization.slug}/audit`);
    for (const words of ['Switched on emails to families: reminders', 'Switched off emails to families: reminders'])
      expect(audit.text).toContain(words);
    expect((await visitor.post(`${path}/on`, { kind: 'nothing' })).status).toBe(404);
  });
});

async function signedIn() {
  const { organization, cookie } = await portal.someone('admin');
  return { organization, visitor: new Visitor(portal, cookie) };
}
