import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Env } from '@app/config';
import type { Log } from '@app/logging';
import { Renderer, statementOf } from '@app/papers';
import sharp from 'sharp';
import { getDocument, OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { TestApi } from '../../support/http/api.js';
import { MoneyFixture, refusal } from '../../support/data/money-fixture.js';
import { fixture } from '../../support/process/fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tutoring-papers-'));
// Of the three languages; the other weights of its package are of no use here.
const CJK_FONT = join(dirname(createRequire(import.meta.url).resolve('@embedpdf/fonts-kr')), '../fonts/NotoSansKR-Regular.otf');
const api = await fixture(TestApi.start({ DATA_DIR: folder, CJK_FONT }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { make } = api;
let at: MoneyFixture, s1: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1]] = opened));

/** What a link serves. */
async function bytesAt(link: string) {
  const answer = await api
    .get(link)
    .buffer(true)
    .parse((response, done) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => done(null, Buffer.concat(chunks)));
    });
  return { status: answer.status, headers: answer.headers as Record<string, string>, body: answer.body as Buffer };
}

/** What the paper of an invoice says, page by page. */
async function paperOf(id: string, key = at.key) {
  const led = await api.get(`/v1/invoices/${id}/pdf`, key);
  expect(led.status).toBe(302);
  const link = led.headers.location as string;
  const { status, headers, body } = await bytesAt(link);
  expect([status, headers['content-type'], body.subarray(0, 5).toString()]).toEqual([200, 'application/pdf', '%PDF-']);
  const document = await getDocument({ data: new Uint8Array(body), useSystemFonts: false }).promise;
  const pages = await Promise.all(
    Array.from({ length: document.numPages }, async (_, page) => {
      const { items } = await (await document.getPage(page + 1)).getTextContent();
      return items.map((item) => ('str' in item ? item.str + (item.hasEOL ? ' ' : '') : '')).join('');
    }),
  );
  return { bytes: body, pages, text: pages.join(' ').replaceAll(/\s+/g, ' '), link };
}

const sells = (set: string) => make.query(`UPDATE organizations SET ${set} WHERE id = $1`, [at.calendar.school]);
const REGISTERED = `name = 'Wattle Lane', legal_name = 'Wattle Lane Tutoring Pty Ltd', tax_registered = true, business_number_label = 'ABN',
  business_number = '51 824 753 556', postal_address = '12 Wattle Lane, Carlton', phone = '+61 3 5550 1234',
  payment_instructions = E'BSB 000-000\\nAccount 12345678', pay_url = 'https://pay.example.org/{invoice_number}?c={amount_cents}'`;
const issued = async (...lines: [description: string, quantity: number, cents: number, tax?: string][]) => {
  const all = lines.map(([description, quantity, unit_amount_cents, tax]) => ({ description, quantity, unit_amount_cents, tax }));
  const { id } = at.done(await at.send<{ id: string }>('post', '/v1/invoices', { student_id: s1, lines: all.slice(0, 100) }));
  for (const line of all.slice(100)) at.done(await at.send('post', `/v1/invoices/${id}/lines`, line));
  return at.done(await at.finalize(id, { due_date: '2027-01-15' }));
};
const stored = () => readdirSync(join(folder, 'private', at.calendar.school));

