import { MAIL_KINDS } from '../../../apps/portal/src/outbox/mail-kinds.js';
import { EMAIL_KINDS } from '@app/jobs';
import { type Someone, TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();

const pathOf = ({ organization }: Someone) => `/o/${organization.slug}/outbox`;

interface Mail {
  status?: string;
  recipient?: string;
  problem?: string | null;
  kind?: string;
  age?: string;
}

/** A mail of the organization. @returns its id */
async function mail({ organization }: Someone, wish: Mail = {}): Promise<string> {
  const { status = 'sent', recipient = 'ada@example.org', problem = null, kind = 'organization_invite', age = '0' } = wish;
  const [row] = await portal.make.query<{ id: string }>(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, payload, status, attempts, last_error, created_at, finished_at)
     VALUES (gen_random_uuid(), $1, 'email', $2, $3, '\\x00', $4, 8, $5, now() - $6::interval,
       CASE WHEN $4 IN ('sent', 'dead', 'suppressed') THEN now() END) RETURNING id`,
    [organization.id, kind, recipient, status, problem, age],
  );
  return row!.id;
}

const rowOf = async (id: string) =>
  (await portal.make.query<{ status: string; attempts: number }>('SELECT status, attempts FROM outbox WHERE id = $1', [id]))[0];

const auditOf = ({ organization }: Someone) => portal.audited(organization.id);
const suppress = (address: string, ...senders: { organization: { id: string } }[]) =>
  portal.make.query(
    `INSERT INTO suppressions (organization_id, email_normalized, refused_at, suppressed_until)
     SELECT unnest($2::uuid[]), $1, now() - interval '1 day', now() + interval '90 days'`,
    [address, senders.map(({ organization }) => organization.id)],
  );

describe('Outbox', () => {
  it('has a label for every kind of mail that organizations send', () => {
    const missing = EMAIL_KINDS.filter((kind) => !(kind in MAIL_KINDS) && !/password|passkey|sign_in|welcome/.test(kind));
    expect(missing).toEqual([]);
  });

  it('lists each mail by status, with a readable reason and without its content', async () => {
    const someone = await portal.someone('admin');
    await mail(someone, { status: 'queued', recipient: 'queued@example.org' });
    await mail(someone, { status: 'dead', recipient: 'dead@example.org', problem: 'smtp_451' });
    await mail(someone, { status: 'failed', recipient: 'failed@example.org', problem: 'host_not_found' });
    await mail(someone, { recipient: '<b>sent@example.org' });
    await mail(someone, { recipient: 'private@example.org', kind: 'password_reset' });
    const look = async (query = '') => (await portal.get(pathOf(someone) + query, someone.cookie).expect(200)).text;
    const all = await look();
    expect(all).toContain('The mail server replied with this code.');
    expect(all).toContain('smtp_451');
    expect(all).toContain('The host name cannot be resolved.');
    expect(all).toContain('&lt;b&gt;sent@example.org');
    expect(all).not.toContain('private@example.org');
    expect(all.match(/Try again/g)).toHaveLength(2);
    expect(await look('?status=dead')).toContain('dead@example.org');
    expect(await look('?status=dead')).not.toContain('queued@example.org');
    expect(await look('?status=suppressed')).toContain('No matching emails');
    // Invalid filters are ignored.
    expect(await look('?status=lost&before=x')).toContain('queued@example.org');
  });

  it('pages by keyset', async () => {
    const someone = await portal.someone('owner');
    for (let n = 0; n < 60; n++) await mail(someone, { recipient: `n${n}@example.org`, age: `${Math.floor(n / 4)} hours` });
    const text = await portal.walk(pathOf(someone), someone.cookie, 'Older<');
    const seen = [...text.matchAll(/To (n\d+)@/g)].map(([, name]) => name);
    expect(seen).toHaveLength(60);
    expect(new Set(seen).size).toBe(60);
  });

  it('looks for an address among 5,000 mails at a time', async () => {
    const someone = await portal.someone('admin');
    await mail(someone, { recipient: 'wanted@example.org', age: '1 day' });
    await portal.make.query(
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient, email_normalized, status, finished_at)
       SELECT gen_random_uuid(), $1, 'email', 'organization_invite', 'other@example.org', 'other@example.org', 'sent', now() FROM generate_series(1, 5000)`,
      [someone.organization.id],
    );
    await portal.make.query(`UPDATE outbox SET email_normalized = recipient WHERE organization_id = $1`, [someone.organization.id]);
    const look = async (query: string) => (await portal.get(pathOf(someone) + query, someone.cookie).expect(200)).text;
    const newest = await look('?to=wanted');
    expect(newest).toContain('None of the newest 5,000 of these emails matches.');
    const [, older] = /href="[^"]*outbox(\?[^"]*)">Older/.exec(newest)!;
    expect(await look(older!.replaceAll('&amp;', '&'))).toContain('wanted@example.org');
    expect(await look('?to=nobody&status=dead')).toContain('No email matches these filters.');
  });

  it('queues failed and dead mails again, with all attempts left and an audit row', async () => {
    const someone = await portal.someone('owner');
    for (const status of ['failed', 'dead']) {
      const id = await mail(someone, { status, problem: 'timeout' });
      await portal.post(`${pathOf(someone)}/messages/${id}/retry`, {}, someone.cookie).expect(303);
      expect(await rowOf(id)).toEqual({ status: 'queued', attempts: 0 });
    }
    const sent = await mail(someone);
    await portal.post(`${pathOf(someone)}/messages/${sent}/retry`, {}, someone.cookie).expect(303);
    expect(await rowOf(sent)).toMatchObject({ status: 'sent' });
    const rows = await auditOf(someone);
    expect(rows).toMatchObject([{ operation: 'retry_mail', by: someone.user.id }, { operation: 'retry_mail' }]);
  });
});

describe('suppressed addresses', () => {
  it('are shown to and lifted by the organization whose mail was refused, with an audit row without the address', async () => {
    const [mine, theirs] = [await portal.someone('owner'), await portal.someone('owner')];
    await suppress('gone@example.org', mine, theirs);
    await suppress('elsewhere@example.org', theirs);
    const { text } = await portal.get(pathOf(mine), mine.cookie).expect(200);
    expect(text).toContain('gone@example.org');
    expect(text).not.toContain('elsewhere@');
    const allow = (address: string) => portal.post(`${pathOf(mine)}/allow`, { address }, mine.cookie);
    for (const address of ['elsewhere@example.org', 'unknown@example.org', '', 'x'.repeat(5_000)]) await allow(address).expect(404);
    await allow('gone@example.org').expect(303);
    await allow('gone@example.org').expect(404);
    expect(await auditOf(mine)).toEqual([{ operation: 'allow_address', by: mine.user.id, details: {} }]);
    expect((await portal.get(pathOf(mine), mine.cookie)).text).not.toContain('gone@example.org');
    // What one organization knows better changes nothing for another.
    for (const address of ['gone@example.org', 'elsewhere@example.org'])
      expect((await portal.get(pathOf(theirs), theirs.cookie)).text).toContain(address);
  });
});
