import { v7 as uuidv7 } from 'uuid';
import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

type Row = Record<string, unknown>;
type Replaced = Record<'created' | 'changed' | 'deleted', string[]>;

/** An organization's table of rates, and a client of it. */
async function open() {
  const at = await CalendarFixture.open(api);
  const key = await api.key(at.school, { scopes: ['read', 'settings:write'] });
  const list = '/v1/rate-cells?include_pay=true&limit=100';
  const rows = async () => (await at.send<{ data: Row[] }>('get', list, undefined, { key })).body.data;
  const etag = async (query = '') => (await at.send('get', `/v1/rate-cells${query}`, undefined, { key })).headers.etag!;
  const put = (rate_cells: Row[], ifMatch?: string, more: { key?: string; idempotencyKey?: string } = {}) =>
    at.send<Replaced>('put', '/v1/rate-cells', { rate_cells }, { key, ifMatch, ...more });
  const send = (method: 'post' | 'patch' | 'delete', path: string, body?: object) => at.send<Row>(method, `/v1/rate-cells${path}`, body, { key });
  const [band, tier] = [(await make.rateBand(at.school)).id, (await make.tutorTier(at.school)).id];
  return { at, key, rows, etag, put, send, band, tier };
}

describe('PUT /v1/rate-cells', () => {
  it('keeps the ids and the absent fields of combinations that exist, and deletes those that are not sent', async () => {
    const { at, rows, etag, put, band, tier } = await open();
    const subject = await make.subject(at.school, { code: 'methods_34' });
    const pay = { tutor_pay_mode: 'percentage', tutor_pay_pct: 62.5, tutor_flat_rate_cents: null };
    const combination = { band_id: band, tutor_tier_id: tier, subject_id: 'methods_34', session_kind: 'group' };
    const made = await put(
      [{ ...combination, student_rate_cents: 4500, inperson_surcharge_cents: 700, ...pay }, { student_rate_cents: 8000 }],
      await etag(),
    );
    expect(made).toMatchObject({ status: 200, body: { changed: [], deleted: [] }, headers: { etag: await etag() } });
    const [first, second] = made.body.created;
    const stored = { ...combination, subject_id: subject.id, inperson_surcharge_cents: 700, ...pay };
    expect(await rows()).toEqual(expect.arrayContaining([expect.objectContaining({ id: first, ...stored, student_rate_cents: 4500 })]));

    const more = { session_kind: 'classroom', student_rate_cents: 3000 };
    const { body, headers } = await put([more, { ...combination, subject_id: subject.id, student_rate_cents: 4700 }], made.headers.etag);
    expect(body).toEqual({ created: [expect.any(String)], changed: [first], deleted: [second] });
    expect(await rows()).toHaveLength(2);
    expect((await rows()).find(({ id }) => id === first)).toMatchObject({ ...stored, student_rate_cents: 4700 });

    const again = await put([more, { ...combination, student_rate_cents: 4700 }], headers.etag);
    expect(again.body).toEqual({ created: [], changed: [], deleted: [] });
    expect(again.headers.etag).toBe(headers.etag);
    const [audited] = await make.query<{ details: object }>(
      `SELECT details FROM audit_log WHERE organization_id = $1 AND operation = 'PUT /v1/rate-cells' ORDER BY id OFFSET 1`,
      [at.school],
    );
    expect(audited!.details).toMatchObject({ created: 1, changed: 1, deleted: 1 });
    const emptied = await put([], again.headers.etag);
    expect([emptied.body.deleted.length, await rows()]).toEqual([2, []]);
    expect(emptied.headers.etag).toBe(await etag());
  });

  it('clears what tutors get only with clear_pay', async () => {
    const { at, key, rows, put } = await open();
    const pay = { tutor_pay_mode: 'percentage', tutor_pay_pct: 62.5, tutor_flat_rate_cents: null };
    const none = { tutor_pay_mode: null, tutor_pay_pct: null, tutor_flat_rate_cents: null };
    await put([{ student_rate_cents: 8000, ...pay }], '*');
    for (const [row, kept] of [
      [{ ...none }, pay],
      [{ ...none, clear_pay: false }, pay],
      [{ tutor_pay_pct: 70 }, { ...pay, tutor_pay_pct: 70 }],
      [
        { tutor_pay_mode: 'flat', tutor_flat_rate_cents: 4000, clear_pay: true },
        { ...none, tutor_pay_mode: 'flat', tutor_flat_rate_cents: 4000 },
      ],
      [{ clear_pay: true }, none],
    ] as const) {
      expect((await put([row], '*')).status).toBe(200);
      const [shown] = await rows();
      expect(shown).toMatchObject({ student_rate_cents: 8000, ...kept });
      expect((await at.send('get', `/v1/rate-cells/${String(shown!.id)}`, undefined, { key })).body).toEqual(shown);
    }
    await put([{ student_rate_cents: null }], '*');
    expect(await rows()).toMatchObject([{ student_rate_cents: null }]);
  });

  it('refuses a mode of pay without its number, and a number without a mode: POST, PATCH and PUT alike', async () => {
    const { rows, put, send } = await open();
    const wrong = [
      [{ tutor_pay_mode: 'percentage' }, 'tutor_pay_pct'],
      [{ tutor_pay_mode: 'percentage', tutor_flat_rate_cents: 4000 }, 'tutor_pay_pct'],
      [{ tutor_pay_mode: 'flat' }, 'tutor_flat_rate_cents'],
      [{ tutor_pay_mode: 'flat', tutor_pay_pct: 60 }, 'tutor_flat_rate_cents'],
      [{ tutor_pay_pct: 60 }, 'tutor_pay_mode'],
      [{ tutor_flat_rate_cents: 4000 }, 'tutor_pay_mode'],
    ] as const;
    const made = await send('post', '', { student_rate_cents: 8000 });
    const refused = (loc: (string | number)[]) => ({
      status: 422,
      body: { detail: [{ loc: ['body', ...loc], msg: expect.stringMatching(/^Must be given .*\.$/) as string }] },
    });
    for (const [pay, at] of wrong) {
      expect(await send('post', '', { session_kind: 'group', student_rate_cents: 1, ...pay })).toMatchObject(refused([at]));
      expect(await send('patch', `/${String(made.body.id)}`, pay)).toMatchObject(refused([at]));
      for (const row of [pay, { session_kind: 'group', ...pay }])
        expect(await put([{ session_kind: 'classroom' }, row], '*')).toMatchObject(refused(['rate_cells', 1, at]));
    }
    const one = `/${String(made.body.id)}`;
    expect((await send('patch', one, { tutor_pay_mode: 'flat', tutor_flat_rate_cents: 0 })).status).toBe(200);
    expect(await send('patch', one, { tutor_flat_rate_cents: null })).toMatchObject(refused(['tutor_flat_rate_cents']));
    expect(await put([{ tutor_pay_mode: 'percentage' }], '*')).toMatchObject(refused(['rate_cells', 0, 'tutor_pay_pct']));
    expect((await put([{ tutor_pay_mode: 'flat', clear_pay: true, tutor_flat_rate_cents: 4000 }], '*')).status).toBe(200);
    expect(await rows()).toMatchObject([{ tutor_pay_mode: 'flat', tutor_flat_rate_cents: 4000, student_rate_cents: 8000 }]);
  });

  it('is all or nothing: no combination twice, no unknown reference, at most 2,000 rows', async () => {
    const { at, rows, put, band } = await open();
    const other = await open();
    const subject = await make.subject(at.school, { code: 'methods_34' });
    const archived = await make.subject(at.school, { isArchived: true });
    await put([{ student_rate_cents: 8000 }], '*');
    const before = await rows();
    const twice = await put([{ subject_id: 'methods_34' }, { band_id: band }, { subject_id: subject.id }], '*');
    expect(twice).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'rate_cells', 2] }] } });
    const foreign = { band_id: other.band, tutor_tier_id: other.tier, subject_id: (await make.subject(other.at.school)).id };
    for (const [name, id] of Object.entries(foreign)) {
      for (const unknown of [id, uuidv7()]) expect([name, (await put([{ band_id: band }, { [name]: unknown }], '*')).status]).toEqual([name, 404]);
    }
    expect((await put([{ subject_id: archived.id }], '*')).status).toBe(404);
    const many = Array.from({ length: 2001 }, (_, at) => ({ student_rate_cents: at }));
    expect((await put(many, '*')).body.detail).toMatchObject([{ loc: ['body', 'rate_cells'] }]);
    expect((await put([{ student_rate_cents: -1 }], '*')).status).toBe(422);
    expect(await rows()).toEqual(before);
  });

  it('takes 2,000 rows, and sessions that exist keep their price', async () => {
    const { at, put, etag } = await open();
    await at.cell({ student_rate_cents: 8000 });
    const { body } = await at.book('2098-04-01T01:00:00Z');
    const codes = Array.from({ length: 500 }, (_, index) => `subject_${index}`);
    await make.insert(
      'subjects',
      codes.map((code) => ({ id: uuidv7(), code, name: code })),
      { organization_id: at.school },
    );
    const kinds = ['1on1_online', '1on1_inperson', 'group', 'classroom'];
    const all = codes.flatMap((subject_id) => kinds.map((session_kind) => ({ subject_id, session_kind, student_rate_cents: 1 })));
    const replaced = await put(all, await etag());
    expect([replaced.status, replaced.body.created.length, replaced.body.deleted.length]).toEqual([200, 2000, 1]);
    expect((await put(all, replaced.headers.etag)).body).toEqual({ created: [], changed: [], deleted: [] });
    expect((await at.participants(body.id)).map(({ rate_cents }) => rate_cents)).toEqual([8000]);
  });

  it('needs the version of the whole table', async () => {
    const { put, etag, send, rows } = await open();
    expect((await put([])).body.error).toMatchObject({ code: 'precondition_failed', message: 'Send the ETag of the list in If-Match.' });
    await put([{ student_rate_cents: 1 }, { session_kind: 'group' }], '*');
    expect(new Set(await Promise.all(['', '?limit=1', '?session_kind=group', '?cursor=start', '?include_pay=true'].map(etag))).size).toBe(1);
    const changes = [
      () => send('post', '', { session_kind: 'classroom' }),
      async () => send('patch', `/${String((await rows())[0]!.id)}`, { student_rate_cents: 50 }),
      async () => send('delete', `/${String((await rows())[0]!.id)}`),
    ];
    for (const change of changes) {
      const stale = await etag();
      expect((await change()).status).toBeLessThan(300);
      expect((await put([], stale)).status).toBe(412);
    }
    expect(await rows()).not.toEqual([]);
  });

  it('of two at once with the same version one succeeds; another write before it makes it fail, too', async () => {
    const { put, etag, send, rows } = await open();
    for (let round = 1; round <= 5; round++) {
      const version = await etag();
      const both = await Promise.all([1, 2].map((rate) => put([{ student_rate_cents: rate * 100 + round }], version)));
      expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
      const [cell] = await rows();
      const now = await etag();
      const [patched, replaced] = await Promise.all([
        send('patch', `/${String(cell!.id)}`, { student_rate_cents: 9000 + round }),
        put([{ inperson_surcharge_cents: round }], now),
      ]);
      expect([patched.status, [200, 412].includes(replaced.status)]).toEqual([200, true]);
      // Whichever came first, neither undid the other.
      expect(await rows()).toMatchObject([{ student_rate_cents: 9000 + round, ...(replaced.status === 200 && { inperson_surcharge_cents: round }) }]);
    }
  });

  it('needs settings:write, shows keys without read no values, and is replayed by its key', async () => {
    const { at, put, rows } = await open();
    for (const scope of ['read', 'write'] as const)
      expect((await put([], '*', { key: await api.key(at.school, { scopes: [scope] }) })).status).toBe(403);
    const key = await api.key(at.school, { scopes: ['settings:write'] });
    const first = await put([{ student_rate_cents: 8000 }], '*', { key, idempotencyKey: 'rates-1' });
    expect(first).toMatchObject({ status: 200, body: { created: [(await rows())[0]!.id], changed: [], deleted: [] } });
    const again = await put([{ student_rate_cents: 8000 }], '"stale"', { key, idempotencyKey: 'rates-1' });
    expect([again.body, again.headers.etag, again.headers['idempotency-replayed']]).toEqual([first.body, first.headers.etag, 'true']);
  });
});