describe('an invoice on paper', () => {
  it('says the seven things of a tax invoice, and how much tax is in it', async () => {
    await sells(REGISTERED);
    await make.query(`UPDATE users SET first_name = 'Linh', last_name = 'Nguyen' WHERE id = $1`, [at.parent]);
    const { id, invoice_number } = await issued(['Exam course', 2, 50_000], ['Past papers', 3, 1_250, 'free'], ['Sibling discount', 1, -1_500]);
    const { text } = await paperOf(id);
    for (const said of [
      ...['Tax invoice', 'Wattle Lane Tutoring Pty Ltd', 'ABN 51 824 753 556', invoice_number!, '15 January 2027', 'GST included'],
      ...['Exam course 2 500.00 Taxable 1,000.00', 'Past papers 3 12.50 Free 37.50', 'Sibling discount 1 -15.00 Taxable -15.00'],
      ...['Total in AUD 1,022.50', 'GST included 89.55', 'Billed to Linh Nguyen', 'For lessons of Ada Lovelace'],
      ...['BSB 000-000', 'Account 12345678', `Reference: ${invoice_number}`, 'Pay at pay.example.org'],
    ])
      expect(text).toContain(said);
    expect(text).not.toContain('Total price includes');
    const whole = await paperOf((await issued(['Course', 1, 110_000])).id);
    expect(whole.text).toContain('Total price includes GST.');
  });

  it('is no tax invoice unless the seller was registered when it was issued', async () => {
    const { id } = await issued(['Course', 1, 110_000]);
    await sells(REGISTERED);
    const { text } = await paperOf(id);
    expect(text).toMatch(/^Invoice /);
    expect(text).not.toMatch(/tax|GST|51 824/i);
  });

  it.each([
    ['Vietnamese', 'Nguyễn Thị Ngọc Ánh', 'Trần Đức Lương'],
    ['Vietnamese, decomposed', 'Nguyễn Thị Ngọc Ánh'.normalize('NFD'), 'Trần Đức Lương'.normalize('NFD')],
    ['Greek', 'Αλέξανδρος Παπαδόπουλος', 'Ζωή Ξενάκη'],
    ['Cyrillic', 'Дмитрий Жуков', 'Ґалина Їжак'],
    ['Latin', 'Zoë Mensah-Ångström', 'Łukasz Çelik'],
    ['Chinese', '明 王', '小明 陳大文'],
    ['Japanese', 'さくら 佐藤', 'タロウ 田中'],
    ['Korean', '민준 김', '서연 이'.normalize('NFD')],
  ])('prints names in %s', async (_script, parent, student) => {
    const [first, ...last] = parent.split(' ');
    await make.query('UPDATE users SET first_name = $2, last_name = $3 WHERE id = $1', [at.parent, first, last.join(' ')]);
    await make.query('UPDATE users SET first_name = $2, last_name = $3 WHERE id = $1', [s1, ...student.split(/ (.*)/).slice(0, 2)]);
    const { text } = await paperOf((await issued([`Lesson of ${student}`, 1, 100])).id);
    for (const name of [parent, student]) expect(text).toContain(name.normalize('NFC'));
  });

  it('wraps long texts in two fonts, and is the same whenever it is drawn', async () => {
    await sells(`name = '王小明 Tutoring', postal_address = E'서울특별시 강남구\n대한민국', payment_instructions = '口座 12345678', tax_registered = true,
      business_number_label = 'ABN', business_number = '1', tax_label = '消費稅'`);
    const long = `Lesson of 佐藤さくら, ${'數學和英文的課程'.repeat(12)}, with a few words behind`;
    const { id } = await issued([long, 1, 1_100_00]);
    const { text, bytes } = await paperOf(id);
    for (const said of ['王小明 Tutoring', '서울특별시 강남구 대한민국', '口座 12345678', '消費稅 included 100.00', 'with a few words behind'])
      expect(text).toContain(said);
    expect(text.replaceAll(' ', '')).toContain(long.replaceAll(' ', ''));
    rmSync(join(folder, 'private', at.calendar.school, id));
    expect((await paperOf(id)).bytes.equals(bytes)).toBe(true);
    expect(bytes.length).toBeLessThan(150_000);
  });

  it.each([
    ['without a font', null],
    ['with a file that is no font', fileURLToPath(import.meta.url)],
  ])('is made %s for Chinese, too', async (_way, font) => {
    const failures: unknown[] = [];
    const renderer = new Renderer({ get: () => font } as unknown as Env, { failure: (error: unknown) => failures.push(error) } as unknown as Log);
    const seller = { name: '王小明', legal_name: null, address: null, phone: null, business_number_label: null, business_number: null };
    const paper = statementOf({
      ...{ currency: 'AUD', from: '2026-01-01', to: '2026-01-31', today: '2026-02-01', openingCents: 0n, entries: [] },
      ...{ payer: { name: '陳大文', address: null }, seller: { ...seller, payment_instructions: null, pay_url: null } },
    });
    const file = await renderer.draw(paper, 'any');
    renderer.onApplicationShutdown();
    expect([file.subarray(0, 5).toString(), failures.length]).toEqual(['%PDF-', font === null ? 0 : 1]);
  });

  it('has all lines of one of 300, each page with its number, in at most 150 kB', async () => {
    await sells(REGISTERED);
    const { id, invoice_number } = await issued(['First', 1, 1]);
    // More than anybody would send by hand.
    await make.query(
      `INSERT INTO invoice_lines (id, organization_id, invoice_id, position, description, quantity, unit_amount_cents, amount_cents, tax)
       SELECT gen_random_uuid(), $1, $2, n, 'Lesson ' || n || ' of the year, 60 minutes', 1, 100000 + n, 100000 + n, 'taxable' FROM generate_series(1, 299) n`,
      [at.calendar.school, id],
    );
    const { pages, text, bytes } = await paperOf(id);
    for (let n = 1; n < 300; n++)
      expect(text).toContain(
        `Lesson ${n} of the year, 60 minutes 1 1,${String(n)
          .padStart(5, '0')
          .replace(/(...)(..)/, '$1.$2')} Taxable`,
      );
    expect(pages.length).toBeGreaterThan(5);
    pages.forEach((page, place) => expect(page).toContain(`${invoice_number}, page ${place + 1} of ${pages.length}`));
    expect(bytes.length).toBeLessThan(150_000);
    await make.query('DELETE FROM invoice_lines WHERE invoice_id = $1 AND position > 0', [id]);
  });

  it('is the same for ever, whatever is changed, and without its stored bytes', async () => {
    await sells(REGISTERED);
    const { id } = await issued(['Course', 1, 110_000]);
    const first = await paperOf(id);
    expect(stored()).toEqual([id]);
    await sells(`legal_name = 'Another', postal_address = 'Elsewhere', tax_registered = false, payment_instructions = NULL, pay_url = NULL`);
    await make.query(`UPDATE parents SET billing_name = 'Other', billing_address = 'Moved' WHERE user_id = $1`, [at.parent]);
    await at.paid(s1, 50_000);
    at.done(await at.void(id));
    expect((await paperOf(id)).bytes.equals(first.bytes)).toBe(true);
    // As after an import, which brings the snapshot and no paper.
    rmSync(join(folder, 'private', at.calendar.school, id));
    expect((await paperOf(id)).bytes.equals(first.bytes)).toBe(true);
    expect(readFileSync(join(folder, 'private', at.calendar.school, id)).equals(first.bytes)).toBe(true);
  });

  it('is made once, even if many ask for it at once', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await issued(['Course', 1, 110_000])).id));
    const papers = await Promise.all(ids.flatMap((id) => [paperOf(id), paperOf(id)]));
    for (const place of [0, 2, 4]) expect(papers[place]!.bytes.equals(papers[place + 1]!.bytes)).toBe(true);
    expect(stored().sort()).toEqual(ids.sort());
  });

  it('of an imported invoice says what is known, and nothing of tax', async () => {
    await sells(REGISTERED);
    const { id } = await make.invoice(at.calendar.school, s1, { invoiceNumber: 'OLD-1', amountDueCents: 100, status: 'open' });
    await make.invoiceLine(at.calendar.school, id, { description: 'Lesson', quantity: 1, unitAmountCents: 100, amountCents: 100 });
    const { text } = await paperOf(id);
    expect(text).toMatch(/^Invoice .*OLD-1.*Lesson 1 1\.00 1\.00/);
    expect(text).not.toMatch(/GST|Taxable/);
  });
});

