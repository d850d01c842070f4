import { Agent, request } from 'node:http';
import { image } from '../../support/data/images.js';
import { Random } from '../../support/data/random.js';
import { reached, seedOf } from '../../support/faults/promise.js';
import { UploadProcess } from '../../support/http/upload-process.js';
import { field, MULTIPART, multipart, part } from '../../support/http/uploads.js';
import { fixture } from '../../support/process/fixture.js';

const BODIES = 20_000;

const seed = seedOf();

const uploading = await fixture(UploadProcess.start());

describe(`${BODIES} mutated multipart bodies`, () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 6 });
  afterAll(() => agent.destroy());

  function post(body: Buffer, type: string): Promise<number> {
    return new Promise((resolve) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: uploading.api.port,
          method: 'POST',
          path: '/v1/blog-images',
          agent,
          headers: {
            Authorization: `Token token=${uploading.uploads.key}`,
            'Content-Type': type,
            'Content-Length': body.length,
          },
        },
        (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode!));
          response.on('error', () => resolve(0));
        },
      );
      sent.on('error', () => resolve(0));
      sent.setTimeout(60_000, () => sent.destroy());
      sent.end(body);
    });
  }

  /** Fragments that trip multipart parsers. */
  const FRAGMENTS = ['--a-boundary-of-the-tests', '--a-boundary-of-the-tests--', '\r\n', '\r', '\n', '\r\n\r\n', '\0', '--', ':',
    '"', '\\"', ';', '=', 'Content-Disposition: form-data; name="file"; filename="x.png"\r\n', 'Content-Disposition: ',
    'filename*=utf-8\'\'%ff%00', 'name="__proto__"', 'name="a[9999999]"', 'Content-Transfer-Encoding: base64\r\n',
    'A'.repeat(20_000), 'X-Header: 1\r\n'.repeat(3_000), '\xff\xfe', 'filename="' + '%'.repeat(500)]; // prettier-ignore

  function mutate(random: Random, body: Buffer): Buffer {
    let mutated = body;
    for (let times = 1 + random.integer(4); times > 0; times--) {
      const at = random.integer(mutated.length + 1);
      const to = Math.min(mutated.length, at + random.integer(60));
      const [before, between, after] = [mutated.subarray(0, at), mutated.subarray(at, to), mutated.subarray(to)];
      const fragment = Buffer.from(random.pick(FRAGMENTS), 'latin1');
      mutated = random.pick([
        () => Buffer.concat([before, after]),
        () => Buffer.concat([before, between, between, after]),
        () => Buffer.concat([before, fragment, between, after]),
        () => Buffer.concat([before, fragment, after]),
        () => before,
        () => Buffer.concat([before, random.bytes(between.length), after]),
      ])();
    }
    return mutated;
  }

  it('cause no exit and no 5xx, leave no temporary file and no descriptor, and store one image per 201', async () => {
    const random = new Random(seed);
    const png = await image('png', { width: 4, height: 4 });
    const seeds = [
      multipart(part(png)),
      multipart(part(png, { name: '图 片.png', type: 'image/png' })),
      multipart(field('a', 'b'), part(png)),
      multipart(part(png), part(png)),
      multipart(part('')),
    ];
    const types = [MULTIPART, MULTIPART, MULTIPART, MULTIPART, 'multipart/form-data', `${MULTIPART}; charset=utf-16`,
      'multipart/form-data; boundary=""', `multipart/form-data; boundary=${'b'.repeat(200)}`]; // prettier-ignore
    const statuses: Record<number, number> = {};
    // Opens all the PostgreSQL connections that the run needs, so that they do not count as leaked descriptors.
    await Promise.all(Array.from({ length: 6 }, () => post(seeds[0]!, MULTIPART)));
    const [stored, open] = [uploading.uploads.files().length, uploading.descriptors()];
    let left = BODIES;
    const work = async () => {
      while (left-- > 0) {
        const body = random.chance(0.02) ? random.pick(seeds) : mutate(random, random.pick(seeds));
        const status = await post(body, random.pick(types));
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 6 }, work));
    console.log(statuses);
    reached(36, `${BODIES} bodies: ${uploading.api.ended === null ? 0 : 1} exits`, seed);
    expect(uploading.api.ended).toBeNull();
    expect(uploading.api.stderr).toBe('');
    expect(Object.keys(statuses).filter((status) => !['201', '413', '415', '422'].includes(status))).toEqual([]);
    // The mutations produced valid and invalid bodies.
    expect(statuses[201]).toBeGreaterThan(BODIES / 100);
    expect(statuses[422]).toBeGreaterThan(BODIES / 4);
    agent.destroy();
    await vi.waitFor(() => expect(uploading.descriptors()).toBeLessThanOrEqual(open), 30_000);
    expect(uploading.temporaryFiles()).toEqual([]);
    expect(uploading.uploads.files().length - stored).toBe(statuses[201]);
  }, 900_000);
});
