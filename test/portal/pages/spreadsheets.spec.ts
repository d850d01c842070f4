import { EventEmitter } from 'node:events';
import { Spreadsheets } from '../../../apps/portal/src/web/spreadsheets.js';
import type { Managed } from '../../../apps/portal/src/web/access.decorators.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();

it('files longer than a part are complete and in order, with one header', async () => {
  const someone = await portal.someone('owner');
  await portal.make.query(
    `INSERT INTO audit_log (id, organization_id, operation, status, result, request_id, created_at)
     SELECT gen_random_uuid(), $1, 'retry_mail', 200, 'done', 'request-' || n, now() - n * interval '1 minute' FROM generate_series(1, 1234) n`,
    [someone.organization.id],
  );
  const { text } = await portal.get(`/o/${someone.organization.slug}/audit/download`, someone.cookie).expect(200);
  const [header, ...rows] = text.trimEnd().split('\r\n');
  expect(header).toMatch(/^\ufefftime,who,what,/);
  expect(rows.map((row) => /request-(\d+)/.exec(row)?.[1])).toEqual(Array.from({ length: 1234 }, (_, n) => String(n + 1)));
  // The next one may begin at once.
  await portal.get(`/o/${someone.organization.slug}/audit/download`, someone.cookie).expect(200);
});

it('an organization downloads one file at a time, until its client has left', async () => {
  const spreadsheets = new Spreadsheets();
  const begin = (organizationId: string) => {
    const res = new EventEmitter();
    const parts = (async function* () {
      for (let n = 0; ; n++) yield await Promise.resolve([{ n }]);
    })();
    const sent = spreadsheets.send({ organizationId, request: { res } } as unknown as Managed, { name: 'x', columns: ['n'], parts });
    return { res, sent };
  };
  const first = begin('one');
  await first.sent;
  await expect(begin('one').sent).rejects.toMatchObject({ status: 503, title: 'One file at a time', headers: { 'Retry-After': '5' } });
  const other = begin('another');
  await other.sent;
  first.res.emit('close');
  await (await begin('one').sent).getStream().take(2).toArray();
});