describe('the logo', () => {
  const red = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
  const uses = async (organizationId: string, png: Buffer | null) => {
    await make.query('UPDATE logos SET in_use = NULL WHERE organization_id = $1', [organizationId]);
    if (png)
      await make.query('INSERT INTO logos (organization_id, digest, png, in_use) VALUES ($1, $2, $3, true)', [
        organizationId,
        createHash('sha256').update(png).digest('hex'),
        png.toString('base64'),
      ]);
  };
  /** The sizes of the pictures on the first page. */
  const pictures = async (bytes: Buffer) => {
    const page = await (await getDocument({ data: new Uint8Array(bytes) }).promise).getPage(1);
    const { fnArray, argsArray } = await page.getOperatorList();
    return fnArray.flatMap((operator, place) =>
      operator === OPS.paintImageXObject ? [(argsArray[place] as [string, number, number]).slice(1)] : [],
    );
  };

  it('is that of the day of issue, on every paper, and of this organization alone', async () => {
    const { school } = at.calendar;
    await sells(REGISTERED);
    await uses((await make.organization()).id, await red(30, 30));
    const plain = await issued(['Course', 1, 110_000]);
    await uses(school, await red(480, 120));
    const [first, void_] = [await issued(['Course', 1, 110_000]), await issued(['Course', 1, 110_000])];
    const drawn = await paperOf(first.id);
    await uses(school, await red(120, 40));
    const second = await issued(['Course', 1, 110_000]);
    expect(await pictures((await paperOf(plain.id)).bytes)).toEqual([]);
    expect(await pictures(drawn.bytes)).toEqual([[480, 120]]);
    expect(await pictures((await paperOf(second.id)).bytes)).toEqual([[120, 40]]);
    rmSync(join(folder, 'private', school, first.id));
    expect((await paperOf(first.id)).bytes.equals(drawn.bytes)).toBe(true);
    at.done(await at.void(void_.id));
    const others = [
      `invoices/${void_.id}/adjustment-note.pdf`,
      `payments/${(await at.paid(s1, 50_000)).id}/receipt.pdf`,
      `parents/${at.parent}/statement.pdf?from=2026-01-01&to=2026-12-31`,
    ];
    const found = [];
    for (const path of others) {
      const led = await api.get(`/v1/${path}`, at.key);
      found.push((await pictures((await bytesAt(led.headers.location as string)).body))[0]);
    }
    expect(found).toEqual([[480, 120], [120, 40], [120, 40]]); // prettier-ignore
  });
});

