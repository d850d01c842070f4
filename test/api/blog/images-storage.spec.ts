import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import S3rver from 's3rver';
import supertest from 'supertest';
import { FORMATS, image, photo, SECRETS } from '../../support/data/images.js';
import { Uploads } from '../../support/http/uploads.js';
import { fixture } from '../../support/process/fixture.js';

const uploads = await fixture(Uploads.open({ PUBLIC_URL: 'https://api.example.org/' }));
const file = await image('png');
const { path } = (await uploads.send(file)).body;

describe('STORAGE=disk: GET /media', () => {
  it('serves the image to everybody with headers that prevent execution', async () => {
    const answer = await uploads.media(path);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).length).toBe(Number(answer.headers.get('content-length')));
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
      'content-disposition': 'inline',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
    });
  });

  it('answers HEAD without the image and If-Modified-Since with 304', async () => {
    const [get, head] = [await uploads.media(path), await uploads.media(path, { method: 'HEAD' })];
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'cache-control', 'content-security-policy']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
    // fetch would add Cache-Control: no-cache.
    const unchanged = await supertest(uploads.api.server).get(`/media/${path}`).set('If-Modified-Since', get.headers.get('last-modified')!);
    expect([unchanged.status, unchanged.text]).toEqual([304, '']);
  });

  it('returns 404 for any other path', async () => {
    const [, school, name] = path.split('/') as [string, string, string];
    const paths = [
      '',
      `org/${school}/`,
      `org/${school}/none.png`,
      `${path}/`,
      path.replace(/\.png$/, ''),
      path.replace(/\.png$/, '.svg'),
      `org/${school}/..%2f${school}%2f${name}`,
      `..%2f..%2fetc/passwd/x.png`,
      `org/${school}/%00${name}`,
      `org/${school}/${name}%00.png`,
      `org/${school}%5c..%5c${name}/x.png`,
      `.unfinished/x/y.png`,
      '../../../../etc/passwd',
    ];
    for (const wrong of paths) {
      const answer = await uploads.media(wrong);
      expect([wrong, answer.status]).toEqual([wrong, 404]);
      expect(answer.headers.get('cache-control') ?? '').not.toContain('immutable');
      expect(await answer.json()).toMatchObject({ error: { code: 'not_found', status: 404 } });
    }
  });

  it('returns 503 and keeps nothing when it cannot store', async () => {
    const held = join(uploads.dataDir, 'media');
    rmSync(held, { recursive: true });
    writeFileSync(held, 'no folder');
    const answer = await uploads.send(file);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    rmSync(held);
    expect((await uploads.send(file)).status).toBe(201);
  });
});

describe('STORAGE=s3', () => {
  const BUCKET = 'images';
  let folder: string;
  let server: S3rver;
  let client: S3Client;
  let uploads: Uploads;
  let endpoint: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tutoring-s3-'));
    server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: folder, configureBuckets: [{ name: BUCKET, configs: [] }] }); // prettier-ignore
    const { port } = await server.run();
    endpoint = `http://127.0.0.1:${port}`;
    const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
    client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
    uploads = await Uploads.open({
      STORAGE: 's3',
      S3_BUCKET: BUCKET,
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    });
  });

  afterAll(async () => {
    await uploads.stop();
    client.destroy();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const keys = async () => ((await client.send(new ListObjectsV2Command({ Bucket: BUCKET }))).Contents ?? []).map(({ Key }) => Key!);

  it.each(FORMATS)('stores a $format without metadata, with its type, at the address it returns', async ({ format, type, extension }) => {
    const answer = await uploads.send(await photo(format));
    expect(answer.status).toBe(201);
    const { path, url, size_bytes } = answer.body;
    expect(path).toMatch(new RegExp(`^org/${uploads.school}/[0-9a-f-]{36}-photo\\.${extension}$`));
    expect(url).toBe(`${endpoint}/${BUCKET}/${path}`);
    const object = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: path }));
    const bytes = Buffer.from(await object.Body!.transformToByteArray());
    expect([object.ContentType, object.CacheControl, object.ContentDisposition, bytes.length]).toEqual([
      type,
      'public, max-age=31536000, immutable',
      'inline',
      size_bytes,
    ]);
    for (const secret of SECRETS) expect(bytes.includes(secret)).toBe(false);
  });

  it('stores a 9 MB image whole', async () => {
    const file = await image('jpeg', { width: 3200, height: 2400, noise: true });
    const answer = await uploads.send(file);
    const object = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: answer.body.path }));
    expect(Buffer.from(await object.Body!.transformToByteArray()).length).toBe(answer.body.size_bytes);
  });

  it('removes the second copy stored by a repeated request', async () => {
    const before = (await keys()).length;
    const headers = { 'Idempotency-Key': 'again' };
    const [first, second] = [await uploads.send(file, { headers }), await uploads.send(file, { headers })];
    expect(second.text).toBe(first.text);
    await vi.waitFor(async () => expect(await keys()).toHaveLength(before + 1));
    expect(await keys()).toContain(first.body.path);
  });

  it('returns 503 when S3 is unreachable', async () => {
    await server.close();
    const answer = await uploads.send(file);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    await server.run();
  });
});
