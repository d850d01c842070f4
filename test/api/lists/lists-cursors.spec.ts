import { TestApi } from '../../support/http/api.js';
import { Random } from '../../support/data/random.js';
import { documentOf, filtersOf, keyedReads, nameOf, queryOf, type Route, sampleOf } from '../../support/http/routes.js';
import { createFixtures, pathOf, type OrganizationFixture } from '../../support/data/fixtures.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { fixture } from '../../support/process/fixture.js';

const SECRET = '5a'.repeat(32);

const api = await fixture(TestApi.start({ ENCRYPTION_KEY: SECRET }));
const fixtures = await createFixtures(api);
const document = await documentOf(api);
// Events have cursors of their own: events.spec.ts.
const lists = keyedReads(api).filter((route) => queryOf(document, route).has('cursor') && route.path !== '/v1/events');
// A second row wherever the fixtures have one, so that every list has a next page.
for (const { id, path } of [fixtures.a, fixtures.b]) {
  const review = { sessionId: path.session_id!, comment: 'Kind', isPublic: true };
  await fixtures.make.feedback(id, path.tutor_id!, review);
  await fixtures.make.adjustment(id, path.tutor_id!);
  const { id: student } = await fixtures.make.student(id);
  await fixtures.make.participant(id, path.session_id!, student);
  await fixtures.make.tutorStudent(id, path.tutor_id!, student);
}

interface Body {
  meta: { next_cursor: string | null };
  data: { id: string }[];
}

async function read(route: Route, school: OrganizationFixture, query: string, path = pathOf(route, school)) {
  const answer = await api.get(`${path}?${query}`, school.key);
  return { status: answer.status, body: answer.body as Body };
}

/** The cursor after the first record. */
async function cursorOf(route: Route, school: OrganizationFixture, filter = ''): Promise<string> {
  const { status, body } = await read(route, school, `cursor=start&limit=1${filter}`);
  if (status !== 200) throw new Error(`${nameOf(route)} ${status} ${JSON.stringify(body)}`);
  if (!body.meta.next_cursor) throw new Error(`${nameOf(route)}${filter}: two rows are needed for a next page`);
  return body.meta.next_cursor;
}

const REFUSED = { status: 422, body: { detail: [{ loc: ['query', 'cursor'], type: 'value_error', msg: expect.any(String) as string }] } };

/** Filters for the next request that the cursor was not created with. */
function otherFilters(route: Route): string[] {
  return [...filtersOf(document, route)].map(([name, schema]) => `&${name}=${sampleOf(name, schema, fixtures.a)}`);
}