describe('who sees it', () => {
  it('a draft has none; others’ and unknown ones are 404, without `read` 403', async () => {
    const draft = await at.drafted(s1, 100);
    expect(refusal(await at.send('get', `/v1/invoices/${draft.id}/pdf`))).toEqual([409, 'invalid_state']);
    const { id } = await issued(['Course', 1, 100]);
    const other = await api.key((await make.organization()).id, { scopes: ['read'] });
    expect((await api.get(`/v1/invoices/${id}/pdf`, other)).status).toBe(404);
    expect((await api.get(`/v1/invoices/${at.parent}/pdf`, at.key)).status).toBe(404);
    const blind = await api.key(at.calendar.school, { scopes: ['payments:write'] });
    expect((await api.get(`/v1/invoices/${id}/pdf`, blind)).status).toBe(403);
  });

  it('a link ends with its key, and shows nothing of who was erased', async () => {
    const { id } = await issued(['Course', 1, 100]);
    const key = await api.key(at.calendar.school, { name: 'Short', scopes: ['read'] });
    const { link } = await paperOf(id, key);
    await make.query(`UPDATE api_keys SET revoked_at = now() WHERE organization_id = $1 AND name = 'Short'`, [at.calendar.school]);
    expect((await bytesAt(link)).status).toBe(404);
    expect((await bytesAt(`${link.slice(0, -2)}AA`)).status).toBe(404);
    const mine = (await paperOf(id)).link;
    await make.query('UPDATE invoices SET person_erased = true WHERE id = $1', [id]);
    expect([(await bytesAt(mine)).status, (await api.get(`/v1/invoices/${id}/pdf`, at.key)).status]).toEqual([404, 404]);
    expect(await at.invoice(id)).toMatchObject({ billed_to: null, tax_cents: 0 });
  });
});
