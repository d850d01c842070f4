import { stringify } from 'csv-stringify/sync';
import { CSV, decimalOf } from '@app/exports';
import { centsOf } from '../../../apps/portal/src/money/amounts.js';
import { eachMonth, monthsUntil, readMonths } from '../../../apps/portal/src/money/months.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

describe('the earnings by month', () => {
  it('are a row for each tutor and month, as exact decimals, with formulas escaped', async () => {
    const organization = await make.organization({ timeZone: 'Australia/Melbourne', currency: 'AUD' });
    const { id, slug } = organization;
    const owner = await portal.someone('owner', { organization });
    const evil = await make.tutor(id, { user: { firstName: '=HYPERLINK("x")', lastName: 'Zoë' } });
    const left = await make.tutor(id, { status: 'archived', user: { firstName: 'Gone', lastName: 'Away' }, acceptedAt: new Date(0) });
    await make.tutor(id);
    const session = (tutorId: string, startsAt: string, tutorPayCents: number) =>
      make.session(id, { tutorId, startsAt: new Date(startsAt), tutorPayCents, status: 'completed' });
    // The last instant of March, and the first of April.
    await session(evil.id, '2026-03-31T12:59:59.999Z', 7500);
    await session(evil.id, '2026-03-31T13:00:00.000Z', 1_000_000_000_000);
    await session(evil.id, '2026-04-20T13:00:00.000Z', 5);
    await make.adjustment(id, left.id, { periodStart: '2026-04-30', periodEnd: '2026-04-30', amountCents: -1227 });
    const paid = { organizationId: id, tutorId: evil.id, currency: 'AUD' };
    await make.row('payouts', { ...paid, amountCents: 7600, paidAt: new Date('2026-03-31T12:00:00Z') });
    // Another organization's.
    const other = await make.organization();
    await make.tutor(other.id, { user: { id: evil.id } });
    await make.session(other.id, { tutorId: evil.id, startsAt: new Date('2026-04-20T13:00:00.000Z'), tutorPayCents: 999, status: 'completed' });

    const { text, headers } = await portal.get(`/o/${slug}/money/approvals/download?from=2026-03&to=2026-04`, owner.cookie).expect(200);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toBe(`attachment; filename="earnings-${slug}-2026-03-to-2026-04.csv"`);
    expect(text.split('\r\n')).toEqual([
      '\ufeffmonth,tutor_id,tutor,sessions,earned,paid_out,unpaid,currency',
      `2026-03,${evil.id},"'=HYPERLINK(""x"") Zoë",1,75.00,76.00,-1.00,AUD`,
      `2026-04,${evil.id},"'=HYPERLINK(""x"") Zoë",2,10000000000.05,0.00,10000000000.05,AUD`,
      `2026-04,${left.id},Gone Away,0,-12.27,0.00,-12.27,AUD`,
      '',
    ]);
    const may = await portal.get(`/o/${slug}/money/approvals/download?from=2026-05&to=2026-05`, owner.cookie);
    expect(may.text.trim()).toBe('month,tutor_id,tutor,sessions,earned,paid_out,unpaid,currency');
  });

  it('are of the last twelve months, unless others are asked for, and of at most 24', () => {
    const now = new Date('2026-03-31T13:00:00Z');
    const read = (query: Record<string, unknown>) => {
      const { from, to } = readMonths(query, now, 'Australia/Melbourne');
      return [from, to];
    };
    expect(Object.values(monthsUntil(now, 'Australia/Melbourne'))).toEqual(['2025-05', '2026-04']);
    expect(read({})).toEqual(['2025-05', '2026-04']);
    for (const wrong of ['2026-13', '2026-1', 'x', '', ['2026-01'], '0000-01'])
      expect(read({ from: wrong, to: wrong })).toEqual(['2025-05', '2026-04']);
    expect(read({ from: '2025-07', to: '2026-06' })).toEqual(['2025-07', '2026-06']);
    expect(read({ from: '2026-02' })).toEqual(['2026-02', '2026-04']);
    expect(read({ from: '2027-01', to: '2026-01' })).toEqual(['2026-01', '2026-01']);
    expect(read({ from: '1000-01', to: '2026-12' })).toEqual(['2025-01', '2026-12']);
  });

  it('have every day in one month, also where the clocks change', () => {
    const months = eachMonth({ from: '2025-11', to: '2026-11' }, 'Australia/Melbourne');
    expect(months.map(({ month }) => month)).toHaveLength(13);
    for (const [place, { since, until, sinceDay, untilDay }] of months.entries()) {
      const next = months[place + 1];
      if (next) expect(next.since.getTime() - until.getTime()).toBe(1);
      expect([sinceDay.slice(8), until > since]).toEqual(['01', true]);
      expect(untilDay.slice(0, 7)).toBe(sinceDay.slice(0, 7));
    }
    expect(months.find(({ month }) => month === '2026-02')!.untilDay).toBe('2026-02-28');
  });
});

describe('cells', () => {
  /** What a spreadsheet does not show, or takes for a blank. */
  const UNSEEN = Array.from({ length: 0x10000 }, (_, point) => String.fromCodePoint(point)).filter(
    (one) => one.isWellFormed() && /[\s\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(one),
  );

  it.each(['=', '+', '-', '@', '＝', '＋', '－', '＠'])('that begin with %s after anything unseen are no formulas', (sign) => {
    const cells = ['', ...UNSEEN, '\u0085\u00a0\ufeff', ' \u200b '].map((before) => `${before}${sign}1+1`);
    const written = (cell: string) => stringify([[cell]], { ...CSV, header: false, bom: false });
    expect(cells.filter((cell) => !/^"?'/.test(written(cell))).map((cell) => JSON.stringify(cell))).toEqual([]);
    expect(stringify([['Zoë = 1', ' Mia ', -5]], { ...CSV, header: false, bom: false })).toBe('Zoë = 1, Mia ,-5\r\n');
  }); // prettier-ignore
});

describe('amounts', () => {
  it.each([[0n, '0.00'], [5n, '0.05'], [-5n, '-0.05'], [-1227n, '-12.27'], [9_007_199_254_740_993n, '90071992547409.93']])('%s cents are written %s', (cents, text) => {
    expect(decimalOf(cents)).toBe(text);
  }); // prettier-ignore

  it.each([['12', 1200], ['12.5', 1250], ['12,05', 1205], ['0', 0], ['', null], ['.5', null], ['12.', null], ['1 2', null], ['١٢', null], ['99999999999', null]])('%j is read as %s', (text, cents) => {
    expect(centsOf(text)).toBe(cents);
  }); // prettier-ignore
});
