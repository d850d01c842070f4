import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { animation, FORMATS, image, photo, pixels, pngChunk, psnr, SECRETS, withPngChunk } from '../../support/data/images.js';
import { part, multipart, Uploads } from '../../support/http/uploads.js';
import { fixture } from '../../support/process/fixture.js';

const uploads = await fixture(Uploads.open());

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}';

async function stored(file: Buffer, name?: string): Promise<{ path: string; bytes: Buffer }> {
  const answer = await uploads.send(file, { ...(name !== undefined && { name }) });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  const bytes = await uploads.bytes(answer.body.path);
  expect(bytes.length).toBe(answer.body.size_bytes);
  return { path: answer.body.path, bytes };
}

describe.each(FORMATS)('$format', ({ format, extension, type, quality }) => {
  it('is stored in the same format and returns its address', async () => {
    const file = await image(format);
    const answer = await uploads.send(file, { name: 'library.bin' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const { url, path, size_bytes } = answer.body;
    expect(Object.keys(answer.body)).toEqual(['url', 'path', 'size_bytes']);
    expect(path).toMatch(new RegExp(`^org/${uploads.school}/${UUID}-library\\.${extension}$`));
    expect(url).toBe(`http://localhost:3000/media/${path}`);
    const served = await uploads.media(path);
    expect([served.status, served.headers.get('content-type')]).toEqual([200, type]);
    const bytes = await uploads.bytes(path);
    expect(bytes.length).toBe(size_bytes);
    expect(await psnr(bytes, file)).toBeGreaterThanOrEqual(quality);
  });

  it('loses EXIF, GPS and XMP, and looks the same', async () => {
    const file = await photo(format);
    if (format !== 'gif') {
      // Checks that the secrets are there before the upload.
      const before = await sharp(file).metadata();
      expect(before.exif?.includes('SECRET-CAMERA')).toBe(true);
      expect(before.xmp?.includes('SECRET-XMP')).toBe(true);
    }
    const { bytes } = await stored(file);
    const after = await sharp(bytes).metadata();
    expect([after.exif, after.xmp, after.iptc]).toEqual([undefined, undefined, undefined]);
    for (const secret of SECRETS) expect(bytes.includes(secret)).toBe(false);
    expect(await psnr(bytes, file)).toBeGreaterThanOrEqual(quality);
  });

  it('is detected from the content, not from the declared type', async () => {
    const file = await image(format);
    for (const claimed of ['image/svg+xml', 'text/html', 'application/octet-stream', 'image/png', 'nonsense']) {
      const parts = multipart(part(file, { name: 'a.svg', type: claimed }));
      const answer = await uploads.send('', { parts });
      expect([claimed, answer.status]).toEqual([claimed, 201]);
      const served = await uploads.media(answer.body.path);
      expect([answer.body.path.endsWith(`.${extension}`), served.headers.get('content-type')]).toEqual([true, type]);
    }
  });

  it('that is truncated anywhere is refused', async () => {
    const file = await photo(format, 1, { width: 200, height: 100 });
    const cuts = new Set([1, 2, 4, 11, 12, 20, 33, 100, ...[0.2, 0.5, 0.8, 0.95].map((part) => Math.floor(part * file.length))]); // prettier-ignore
    // The last byte of a GIF and the last twelve of a PNG only mark the end; the picture is complete without them.
    const tail = { gif: 1, png: 12 }[format as string] ?? 0;
    for (const cut of [...cuts, file.length - tail - 1].filter((at) => at < file.length - tail)) {
      const { status } = await uploads.send(file.subarray(0, cut));
      expect([cut, status === 415 || status === 422]).toEqual([cut, true]);
    }
  });

  it('with another file appended is stored without it', async () => {
    const file = await image(format);
    const polyglot = Buffer.concat([file, Buffer.from('<script>alert(1)</script>PK\x03\x04 a zip')]);
    expect((await stored(polyglot)).bytes.equals((await stored(file)).bytes)).toBe(true);
  });
});

describe('orientation', () => {
  const turned = ['jpeg', 'png', 'webp'] as const;
  it.each(turned.flatMap((format) => [2, 3, 4, 5, 6, 7, 8].map((orientation) => ({ format, orientation }))))(
    '$format: $orientation is drawn upright, without EXIF',
    async ({ format, orientation }) => {
      const file = await photo(format, orientation);
      expect((await sharp(file).metadata()).orientation).toBe(orientation);
      const { bytes } = await stored(file);
      const after = await sharp(bytes).metadata();
      expect([after.format, after.orientation, after.exif]).toEqual([format, undefined, undefined]);
      for (const secret of SECRETS) expect(bytes.includes(secret)).toBe(false);
      const [seen, wanted] = [await pixels(bytes), await pixels(await sharp(file).autoOrient().png().toBuffer())];
      expect(seen.length).toBe(wanted.length);
      const off = seen.reduce((sum, value, index) => sum + Math.abs(value - wanted[index]!), 0) / seen.length;
      expect(off).toBeLessThan(format === 'png' ? 0.001 : 8);
    },
  );
});

describe('animations', () => {
  it.each(['gif', 'webp'] as const)('%s keeps its frames, delays and loop count', async (format) => {
    for (const frames of [2, 200]) {
      const file = await animation(format, frames);
      const { bytes } = await stored(file);
      const [before, after] = [await sharp(file).metadata(), await sharp(bytes).metadata()];
      expect([after.pages, after.loop, after.delay]).toEqual([before.pages, before.loop, before.delay]);
      expect(after.pages).toBe(frames);
      expect(await psnr(bytes, file)).toBeGreaterThan(format === 'gif' ? 1_000 : 40);
    }
  });

  it('an animated PNG becomes its first frame', async () => {
    const still = await image('png');
    const control = Buffer.alloc(8);
    control.writeUInt32BE(1, 0);
    const { path, bytes } = await stored(withPngChunk(still, 'acTL', control));
    expect(path).toMatch(/\.png$/);
    expect(bytes.includes('acTL')).toBe(false);
    expect(await psnr(bytes, still)).toBe(Infinity);
  });
});

describe('colours', () => {
  it.each(['jpeg', 'png', 'webp', 'avif'] as const)('%s keeps its colour profile', async (format) => {
    const file = await sharp(await image('png'))
      .withIccProfile('p3')
      .toFormat(format)
      .toBuffer();
    const { bytes } = await stored(file);
    const [before, after] = [await sharp(file).metadata(), await sharp(bytes).metadata()];
    expect(before.icc).toBeDefined();
    expect(after.icc?.equals(before.icc!)).toBe(true);
  });

  it.each([
    ['a grey PNG', (picture: Sharp) => picture.toColourspace('b-w').png(), Infinity],
    ['a CMYK JPEG', (picture: Sharp) => picture.toColourspace('cmyk').jpeg(), 40],
    ['a grey PNG of 16 bits', (picture: Sharp) => picture.toColourspace('grey16').png(), Infinity],
    ['a translucent PNG of 16 bits', (picture: Sharp) => picture.ensureAlpha(0.5).toColourspace('rgb16').png(), Infinity],
    ['a PNG of 16 bits', (picture: Sharp) => picture.toColourspace('rgb16').png(), Infinity],
    ['a lossless WebP', (picture: Sharp) => picture.webp({ lossless: true }), Infinity],
    ['a lossless WebP with EXIF', (picture: Sharp) => picture.withExif({ IFD0: { Make: 'x' } }).webp({ lossless: true }), Infinity],
    ['a translucent WebP', (picture: Sharp) => picture.ensureAlpha(0.5).webp(), 35],
    ['a translucent AVIF', (picture: Sharp) => picture.ensureAlpha(0.5).avif(), 40],
    ['a translucent PNG', (picture: Sharp) => picture.ensureAlpha(0.5).png(), Infinity],
  ] as const)('%s looks the same', async (_what, make, quality) => {
    const file = await make(sharp(await image('png'))).toBuffer();
    const { bytes } = await stored(file);
    expect(await psnr(bytes, file)).toBeGreaterThanOrEqual(quality);
    const [before, after] = [await sharp(file).metadata(), await sharp(bytes).metadata()];
    expect([after.hasAlpha, after.depth]).toEqual([before.hasAlpha, before.depth]);
  });

  it('an oversized profile is dropped', async () => {
    const profile = Buffer.alloc(200_000, 'SECRET-XMP');
    const p3 = await sharp(await image('png')).withIccProfile('p3').png().toBuffer(); // prettier-ignore
    (await sharp(p3).metadata()).icc!.copy(profile);
    profile.writeUInt32BE(profile.length, 0);
    const chunk = pngChunk('iCCP', Buffer.concat([Buffer.from('icc\0\0'), deflateSync(profile)]));
    const file = Buffer.concat([(await image('png')).subarray(0, 33), chunk, (await image('png')).subarray(33)]);
    expect((await sharp(file).metadata()).icc?.length).toBe(profile.length);
    const { bytes } = await stored(file);
    expect((await sharp(bytes).metadata()).icc).toBeUndefined();
  });
});

describe('names', () => {
  const NAMES: [string, string][] = [
    ['photo.jpg', 'photo.png'],
    ['Grüße aus Köln.png', 'GreausKln.png'],
    ['my photo (1).jpeg', 'myphoto1.png'],
    ['../../etc/passwd', 'passwd.png'],
    ['..\\..\\windows\\system.ini', 'system.png'],
    ['..', 'image.png'],
    ['.htaccess', 'image.png'],
    ['图片.png', 'image.png'],
    ['\u202egnp.exe', 'gnp.png'],
    ['aux.txt', 'aux.png'],
    ['a;b$c`d.png', 'abcd.png'],
    ['<script>.svg', 'script.png'],
    [`${'a'.repeat(3000)}.png`, `${'a'.repeat(96)}.png`],
    [`${'a'.repeat(96)}.png`, `${'a'.repeat(96)}.png`],
    [`${'a.'.repeat(100)}png`, `${'a.'.repeat(48).slice(0, -1)}.png`],
  ];

  it.each(NAMES)('%j becomes %s', async (given, kept) => {
    const { path } = await stored(await image('png'), given);
    const [, name] = new RegExp(`^org/${uploads.school}/${UUID}-(.*)$`).exec(path) ?? [];
    expect(name).toBe(kept);
    expect(name!.length).toBeLessThanOrEqual(100);
  });
});
