import { v7 as uuidv7 } from 'uuid';
import { image } from '../../support/data/images.js';
import { codeOf, faultsOf, refusedUploads } from '../../support/http/refused-uploads.js';
import { field, MULTIPART, multipart, part } from '../../support/http/uploads.js';

const { uploads, png } = await refusedUploads();

/** The files before each test; a refused upload must not add any. */
let before: string[];
beforeEach(() => {
  before = uploads.files();
});

describe('the form', () => {
  const FORMS: [string, () => Buffer[], [string, string]][] = [
    ['no part', () => [], ['body.file', 'missing']],
    ['no file name', () => [part(png, { name: '' })], ['body.file', 'value_error']],
    ['an empty file name', () => [Buffer.from(part(png).toString('latin1').replace('photo.jpg', ''), 'latin1')], ['body.file', 'value_error']], // prettier-ignore
    ['another name of the part', () => [part(png, { field: 'image' })], ['body.file', 'value_error']],
    ['file[]', () => [part(png, { field: 'file[]' })], ['body.file', 'value_error']],
    ['__proto__', () => [part(png, { field: '__proto__' })], ['body.file', 'value_error']],
    ['a long part name', () => [part(png, { field: 'f'.repeat(5000) })], ['body.file', 'value_error']],
    ['two files', () => [part(png), part(png)], ['body.file', 'value_error']],
    ['another file first', () => [part(png, { field: 'a' }), part(png)], ['body.file', 'value_error']],
    ['a field first', () => [field('title', 'x'), part(png)], ['body.file', 'value_error']],
    ['a field after it', () => [part(png), field('title', 'x')], ['body.file', 'value_error']],
    ['a field named file', () => [field('file', 'x')], ['body.file', 'value_error']],
    ['a thousand fields', () => Array.from({ length: 1000 }, (_, n) => field(`f${n}`, 'x')), ['body.file', 'value_error']], // prettier-ignore
  ];

  it.each(FORMS)('with %s returns 422', async (_what, parts, fault) => {
    const answer = await uploads.send('', { parts: multipart(...parts()) });
    expect([answer.status, faultsOf(answer)]).toEqual([422, [fault]]);
    expect(uploads.files()).toEqual(before);
  });

  it('that is not multipart or is cut short returns 422', async () => {
    const whole = multipart(part(png));
    const bodies = [Buffer.from('{}'), Buffer.from('x'.repeat(100_000)), whole.subarray(0, -4), whole.subarray(0, 60)];
    for (const parts of bodies) expect((await uploads.send('', { parts })).status).toBe(422);
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=other']) {
      expect((await uploads.send(png, { headers: { 'Content-Type': type } })).status).toBe(422);
    }
    expect((await uploads.send('', { parts: Buffer.alloc(0) })).status).toBe(422);
  });
});

