import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Turns } from '@app/concurrency';
import { ImageEncoder, ImageProcess } from '@app/images';
import { BOMBS } from '../../support/data/bombs.js';
import { imageProcesses, isAlive } from '../../support/process/processes.js';
import { FORMATS, longGif, photo } from '../../support/data/images.js';
import { refusedUploads } from '../../support/http/refused-uploads.js';
import { type UploadAnswer } from '../../support/http/uploads.js';

const program = ImageProcess.program;
const limits = { ...ImageProcess.limits };

const { uploads, png } = await refusedUploads();
const folder = mkdtempSync(join(tmpdir(), 'tutoring-programs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const encoder = () => uploads.api.app.get(ImageEncoder);

/** Makes another program decode images until the test ends. */
function plant(source: string): void {
  encoder().onApplicationShutdown();
  ImageProcess.program = join(folder, 'planted.mjs');
  writeFileSync(ImageProcess.program, source);
}

/** A program that runs this code for each image. */
const onImage = (work: string) => `process.on('message', () => { ${work} }); process.send('ready');`;

afterEach(() => {
  encoder().onApplicationShutdown();
  ImageProcess.program = program;
  Object.assign(ImageProcess.limits, limits);
});

const outcome = ({ status, headers, text }: UploadAnswer) => [status, headers.get('retry-after'), /too complex to decode|cannot be decoded/.exec(text)?.[0]]; // prettier-ignore

describe('a process that', () => {
  const BUSY = 'for (;;);';
  const HOARDS = 'globalThis.held = []; setInterval(() => held.push(Buffer.alloc(20_000_000, 1)), 5)';
  const ENDS: [string, string, unknown[], Partial<typeof limits>?][] = [
    ['computes for too long is killed (422)', onImage(BUSY), [422, null, 'too complex to decode'], { ms: 2_000, cpuMs: 10 }],
    ['gets no CPU is killed (503)', onImage(''), [503, '5', undefined], { ms: 1_000 }],
    ['takes too much memory is killed (422)', onImage(HOARDS), [422, null, 'too complex to decode'], { bytes: 2 ** 28 }],
    ['crashes each time (422)', onImage('process.abort()'), [422, null, 'cannot be decoded']],
    ['is killed from outside (503)', onImage(`process.kill(process.pid, 'SIGKILL')`), [503, '5', undefined]],
    ['never becomes ready (503)', 'setInterval(() => {}, 1000)', [503, '5', undefined], { ms: 500 }],
    ['closes its input (422)', onImage(`process.stdin.destroy(); setTimeout(() => process.exit(3), 50)`), [422, null, 'cannot be decoded']],
  ]; // prettier-ignore

  it.each(ENDS)('%s, and the next image is stored', async (_what, source, wanted, lower = {}) => {
    plant(source);
    Object.assign(ImageProcess.limits, lower);
    const [answer, ping] = await Promise.all([uploads.send(png), uploads.api.get('/v1/ping', uploads.key)]);
    expect([outcome(answer), ping.status]).toEqual([wanted, 200]);
    expect(uploads.api.logged.join('')).toContain('image_process_ended');
    await vi.waitFor(() => expect(imageProcesses(process.pid)).toEqual([]));
    ImageProcess.program = program;
    Object.assign(ImageProcess.limits, limits);
    expect((await uploads.send(png)).status).toBe(201);
  });

  it('crashes once is replaced, and its image is stored', async () => {
    const mark = join(folder, 'crashed');
    plant(`
      import { existsSync, writeFileSync } from 'node:fs';
      if (existsSync('${mark}')) await import('${program}');
      else process.on('message', () => { writeFileSync('${mark}', ''); process.abort(); });
      if (!existsSync('${mark}')) process.send('ready');
    `);
    const answer = await uploads.send(png);
    expect([answer.status, existsSync(mark)]).toEqual([201, true]);
  });

  it('cannot be started (503)', async () => {
    encoder().onApplicationShutdown();
    ImageProcess.program = join(folder, 'none.mjs');
    expect(outcome(await uploads.send(png))).toEqual([503, '5', undefined]);
  });
});

describe('a decompression bomb', () => {
  const bomb = (what: string) => BOMBS.find((one) => one.what === what)!.make();

  it('that takes too much memory is refused, and accepted with a higher limit', async () => {
    const file = await bomb('50 megapixels, interlaced');
    Object.assign(ImageProcess.limits, { bytes: 160 * 1_048_576 });
    expect(outcome(await uploads.send(file))).toEqual([422, null, 'too complex to decode']);
    Object.assign(ImageProcess.limits, limits);
    expect((await uploads.send(file)).status).toBe(201);
  });

  it.each(['one scan in 10 MB of scans', '65,535 extents over the same 60 KB', '16,384 x 16,384', '10 MB of them', 'half of a large picture'])(
    'of %s returns 422',
    async (what) => {
      // A shorter limit than in production, and met even with little CPU on a loaded machine.
      Object.assign(ImageProcess.limits, { ms: 2_500, cpuMs: 20 });
      expect((await uploads.send(await bomb(what))).status).toBe(422);
    },
  );
});

describe('the image process', () => {
  it('is reused for the next image', async () => {
    await uploads.send(png);
    // The one before may still be ending.
    await vi.waitFor(() => expect(imageProcesses(process.pid)).toHaveLength(1));
    const [first] = imageProcesses(process.pid);
    for (const { format } of FORMATS) expect((await uploads.send(await photo(format))).status).toBe(201);
    expect((await uploads.send(longGif(40_000))).status).toBe(422);
    expect((await uploads.send('nothing')).status).toBe(415);
    expect(imageProcesses(process.pid)).toEqual([first]);
  });

  it.runIf(process.platform === 'linux')('has a low priority in all its threads', async () => {
    await uploads.send(png);
    const [pid] = imageProcesses(process.pid);
    const threads = readdirSync(`/proc/${pid}/task`).map(Number);
    // The main thread, V8's, those of the pool that decode, and libvips' own.
    expect(threads.length).toBeGreaterThan(4);
    expect(Math.min(...threads.map(getPriority))).toBeGreaterThanOrEqual(constants.priority.PRIORITY_BELOW_NORMAL);
  });

  it('inherits no settings of the API', async () => {
    await uploads.send(png);
    const [pid] = imageProcesses(process.pid);
    const names = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').map((entry) => entry.split('=')[0]); // prettier-ignore
    expect(names.filter(Boolean).sort()).toEqual([
      'MALLOC_ARENA_MAX',
      'MALLOC_MMAP_THRESHOLD_',
      'NODE_CHANNEL_FD',
      'NODE_CHANNEL_SERIALIZATION_MODE',
      'VIPS_DISC_THRESHOLD',
    ]);
  });

  it('ends when its parent is killed', async () => {
    const module = pathToFileURL(program.replace('child.js', 'image-process.js')).href;
    const source = `import { ImageProcess } from '${module}'; await ImageProcess.start(); console.log('started');`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(parent.stdout, 'data');
      const [pid] = imageProcesses(parent.pid!);
      expect(isAlive(pid!)).toBe(true);
      parent.kill('SIGKILL');
      await vi.waitFor(() => expect(isAlive(pid!)).toBe(false));
    } finally {
      parent.kill('SIGKILL');
    }
  });
});

it('an organization that sends many images at once delays only itself', async () => {
  const go = join(folder, 'go');
  const work = `const wait = setInterval(() => {
    if (existsSync('${go}')) { clearInterval(wait); process.send({ refusal: 'damaged' }); }
  }, 5); process.stdin.resume();`;
  plant(`import { existsSync } from 'node:fs'; ${onImage(work)}`);
  const { id } = await uploads.make.organization();
  const key = await uploads.api.key(id, { scopes: ['read', 'blog:write'] });
  const order: string[] = [];
  const send = async (who: string, wish = {}) => {
    const { status } = await uploads.send(png, wish);
    order.push(`${who} ${status}`);
  };
  const turns = Reflect.get(encoder(), 'turns') as Turns;
  const many = Array.from({ length: 12 }, () => send('many'));
  await vi.waitFor(() => expect(turns.waiting).toBe(11));
  const other = send('other', { key });
  await vi.waitFor(() => expect(turns.waiting).toBe(12));
  writeFileSync(go, '');
  await Promise.all([...many, other]);
  // After the image in progress, and at most one more.
  expect(order.indexOf('other 422')).toBeLessThanOrEqual(2);
  expect(order.filter((entry) => entry === 'many 422')).toHaveLength(12);
});
