import { connect } from 'node:net';
import { readdirSync } from 'node:fs';
import sharp, { type Sharp } from 'sharp';
import { animation, FORMATS, image, jpegOfSize, longGif, pngChunk, withPngChunk, withPngExtent } from '../../support/data/images.js';
import { codeOf, faultsOf, refusedUploads } from '../../support/http/refused-uploads.js';
import { field, MULTIPART, multipart, part } from '../../support/http/uploads.js';

const LIMIT = 10_485_760;

const { uploads, png } = await refusedUploads();

/** The files before each test; a refused upload must not add any. */
let before: string[];
beforeEach(() => {
  before = uploads.files();
});

describe('returns 415 for', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const CONTENTS: [string, () => Buffer | Promise<Buffer>][] = [
    ['SVG', () => Buffer.from(svg)],
    ['SVG with a declaration', () => Buffer.from(`<?xml version="1.0"?>${svg}`)],
    ['HTML', () => Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['a zip', () => Buffer.from('504b0304140000000000', 'hex')],
    ['text', () => Buffer.from('Hello')],
    ['an empty file', () => Buffer.alloc(0)],
    ['TIFF', () => sharp(png).tiff().toBuffer()],
    ['HEIC', () => Buffer.concat([Buffer.from('00000018', 'hex'), Buffer.from('ftypheic\0\0\0\0mif1heic')])],
    ['JPEG XL', () => Buffer.from('0000000c4a584c200d0a870a', 'hex')],
  ];

  it.each(CONTENTS)('%s under any file name', async (_what, make) => {
    const file = await make();
    for (const [name, type] of [
      ['a.png', 'image/png'],
      ['a.jpg', 'image/jpeg'],
      ['a.svg', 'image/svg+xml'],
    ] as const) {
      // prettier-ignore
      const answer = await uploads.send('', { parts: multipart(part(file, { name, type })) });
      expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported_media_type']);
    }
    expect(uploads.files()).toEqual(before);
  });

  it.each([
    'application/json',
    'image/png',
    'multipart/mixed; boundary=x',
    'multipart/form-datax; boundary=x',
    'application/x-www-form-urlencoded',
    '',
  ])('a body of type %j', async (type) => {
    const answer = await uploads.send(png, { headers: { 'Content-Type': type } });
    expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported_media_type']);
  });

  it('an encoded body', async () => {
    const answer = await uploads.send(png, { headers: { 'Content-Encoding': 'gzip' } });
    expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('returns 422 for', () => {
  const noise = (length: number) => Buffer.alloc(length, 0xab);
  const CONTENTS: [string, () => Buffer | Promise<Buffer>][] = [
    ['one row over 50 megapixels', () => withPngExtent(png, 8192, 6145)],
    ['64,250 × 64,250', () => withPngExtent(png, 64_250, 64_250)],
    ['no width', () => withPngExtent(png, 0, 100)],
    ['the largest possible extent', () => withPngExtent(png, 0x7fffffff, 0x7fffffff)],
    ['201 frames', () => animation('gif', 201, 1)],
    ['201 frames of WebP', () => animation('webp', 201, 1)],
    ['40,000 frames', () => longGif(40_000)],
    ['a GIF whose frame is larger than its canvas', () => {
      const gif = longGif(1);
      gif.writeUInt16LE(65_535, gif.indexOf(0x2c) + 5);
      gif.writeUInt16LE(65_535, gif.indexOf(0x2c) + 7);
      return gif;
    }],
    ['a PNG with a wrong checksum', () => {
      const copy = Buffer.from(png);
      copy[copy.length - 20]! ^= 1;
      return copy;
    }],
    ['a PNG without image data', () => Buffer.concat([png.subarray(0, 33), pngChunk('IEND', Buffer.alloc(0))])],
    ['a PNG with two headers', () => withPngChunk(png, 'IHDR', png.subarray(16, 29))],
    ['a PNG with an unknown critical chunk', () => withPngChunk(png, 'QQQQ', noise(9))],
    ['an empty JPEG', () => Buffer.from('ffd8ffd9', 'hex')],
    ['a JPEG of noise', () => Buffer.concat([Buffer.from('ffd8ffe000104a46494600', 'hex'), noise(500)])],
    ['a WebP of noise', () => Buffer.concat([Buffer.from('RIFF\xf8\x01\0\0WEBPVP8 ', 'latin1'), noise(500)])],
    ['an AVIF of noise', () => Buffer.concat([Buffer.from('00000018', 'hex'), Buffer.from('ftypavif\0\0\0\0mif1avif'), noise(500)])],
    ['an AVIF without image data', () => Buffer.concat([Buffer.from('00000018', 'hex'), Buffer.from('ftypavif\0\0\0\0mif1avif')])],
  ]; // prettier-ignore

  it.each(CONTENTS)('%s', async (_what, make) => {
    const answer = await uploads.send(await make());
    expect([answer.status, faultsOf(answer)]).toEqual([422, [['body.file', 'value_error']]]);
    expect(uploads.files()).toEqual(before);
  });

  const flat = (width: number, height: number, channels: 3 | 4 = 3) =>
    sharp({ create: { width, height, channels, background: { r: 120, g: 90, b: 60, alpha: 0.5 } } });

  /** Enlarges a small image, because converting a large one to CMYK takes many seconds of CPU. */
  async function cmyk(width: number, height: number): Promise<Sharp> {
    const small = await flat(64, 64).toColourspace('cmyk').jpeg().toBuffer();
    const large = sharp(small).pipelineColourspace('cmyk').resize(width, height, { fit: 'fill', kernel: 'nearest' });
    return large.toColourspace('cmyk').jpeg();
  }

  /** Kinds that take more memory per pixel than the rest of their format, at the bound and one row above it. */
  const DEMANDING: [string, number, number, number, (width: number, height: number) => Sharp | Promise<Sharp>][] = [
    ['progressive JPEG', 25, 6_144, 4_096, (...size) => flat(...size).jpeg({ progressive: true })],
    ['CMYK JPEG', 25, 6_144, 4_096, cmyk],
    ['PNG of 16 bits', 25, 6_144, 4_096, (...size) => flat(...size).toColourspace('rgb16').png({ compressionLevel: 1 })],
    ['frame of a GIF', 16, 4_096, 4_096, (...size) => flat(...size).gif({ effort: 1 })],
    ['WebP', 25, 6_144, 4_096, (...size) => flat(...size).webp({ effort: 0 })],
    ['lossless WebP', 10, 4_096, 2_560, (...size) => flat(...size).webp({ lossless: true, quality: 20, effort: 0 })],
    ['transparent WebP', 10, 4_096, 2_560, (...size) => flat(...size, 4).webp({ effort: 0 })],
    ['AVIF', 16, 4_096, 4_096, (...size) => flat(...size).avif({ effort: 0 })],
    ['transparent AVIF', 6, 3_072, 2_048, (...size) => flat(...size, 4).avif({ effort: 0 })],
    ['AVIF of 10 bits', 6, 3_072, 2_048, (...size) => flat(...size).avif({ effort: 0, bitdepth: 10 })],
  ]; // prettier-ignore

  /** Large pictures take long. The fault run stores one of each kind at its bound. */
  const STORED = ['progressive JPEG'];

  it.each(DEMANDING)('a %s over %d megapixels, but not one at the bound', async (what, bound, width, height, make) => {
    const over = await uploads.send(await (await make(width, height + 1)).toBuffer());
    expect([over.status, faultsOf(over)]).toEqual([422, [['body.file', 'value_error']]]);
    expect(over.text).toContain(`more than ${bound} megapixels`);
    if (STORED.includes(what)) expect((await uploads.send(await (await make(width, height)).toBuffer())).status).toBe(201);
  });
});

describe('the size', () => {
  it.each(FORMATS.slice(0, 1))('of exactly 10 MB is accepted, and one more byte returns 413', async () => {
    const jpeg = await image('jpeg');
    const exact = jpegOfSize(jpeg, LIMIT);
    expect(exact.length).toBe(LIMIT);
    expect((await uploads.send(exact)).status).toBe(201);
    before = uploads.files();
    for (const over of [1, 2, 1000, 70_000, 2_000_000]) {
      const answer = await uploads.send(jpegOfSize(jpeg, LIMIT + over));
      expect([over, answer.status, codeOf(answer)]).toEqual([over, 413, 'payload_too_large']);
    }
    expect(uploads.files()).toEqual(before);
  });

  const head = (extra: string, key = uploads.key) =>
    `POST /v1/blog-images HTTP/1.1\r\nHost: x\r\nAuthorization: Token token=${key}\r\nContent-Type: ${MULTIPART}\r\n${extra}\r\n\r\n`;
  const opened = () => part('', { name: 'a.jpg' }).subarray(0, -2).toString('latin1');

  it('of 10 GB is refused as soon as that is known, announced or not', async () => {
    const chunked = `${head('Transfer-Encoding: chunked')}280000000\r\n`;
    const bodies = [opened(), 'not multipart at all, ', field('other', 'x').toString()];
    for (const start of [`${head('Content-Length: 10737418240')}${opened()}`, ...bodies.map((body) => chunked + body)]) {
      expect([413, 422]).toContain(await uploads.flood(start));
    }
  });

  it('a client that disconnects midway leaves nothing behind', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const count = descriptors();
    for (let round = 0; round < 60; round++) {
      await new Promise<void>((resolve) => {
        const socket = connect(uploads.port, '127.0.0.1', () => {
          socket.write(`${head('Content-Length: 5000000')}${opened()}`);
          socket.write(Buffer.alloc(200_000 * (round % 4)), () => socket.destroy());
        });
        socket.on('close', () => resolve());
      });
    }
    await vi.waitFor(() => expect(descriptors()).toBeLessThanOrEqual(count + 5));
    expect(uploads.files()).toEqual(before);
    expect(uploads.api.logged.join('')).not.toContain('internal_error');
  });
});