describe('a cursor', () => {
  it('works with other keys of the organization, and in every process with the same secret and no other', async () => {
    const another = await api.key(fixtures.a.id);
    const same = await TestApi.start({ ENCRYPTION_KEY: SECRET }, api.database);
    const other = await TestApi.start({}, api.database);
    for (const route of lists) {
      const path = `${pathOf(route, fixtures.a)}?cursor=${await cursorOf(route, fixtures.a)}`;
      const [own, answer] = [await api.get(path, fixtures.a.key), await same.get(path, another)];
      expect([nameOf(route), answer.status, answer.body]).toEqual([nameOf(route), 200, own.body]);
      expect([nameOf(route), (await other.get(path, fixtures.a.key)).status]).toEqual([nameOf(route), 422]);
    }
    await same.close();
    await other.close();
  });

  it('is refused for another organization', async () => {
    for (const route of lists) {
      const cursor = await cursorOf(route, fixtures.a);
      expect([nameOf(route), await read(route, fixtures.b, `cursor=${cursor}`)]).toEqual([nameOf(route), REFUSED]);
      expect([nameOf(route), await read(route, fixtures.a, `cursor=${cursor}`)]).not.toEqual([nameOf(route), REFUSED]);
    }
  });

  it('is refused on every other list', async () => {
    for (const [number, made] of lists.entries()) {
      const cursor = await cursorOf(made, fixtures.a);
      for (const route of someOf(
        lists.filter((other) => other !== made),
        number,
        lists.length,
        6,
      )) {
        const name = `${nameOf(made)} -> ${nameOf(route)}`;
        expect([name, await read(route, fixtures.a, `cursor=${cursor}`)]).toEqual([name, REFUSED]);
      }
    }
  });

  it('is refused with an added filter', async () => {
    let cells = 0;
    for (const route of lists) {
      const cursor = await cursorOf(route, fixtures.a);
      for (const filter of otherFilters(route)) {
        const name = `${nameOf(route)}${filter}`;
        expect([name, await read(route, fixtures.a, `cursor=${cursor}${filter}`)]).toEqual([name, REFUSED]);
        cells++;
      }
    }
    expect(cells).toBeGreaterThan(15);
  });

  it('is refused without its filter or with another value of it', async () => {
    const [homework] = lists.filter(({ path }) => path === '/v1/homework');
    await fixtures.make.homework(fixtures.a.path.tutor_id!, { studentId: fixtures.a.path.student_id! });
    const cursor = await cursorOf(homework!, fixtures.a, '&homework_type=text');
    expect((await read(homework!, fixtures.a, `cursor=${cursor}&homework_type=text`)).status).toBe(200);
    for (const filter of ['', '&homework_type=exam', '&homework_type=text&scope=student', '&scope=student']) {
      expect([filter, await read(homework!, fixtures.a, `cursor=${cursor}${filter}`)]).toEqual([filter, REFUSED]);
    }
  });

  it('of a tutor’s reviews is refused for another tutor', async () => {
    const other = await fixtures.make.tutor(fixtures.a.id);
    for (const comment of ['Good', 'Better']) {
      await fixtures.make.feedback(fixtures.a.id, other.id, { comment, isPublic: true });
    }
    const nested = lists.filter(({ path }) => path.includes(':'));
    const nestedNames = ['conversations/{conversation_id}/messages', 'tutors/{tutor_id}/reviews', 'tutors/{tutor_id}/students'];
    expect(nested.map(nameOf).sort()).toEqual(nestedNames.map((path) => `GET /v1/${path}`));
    const reviews = nested.find(({ path }) => path.endsWith('/reviews'))!;
    const path = `/v1/tutors/${other.id}/reviews`;
    const cursor = await cursorOf(reviews, fixtures.a);
    expect((await read(reviews, fixtures.a, 'cursor=start', path)).body.data).toHaveLength(2);
    expect(await read(reviews, fixtures.a, `cursor=${cursor}`, path)).toEqual(REFUSED);
  });

  it('is refused with any bit changed', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const random = new Random(11);
    for (const route of lists) {
      const cursor = await cursorOf(route, fixtures.a);
      const every = Array.from(cursor, (_, at) => at);
      const positions = route === lists[0] ? every : [random.pick(every)];
      for (const at of positions) {
        // Flips each of the six bits; the last character has four unused ones.
        for (let bit = 1; bit < 64; bit <<= 1) {
          const changed = alphabet[alphabet.indexOf(cursor[at]!) ^ bit]!;
          const forged = cursor.slice(0, at) + changed + cursor.slice(at + 1);
          expect([nameOf(route), at, bit, await read(route, fixtures.a, `cursor=${forged}`)]).toEqual([nameOf(route), at, bit, REFUSED]);
        }
      }
    }
  });

  it('is refused when truncated, extended, empty, invented or repeated', async () => {
    for (const route of lists) {
      const cursor = await cursorOf(route, fixtures.a);
      const row = Buffer.alloc(40);
      row.writeBigInt64BE(BigInt(Date.now() + 1_000_000));
      const wrong = [
        '',
        'start%20',
        cursor.slice(0, -1),
        `${cursor}A`,
        row.toString('base64url'),
        '_'.repeat(54),
        Buffer.from(`${new Date().toISOString()},${fixtures.a.path.tutor_id}`).toString('base64url'),
        `${cursor}&cursor=${cursor}`,
        'A'.repeat(5000),
        '%00',
      ];
      for (const given of wrong) {
        const name = `${nameOf(route)} ${given}`;
        expect([name, await read(route, fixtures.a, `cursor=${given}`)]).toEqual([name, REFUSED]);
      }
    }
  });

  it('still works after its row is deleted', async () => {
    const [adjustments] = lists.filter(({ path }) => path === '/v1/adjustments');
    const before = await read(adjustments!, fixtures.b, 'cursor=start&limit=1');
    const rest = await read(adjustments!, fixtures.b, `cursor=${before.body.meta.next_cursor!}`);
    await fixtures.make.query('DELETE FROM adjustments WHERE id = $1', [before.body.data[0]!.id]);
    expect(await read(adjustments!, fixtures.b, `cursor=${before.body.meta.next_cursor!}`)).toEqual(rest);
    expect(rest.body.data).not.toHaveLength(0);
  });
});
