import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { animation, FORMATS, image, type ImageFormat, jpegOfSize, longGif, photo, SECRETS, withPngExtent } from '../../support/data/images.js';
import { Random } from '../../support/data/random.js';
import { reached, seedOf } from '../../support/faults/promise.js';
import { UploadProcess } from '../../support/http/upload-process.js';
import { MULTIPART, multipart, part, type UploadAnswer } from '../../support/http/uploads.js';
import { fixture } from '../../support/process/fixture.js';

const LIMIT = 10_485_760;
/** 25 MB. */
const LARGEST_DOCUMENT = 26_214_400;
const FILES = 300;
const NAMES = 200;

const seed = seedOf();

const uploading = await fixture(UploadProcess.start());

let refused = 0;

/** Retries after `Retry-After` while too many images wait for their turn. */
async function sendPatiently(file: Buffer): Promise<UploadAnswer> {
  for (let tries = 1; ; tries++) {
    const answer = await uploading.uploads.send(file);
    if (answer.status !== 503 || tries === 60) return answer;
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    refused++;
    await sleep(seconds * 1_000);
  }
}

/** A file and the statuses it may get. */
interface Specimen {
  what: string;
  make: () => Buffer | Promise<Buffer>;
  statuses: number[];
}

/** Cycles through the kinds, with random contents. */
function specimens(random: Random, count: number): Specimen[] {
  const size = () => ({ width: 1 + random.integer(400), height: 1 + random.integer(400), noise: random.chance(0.3) });
  const format = () => random.pick(FORMATS).format;
  const kinds: (() => Specimen)[] = [
    () => of('an image', () => image(format(), size()), 201),
    () => of('a photo', () => photo(format(), 1, size()), 201),
    () => of('a photo on its side', () => photo(format(), 2 + random.integer(7), size()), 201),
    () => of('an animation', () => animation(random.pick(['gif', 'webp'] as const), 2 + random.integer(30)), 201),
    () => of('a polyglot', () => polyglot(random.pick(['jpeg', 'png', 'webp', 'gif'] as const)), 201),
    () => of('SVG', () => Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><!-- ${random.next()} --></svg>`), 415),
    () => of('HTML', () => Buffer.from(`<!doctype html><p>${random.next()}<script>alert(1)</script>`), 415),
    () => of('a zip', () => Buffer.concat([Buffer.from('504b030414000000', 'hex'), random.bytes(500)]), 415),
    () => of('noise', () => random.bytes(1 + random.integer(5000)), 415, 422),
    () => of('a truncated photo', () => truncated(random, format()), 415, 422),
    () => of('a damaged photo', () => damaged(random, format()), 201, 415, 422),
    () => of('40,000 frames', () => longGif(40_000), 422),
    () => of('64,250 × 64,250', async () => withPngExtent(await image('png'), 64_250, 64_250), 422),
    () => of('over 50 megapixels', async () => withPngExtent(await image('png'), 8_192 + random.integer(9), 6_145), 422), // prettier-ignore
    () => of('10 MB', async () => jpegOfSize(await image('jpeg'), LIMIT), 201),
    () => of('10 MB and a byte', async () => jpegOfSize(await image('jpeg'), LIMIT + 1), 413),
  ];
  return Array.from({ length: count }, (_, index) => kinds[index % kinds.length]!());
}

const of = (what: string, make: Specimen['make'], ...statuses: number[]): Specimen => ({ what, make, statuses });

async function polyglot(format: ImageFormat): Promise<Buffer> {
  return Buffer.concat([await photo(format), Buffer.from('<script>alert("SECRET-XMP")</script>')]);
}

async function truncated(random: Random, format: ImageFormat): Promise<Buffer> {
  const file = await photo(format, 1, { width: 200, height: 200 });
  return file.subarray(0, 1 + random.integer(file.length - 1));
}

async function damaged(random: Random, format: ImageFormat): Promise<Buffer> {
  const file = await photo(format, 1 + random.integer(8), { width: 200, height: 200 });
  for (let times = 1 + random.integer(20); times > 0; times--) file[random.integer(file.length)] = random.integer(256);
  return file;
}

const PATH = /^org\/[0-9a-f-]{36}\/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}-[A-Za-z0-9_-][A-Za-z0-9._-]{0,95}\.(jpg|png|webp|gif|avif)$/; // prettier-ignore

async function checkStored(path: string): Promise<void> {
  expect(path).toMatch(PATH);
  const served = await uploading.uploads.media(path);
  const { type } = FORMATS.find(({ extension }) => path.endsWith(`.${extension}`))!;
  expect([served.status, served.headers.get('content-type')]).toEqual([200, type]);
  expect(served.headers.get('x-content-type-options')).toBe('nosniff');
  expect(served.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
  const bytes = Buffer.from(await served.arrayBuffer());
  for (const secret of SECRETS) expect(bytes.includes(secret)).toBe(false);
  const { exif, xmp, iptc, orientation } = await sharp(bytes).metadata();
  expect([exif, xmp, iptc, orientation ?? 1]).toEqual([undefined, undefined, undefined, 1]);
}

it(`${FILES} files, 20 at once: each gets the right answer, in less than 250 MB of extra memory`, async () => {
  const random = new Random(seed);
  const queue = specimens(random, FILES);
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  uploading.peak();
  const resting = uploading.peak();
  const work = async () => {
    for (let specimen = queue.pop(); specimen; specimen = queue.pop()) {
      const { what, make, statuses } = specimen;
      const answer = await sendPatiently(await make());
      counts[`${what} ${answer.status}`] = (counts[`${what} ${answer.status}`] ?? 0) + 1;
      if (!statuses.includes(answer.status)) wrong.push(`${what}: ${answer.status} ${answer.text.slice(0, 200)}`);
      if (answer.status === 201) await checkStored(answer.body.path);
    }
  };
  await Promise.all(Array.from({ length: 20 }, work));
  const more = uploading.peak() - resting;
  console.log(counts);
  reached(35, `${FILES} files: ${wrong.length} wrong answers, +${more.toFixed(0)} MB; ${refused} times 503`, seed);
  expect(wrong).toEqual([]);
  expect(more).toBeLessThan(250);
  expect(uploading.api.ended).toBeNull();
}, 600_000);

it('20 of the largest pictures at once, some rotated, take less than 250 MB of extra memory', async () => {
  const [jpeg, small] = [await photo('jpeg', 6, { width: 7000, height: 5500 }), await image('jpeg', { width: 3400, height: 2600, noise: true })]; // prettier-ignore
  expect(jpeg.length).toBeLessThan(LIMIT);
  uploading.peak();
  const resting = uploading.peak();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => sendPatiently(index % 4 === 0 ? jpeg : jpegOfSize(small, LIMIT))));
  const more = uploading.peak() - resting;
  reached(35, `20 of 10 MB at once, +${more.toFixed(0)} MB`);
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(201));
  expect(more).toBeLessThan(250);
}, 300_000);

it(`${NAMES} names: every stored path matches one pattern`, async () => {
  const random = new Random(seed);
  const file = await image('png');
  const bits = ['..', '/', '\\', '%2e', '%00', '\u202e', 'é', '图', '🎓', ' ', '.', '-', '_', 'CON', 'nul', 'a', 'Z', '9',
    ';', '$(id)', '`', "'", '<', '>', '|', '*', '?', '~', '#', '&', '\t', '\u200b', '.php', '.svg', '.htaccess']; // prettier-ignore
  const statuses: Record<number, number> = {};
  for (let index = 0; index < NAMES; index++) {
    const length = random.chance(0.1) ? 3000 : 1 + random.integer(12);
    const name = Array.from({ length }, () => random.pick(bits)).join('');
    const { status, body } = await uploading.uploads.send(file, { name });
    statuses[status] = (statuses[status] ?? 0) + 1;
    expect([name, [201, 422].includes(status)]).toEqual([name, true]);
    if (status === 201) expect(body.path).toMatch(PATH);
  }
  // Headers cannot contain NUL or line breaks.
  for (const name of ['a\0b.png', 'a\r\nb.png', 'a\nX-Evil: 1\n\nb.png']) {
    const { status, body } = await uploading.uploads.send(file, { name });
    if (status === 201) expect(body.path).toMatch(PATH);
    else expect(status).toBe(422);
  }
  reached(35, `${NAMES} names, ${statuses[201]} stored, all matching one pattern, ${statuses[422] ?? 0} refused`, seed);
  expect(statuses[201]).toBeGreaterThan(NAMES / 2);
}, 300_000);

it('a document of 25 MB is received in less than 30 MB of extra memory, and served; one byte more is refused', async () => {
  const { api, school, port } = uploading.uploads;
  const Authorization = `Token token=${await api.key(school, { scopes: ['read', 'coursework:write'] })}`;
  const post = (path: string, type: string, body: string | Uint8Array<ArrayBuffer>) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers: { Authorization, 'Content-Type': type }, body });
  const upload = (size: number) => {
    const content = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(size - 9, 0x61)]);
    return post('/v1/files/uploads', MULTIPART, new Uint8Array(multipart(part(content, { name: 'a.pdf' }))));
  };
  /** Of the uploaded document. @returns how many bytes are served */
  const download = async (uploaded: Response) => {
    const file = { title: 'Large', scope: 'org', resource_type: 'file', upload_id: ((await uploaded.json()) as { id: string }).id };
    const made = (await (await post('/v1/files', 'application/json', JSON.stringify(file))).json()) as { file_url: string };
    const response = await fetch(`http://127.0.0.1:${port}${made.file_url}`, { headers: { Authorization } });
    return (await response.arrayBuffer()).byteLength;
  };
  expect(await download(await upload(1_000_000))).toBe(1_000_000);
  uploading.peak();
  const resting = uploading.peak();
  const uploaded = await upload(LARGEST_DOCUMENT);
  const received = uploading.peak() - resting;
  expect([uploaded.status, await download(uploaded)]).toEqual([201, LARGEST_DOCUMENT]);
  const sent = uploading.peak() - resting;
  reached(35, `a document of 25 MB: +${received.toFixed(1)} MB to receive, +${sent.toFixed(1)} MB to serve`);
  expect(received).toBeLessThan(30);
  // Of what is read and sent, V8 frees what it has to, when it has to.
  expect(sent).toBeLessThan(45);
  expect((await upload(LARGEST_DOCUMENT + 1)).status).toBe(413);
  await expect.poll(() => uploading.temporaryFiles()).toEqual([]);
});