it('is answered wherever a boundary interrupts the headers of its part', async () => {
  const boundary = `\r\n--${MULTIPART.split('=')[1]}`;
  const ends = ['', '\r\n', '--', '--\r\n', '--\r\n\r\n', '--\r\n\r\n--'];
  // The second part has no file name, so nothing stores its content.
  const wholes = ['', '-', '--', '\r\n', '\r\n\r\n', '--\r\n\r\n--'].flatMap((content) => {
    return [part(content), Buffer.from(part(content).toString().replace('photo.jpg', ''))];
  });
  // At every place, each end in two of the parts.
  const bodies = wholes.flatMap((whole, n) =>
    Array.from({ length: whole.length }, (_, at) => [
      whole.subarray(0, at),
      Buffer.from(boundary + ends[(n + at) % ends.length]!),
      whole.subarray(at),
    ]),
  );
  const statuses = new Set<number>();
  const work = async () => {
    for (let body = bodies.pop(); body; body = bodies.pop()) {
      statuses.add((await uploads.send('', { parts: multipart(Buffer.concat(body)) })).status);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  expect([...statuses].filter((status) => status !== 415 && status !== 422)).toEqual([]);
  expect(uploads.files()).toEqual(before);
});

describe('the file name', () => {
  it.each([
    ['quotes', '\\"'], ['backslashes', '\\\\'], ['dots', '.'], ['dots and letters', '.a'], ['slashes', '/'], ['dots before a letter', '..a'],
  ])('made of %s is read at 15,000 characters and refused at 200,000', async (_, unit) => {
    const upload = (length: number) =>
      uploads.send('', { parts: multipart(part('no image', { name: `a${unit.repeat(length / unit.length)}a` })) });
    expect((await upload(15_000)).status).toBe(415);
    expect(faultsOf(await upload(200_000))).toEqual([['body', 'value_error']]);
    expect(uploads.files()).toEqual(before);
  }); // prettier-ignore
});

describe('the target', () => {
  it('platform requires the capability and then a brand', async () => {
    for (const query of ['?target=platform', '?target=platform&brand=primary']) {
      const answer = await uploads.send(png, { query });
      expect([answer.status, codeOf(answer)]).toEqual([403, 'platform_blog_required']);
    }
    const missing = await uploads.send(png, { query: '?target=platform', key: uploads.platformKey });
    expect([missing.status, faultsOf(missing)]).toEqual([422, [['query.brand', 'missing']]]);
    expect(uploads.files()).toEqual(before);
    const there = await uploads.send(png, { query: '?target=platform&brand=secondary', key: uploads.platformKey });
    expect([there.status, there.body.path.split('-')[0]]).toEqual([201, expect.stringMatching(/^platform\/secondary\//)]); // prettier-ignore
  });

  it('org is the key’s own organization and takes no brand', async () => {
    for (const query of ['', '?target=org']) {
      for (const key of [uploads.key, uploads.platformKey]) {
        expect((await uploads.send(png, { query, key })).body.path).toMatch(new RegExp(`^org/${uploads.school}/`));
      }
    }
    const before = uploads.files();
    for (const query of ['?target=org&brand=primary', '?brand=secondary']) {
      const answer = await uploads.send(png, { query });
      expect([answer.status, faultsOf(answer)]).toEqual([422, [['query.brand', 'extra_forbidden']]]);
    }
    expect(uploads.files()).toEqual(before);
  });

  it.each([
    ['?target=other', 'query.target', 'enum'],
    ['?brand=third', 'query.brand', 'enum'],
    ['?brand=..%2f..', 'query.brand', 'enum'],
    ['?target=org&target=org', 'query.target', 'value_error'],
    ['?folder=a', 'query.folder', 'extra_forbidden'],
  ])('%s returns 422', async (query, loc, type) => {
    const answer = await uploads.send(png, { query, key: uploads.platformKey });
    expect([answer.status, faultsOf(answer)]).toEqual([422, [[loc, type]]]);
  });
});

describe('/v1/blog-images', () => {
  it('is replayed and stored once when repeated with its Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': uuidv7() };
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => uploads.send(png, { headers })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === 'true')).toHaveLength(4);
    await vi.waitFor(() => expect(uploads.files()).toHaveLength(before.length + 1));
    expect((await uploads.media(answers[0]!.body.path)).status).toBe(200);
  });

  it('is a mismatch when it repeats a key with another file, name or target', async () => {
    const headers = { 'Idempotency-Key': uuidv7() };
    const first = await uploads.send(png, { headers, key: uploads.platformKey });
    expect(first.status).toBe(201);
    for (const [file, wish] of [
      [await image('gif'), {}],
      [png, { name: 'other.jpg' }],
      [png, { query: '?target=platform&brand=primary' }],
    ] as const) {
      const answer = await uploads.send(file, { headers, key: uploads.platformKey, ...wish });
      expect([answer.status, faultsOf(answer)]).toEqual([422, [['header.idempotency-key', 'value_error']]]);
    }
    await vi.waitFor(() => expect(uploads.files()).toHaveLength(before.length + 1));
    expect((await uploads.media(first.body.path)).status).toBe(200);
  });

  it('leaves no file when its transaction fails', async () => {
    await uploads.make.query("ALTER TABLE audit_log ADD CONSTRAINT planted CHECK (result <> 'done') NOT VALID");
    try {
      const answer = await uploads.send(png);
      expect(answer.status).toBe(500);
    } finally {
      await uploads.make.query('ALTER TABLE audit_log DROP CONSTRAINT planted');
    }
    await vi.waitFor(() => expect(uploads.files()).toEqual(before));
  });
});
