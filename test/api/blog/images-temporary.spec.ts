import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { cpuOf, imageProcesses, isAlive } from '../../support/process/processes.js';
import { image } from '../../support/data/images.js';
import { MULTIPART, multipart, part, type UploadAnswer, Uploads } from '../../support/http/uploads.js';

/** A folder of its own, so that the tests find only their own files. */
const temporary = mkdtempSync(join(tmpdir(), 'tutoring-temporary-'));
const ordinary = process.env.TMPDIR;

let uploads: Uploads;
let jpeg: Buffer;
/** Takes several times as long to encode as the clients wait that disconnect. */
let large: Buffer;

beforeAll(async () => {
  uploads = await Uploads.open();
  jpeg = await image('jpeg', { width: 700, height: 500, noise: true });
  large = await image('webp', { width: 2_000, height: 1_500, noise: true });
  process.env.TMPDIR = temporary;
  expect((await uploads.send(jpeg)).status).toBe(201);
});

afterAll(async () => {
  if (ordinary === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = ordinary;
  await uploads.stop();
  rmSync(temporary, { recursive: true, force: true });
});

const outcome = ({ status, headers }: UploadAnswer) => [status, headers.get('retry-after')];

/** Temporary files that this process has open. Connections come and go, and do not count. */
function openFiles(): string[] {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link.startsWith(temporary));
}

/** Error codes of the operating system. */
const CODES = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'EBADF', 'EFBIG', 'ENOENT'];

const failure = (code: string) => Object.assign(new Error(`${code}: planted`), { code, syscall: 'planted' });

/** The methods of every open file. */
async function fileMethods(): Promise<FileHandle> {
  const file = await open('/dev/null');
  await file.close();
  return Object.getPrototypeOf(file) as FileHandle;
}

describe('a temporary file that fails returns 503', () => {
  // The upload is written in several pieces and read; the new image is written and read.
  it.each(['writeFile', 'read'] as const)('at any %s, whatever the error', async (call) => {
    const methods = await fileMethods();
    const original = Reflect.get(methods, call) as (...args: unknown[]) => Promise<never>;
    const files = uploads.files().length;
    let failed = 0;
    for (; failed < 50; failed++) {
      const code = CODES[failed % CODES.length]!;
      let count = 0;
      const spy = vi.spyOn(methods, call as 'read').mockImplementation(function (this: unknown, ...args) {
        return count++ === failed ? Promise.reject(failure(code)) : original.apply(this, args);
      });
      const answer = await uploads.send(jpeg);
      spy.mockRestore();
      if (count <= failed) {
        expect(answer.status).toBe(201);
        break;
      }
      expect([failed, code, ...outcome(answer)]).toEqual([failed, code, 503, '5']);
    }
    // The fault landed on the upload and on the new image.
    expect(failed).toBeGreaterThanOrEqual(4);
    expect(uploads.files()).toHaveLength(files + 1);
    await vi.waitFor(() => expect(openFiles()).toEqual([]));
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('in a missing folder, or one that is a file', async () => {
    const file = join(temporary, 'file');
    writeFileSync(file, '');
    for (const folder of [join(temporary, 'none'), file, join(file, 'below')]) {
      process.env.TMPDIR = folder;
      try {
        expect([folder, ...outcome(await uploads.send(jpeg))]).toEqual([folder, 503, '5']);
      } finally {
        process.env.TMPDIR = temporary;
      }
    }
    rmSync(file);
    expect((await uploads.send(jpeg)).status).toBe(201);
  });
});

describe('a process of the API', () => {
  let api: ApiProcess;
  const start = () => ApiProcess.start({ DATABASE_URL: uploads.api.database.applicationUrl, DATA_DIR: uploads.dataDir, TMPDIR: temporary });

  beforeAll(buildOnce);
  beforeEach(async () => {
    api = await start();
    uploads.port = api.port;
  });
  afterEach(() => api.stop());

  it('that is killed during an image leaves no process or file behind', async () => {
    expect((await uploads.send(jpeg)).status).toBe(201);
    const [child] = imageProcesses(api.pid);
    const before = cpuOf(child!);
    const answer = uploads.send(large).catch(() => null);
    await vi.waitFor(() => expect(cpuOf(child!)).toBeGreaterThan(before + 100), { interval: 10 });
    await api.stop();
    expect(await answer).toBeNull();
    await vi.waitFor(() => expect(isAlive(child!)).toBe(false));
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('that is asked to stop ends its image process', async () => {
    expect((await uploads.send(jpeg)).status).toBe(201);
    const [child] = imageProcesses(api.pid);
    api.signal('SIGTERM');
    await api.exit;
    await vi.waitFor(() => expect(isAlive(child!)).toBe(false));
  });

  it('stores nothing when the client disconnects while the image waits or is encoded', async () => {
    const before = uploads.files();
    const body = multipart(part(large));
    const head = `POST /v1/blog-images HTTP/1.1\r\nHost: x\r\nAuthorization: Token token=${uploads.key}\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${body.length}\r\n\r\n`; // prettier-ignore
    for (let client = 0; client < 4; client++) {
      const socket = connect(api.port, '127.0.0.1', () => {
        socket.write(head);
        socket.write(body, () => setTimeout(() => socket.destroy(), 50));
      });
      socket.on('error', () => undefined);
    }
    await vi.waitFor(async () => expect((await uploads.send(jpeg)).status).toBe(201), { interval: 200 }); // prettier-ignore
    await vi.waitFor(() => expect(uploads.files()).toHaveLength(before.length + 1));
    expect(api.stderr).toBe('');
  });

  it('removes on startup what an earlier process left behind', async () => {
    const [left, other] = [join(temporary, 'tutoring-upload-1'), join(temporary, 'somebody-elses')];
    for (const path of [left, other]) writeFileSync(path, 'x');
    await api.stop();
    api = await start();
    expect([existsSync(left), existsSync(other)]).toEqual([false, true]);
    rmSync(other);
  });
});
