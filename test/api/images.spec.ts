import sharp from 'sharp';
import { animation, FORMATS, image, photo, pixels, SECRETS, withPngChunk } from '../support/images.js';
import { part, multipart, Uploads } from '../support/uploads.js';

let uploads: Uploads;

beforeAll(async () => {
  uploads = await Uploads.open();
});

afterAll(() => uploads.close());

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}';

async function stored(file: Buffer, name?: string): Promise<{ path: string; bytes: Buffer }> {
  const answer = await uploads.send(file, { ...(name !== undefined && { name }) });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  const bytes = await uploads.bytes(answer.body.path);
  expect(bytes.length).toBe(answer.body.size_bytes);
  return { path: answer.body.path, bytes };
}

describe.each(FORMATS)('$format', ({ format, extension, type }) => {
  it('is stored as it is, and answered with where', async () => {
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
    expect((await pixels(bytes)).equals(await pixels(file))).toBe(true);
  });

  it('loses its EXIF, GPS and XMP, and not a pixel', async () => {
    const file = await photo(format);
    if (format !== 'gif') {
      // The fault is really there: what is not put in cannot be found missing.
      const before = await sharp(file).metadata();
      expect(before.exif?.includes('SECRET-CAMERA')).toBe(true);
      expect(before.xmp?.includes('SECRET-XMP')).toBe(true);
    }
    const { bytes } = await stored(file);
    const after = await sharp(bytes).metadata();
    expect([after.exif, after.xmp, after.iptc]).toEqual([undefined, undefined, undefined]);
    for (const secret of SECRETS) expect(bytes.includes(secret)).toBe(false);
    expect((await pixels(bytes)).equals(await pixels(file))).toBe(true);
  });

  it('is told by its content, whatever it says it is', async () => {
    const file = await image(format);
    for (const claimed of ['image/svg+xml', 'text/html', 'application/octet-stream', 'image/png', 'nonsense']) {
      const parts = multipart(part(file, { name: 'a.svg', type: claimed }));
      const answer = await uploads.send('', { parts });
      expect([claimed, answer.status]).toEqual([claimed, 201]);
      const served = await uploads.media(answer.body.path);
      expect([answer.body.path.endsWith(`.${extension}`), served.headers.get('content-type')]).toEqual([true, type]);
    }
  });

  it('that ends too early, anywhere, is refused', async () => {
    const file = await photo(format, 1, { width: 200, height: 100 });
    const cuts = new Set([1, 2, 4, 11, 12, 20, 33, 100, ...[0.2, 0.5, 0.8, 0.95].map((part) => Math.floor(part * file.length))]); // prettier-ignore
    for (const cut of [...cuts, file.length - 1].filter((at) => at < file.length)) {
      const { status } = await uploads.send(file.subarray(0, cut));
      expect([cut, status === 415 || status === 422]).toEqual([cut, true]);
    }
  });

  it('with another file behind it is stored without that', async () => {
    const file = await image(format);
    const polyglot = Buffer.concat([file, Buffer.from('<script>alert(1)</script>PK\x03\x04 a zip')]);
    const answer = await uploads.send(polyglot);
    // AVIF is made of boxes: what is none makes the file a broken one.
    expect(answer.status).toBe(format === 'avif' ? 422 : 201);
    if (format !== 'avif')
      expect((await uploads.bytes(answer.body.path)).equals((await stored(file)).bytes)).toBe(true);
  });
});

describe('orientation', () => {
  const turned = ['jpeg', 'png', 'webp'] as const;
  it.each(turned.flatMap((format) => [2, 3, 6, 8].map((orientation) => ({ format, orientation }))))(
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
  it.each(['gif', 'webp'] as const)('%s keeps its frames, their times and its repetitions', async (format) => {
    for (const frames of [2, 200]) {
      const file = await animation(format, frames);
      const { bytes } = await stored(file);
      const [before, after] = [await sharp(file).metadata(), await sharp(bytes).metadata()];
      expect([after.pages, after.loop, after.delay]).toEqual([before.pages, before.loop, before.delay]);
      expect(after.pages).toBe(frames);
      expect((await pixels(bytes)).equals(await pixels(file))).toBe(true);
    }
  });

  it('an animated PNG is a PNG', async () => {
    const still = await image('png');
    const control = Buffer.alloc(8);
    control.writeUInt32BE(1, 0);
    const { path, bytes } = await stored(withPngChunk(still, 'acTL', control));
    expect(path).toMatch(/\.png$/);
    expect(bytes.includes('acTL')).toBe(true);
  });
});

describe('colours', () => {
  it.each(['jpeg', 'png', 'webp', 'avif'] as const)('%s keeps its profile', async (format) => {
    const file = await sharp(await image('png'))
      .withIccProfile('p3')
      .toFormat(format)
      .toBuffer();
    const { bytes } = await stored(file);
    const [before, after] = [await sharp(file).metadata(), await sharp(bytes).metadata()];
    expect(before.icc).toBeDefined();
    expect(after.icc?.equals(before.icc!)).toBe(true);
  });

  it('JPEGs in grey and CMYK, progressive ones, PNGs of 16 bits and with a palette', async () => {
    const picture = sharp(await image('png'));
    const files = [
      await picture.clone().greyscale().jpeg().toBuffer(),
      await picture.clone().toColourspace('cmyk').jpeg().toBuffer(),
      await picture.clone().jpeg({ progressive: true }).toBuffer(),
      await picture.clone().toColourspace('rgb16').png().toBuffer(),
      await picture.clone().png({ palette: true }).toBuffer(),
      await picture.clone().png({ progressive: true }).toBuffer(),
      await picture.clone().webp({ lossless: true }).toBuffer(),
      await picture.clone().ensureAlpha(0.5).webp().toBuffer(),
      await picture.clone().ensureAlpha(0.5).avif().toBuffer(),
    ];
    for (const file of files) {
      const { bytes } = await stored(file);
      expect((await sharp(bytes).raw().toBuffer()).equals(await sharp(file).raw().toBuffer())).toBe(true);
    }
  });
});

describe('names', () => {
  const NAMES: [string, string][] = [
    ['photo.jpg', 'photo.png'],
    ['photo', 'photo.png'],
    ['Grüße aus Köln.png', 'GreausKln.png'],
    ['my photo (1).jpeg', 'myphoto1.png'],
    ['a.b.c.d', 'a.b.c.png'],
    ['../../etc/passwd', 'passwd.png'],
    ['..\\..\\windows\\system.ini', 'system.png'],
    ['/etc/shadow', 'shadow.png'],
    ['..', 'image.png'],
    ['a/..', 'image.png'],
    ['/', 'image.png'],
    ['...', 'image.png'],
    ['.htaccess', 'image.png'],
    ['.a.b', 'a.png'],
    ['图片.png', 'image.png'],
    ['\u202egnp.exe', 'gnp.png'],
    ['a%00.png', 'a00.png'],
    ['%2e%2e%2f', '2e2e2f.png'],
    ['CON', 'CON.png'],
    ['aux.txt', 'aux.png'],
    ['-rf', '-rf.png'],
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

  it('two of the same name are two', async () => {
    const file = await image('png');
    const paths = await Promise.all([1, 2, 3].map(async () => (await stored(file, 'same.png')).path));
    expect(new Set(paths).size).toBe(3);
  });
});
