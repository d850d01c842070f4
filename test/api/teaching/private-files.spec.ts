import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { v7 as uuidv7 } from 'uuid';
import { image } from '../../support/data/images.js';
import { TestApi } from '../../support/http/api.js';
import { MULTIPART, multipart, part } from '../../support/http/uploads.js';
import { fixture } from '../../support/process/fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tutoring-private-'));
const api = await fixture(TestApi.start({ DATA_DIR: folder, FILES_MB_PER_ORG: '1' }));
const { make } = api;
const base = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;

mkdirSync(join(folder, 'private'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<< >>\nendobj\ntrailer\n<< >>\n%%EOF\n');

/** A zip of files that are stored as they are. */
function zip(files: Record<string, string>): Buffer {
  const entries = Object.entries(files).map(([name, text]) => ({ name: Buffer.from(name), bytes: Buffer.from(text) }));
  const headOf = ({ name, bytes }: (typeof entries)[number], central: boolean) => {
    const head = Buffer.alloc(central ? 46 : 30);
    head.writeUInt32LE(central ? 0x02014b50 : 0x04034b50);
    const at = central ? 6 : 4;
    head.writeUInt16LE(20, at);
    head.writeUInt32LE(crc32(bytes), at + 10);
    head.writeUInt32LE(bytes.length, at + 14);
    head.writeUInt32LE(bytes.length, at + 18);
    head.writeUInt16LE(name.length, at + 22);
    return Buffer.concat([head, name]);
  };
  const local = entries.map((entry) => Buffer.concat([headOf(entry, false), entry.bytes]));
  const directory = Buffer.concat(entries.map((entry) => headOf(entry, true)));
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(Buffer.concat(local).length, 16);
  return Buffer.concat([...local, directory, end]);
}

const office = (type: string) =>
  zip({
    '[Content_Types].xml': `<?xml version="1.0"?><Types><Override PartName="/a.xml" ContentType="application/vnd.${type}.main+xml"/></Types>`,
    'a.xml': '<a/>',
  });
const ftyp = (brand: string) => Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from(`ftyp${brand}\0\0\0\0${brand}isom`), Buffer.alloc(64)]);
const ogg = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from('\u0001vorbis'), Buffer.alloc(64)]);
const wav = Buffer.concat([Buffer.from('RIFF'), Buffer.from([100, 0, 0, 0]), Buffer.from('WAVEfmt '), Buffer.alloc(64)]);
const mp3 = Buffer.concat(Array.from({ length: 4 }, () => Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)])));

interface Answer {
  status: number;
  body: Record<string, unknown> & { error: { code: string; message: string; details: object } };
}

async function send(method: string, path: string, key: string, body?: object, headers = {}): Promise<Answer> {
  const sent = { Authorization: `Token token=${key}`, ...(body && { 'Content-Type': 'application/json' }), ...headers };
  const response = await fetch(base + path, { method, headers: sent, body: body && JSON.stringify(body), redirect: 'manual' });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text || '{}') as Answer['body'] };
}

async function upload(key: string, content: Buffer | string, name = 'sheet.pdf', headers = {}): Promise<Answer> {
  const response = await fetch(`${base}/v1/files/uploads`, {
    method: 'POST',
    headers: { Authorization: `Token token=${key}`, 'Content-Type': MULTIPART, ...headers },
    body: new Uint8Array(multipart(part(content, { name, type: 'text/html' }))),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

async function organization() {
  const { id } = await make.organization();
  const key = await api.key(id, { scopes: ['read', 'coursework:write', 'payroll:write'] });
  const tutor = (await make.tutor(id)).id;
  const filed = async (content: Buffer = PDF, name = 'Übung “1”.pdf') => {
    const { body } = await upload(key, content, name);
    const file = { title: 'Surds', scope: 'private', owner_id: tutor, resource_type: 'file', upload_id: body.id };
    return (await send('POST', '/v1/files', key, file)).body as unknown as { id: string; file_url: string };
  };
  /** Where the content of a file is, for a key. */
  const linkOf = async (id: string, by = key) => {
    const response = await fetch(`${base}/v1/files/${id}/content`, { headers: { Authorization: `Token token=${by}` }, redirect: 'manual' });
    return { status: response.status, link: response.headers.get('location') ?? '' };
  };
  return { id, key, tutor, filed, linkOf };
}

const stored = () =>
  readdirSync(join(folder, 'private'), { recursive: true, encoding: 'utf8' }).filter((name) => /[0-9a-f-]{36}\/[0-9a-f-]{36}$/.test(name));

describe('an upload', () => {
  const KEPT: [string, Buffer | Promise<Buffer>, string][] = [
    ['pdf', PDF, 'application/pdf'],
    ['jpg', image('jpeg'), 'image/jpeg'],
    ['png', image('png'), 'image/png'],
    [
      'docx',
      office('openxmlformats-officedocument.wordprocessingml.document'),
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    ['xlsx', office('openxmlformats-officedocument.spreadsheetml.sheet'), 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    [
      'pptx',
      office('openxmlformats-officedocument.presentationml.presentation'),
      'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    ],
    ['odt', zip({ mimetype: 'application/vnd.oasis.opendocument.text' }), 'application/vnd.oasis.opendocument.text'],
    ['m4a', ftyp('M4A '), 'audio/mp4'],
    ['ogg', ogg, 'audio/ogg'],
    ['wav', wav, 'audio/wav'],
    ['mp3', mp3, 'audio/mpeg'],
  ];

  it.each(KEPT)('is kept as %s by its content, whatever its name and its declared type say', async (extension, content, type) => {
    const { key } = await organization();
    const { status, body } = await upload(key, await content, '..\\evil/Photo.of\u202Eme.exe');
    expect([status, body]).toMatchObject([201, { name: `Photo.ofme.${extension}`, content_type: type, size_bytes: (await content).length }]);
  });

  const REFUSED: [string, Buffer | string, string][] = [
    ['HEIC', ftyp('heic'), 'JPEG'],
    ['a document with macros', office('ms-word.document.macroEnabled'), '.docx'],
    ['an old office document', Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(512)]), '.docx'],
    ['HTML', '<!doctype html><script>alert(1)</script>', 'PDF'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'PDF'],
    ['a program', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(64)]), 'PDF'],
    ['a plain zip', zip({ 'a.txt': 'a' }), 'PDF'],
    ['nothing', '', 'PDF'],
  ];

  it.each(REFUSED)('of %s is refused, with words that help', async (_what, content, words) => {
    const { key } = await organization();
    const before = stored().length;
    const { status, body } = await upload(key, content);
    expect([status, body.error.code]).toEqual([415, 'unsupported_media_type']);
    expect(body.error.message).toContain(words);
    expect(stored()).toHaveLength(before);
  });

  it('counts once for a repeated key, and nothing is left of the repeat', async () => {
    const { key } = await organization();
    const once = { 'Idempotency-Key': uuidv7() };
    const first = await upload(key, PDF, 'a.pdf', once);
    const count = stored().length;
    expect((await upload(key, PDF, 'a.pdf', once)).body).toEqual(first.body);
    await expect.poll(() => stored().length).toBe(count);
  });

  it('beyond what the organization may store is a 409, and nothing of it is left', async () => {
    const [full, other] = [await organization(), await organization()];
    const half = Buffer.concat([PDF, Buffer.alloc(600_000)]);
    const answers = await Promise.all([1, 2, 3].map(() => upload(full.key, half)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const { error } = answers.find(({ status }) => status === 409)!.body;
    expect(error).toMatchObject({ code: 'storage_full', details: { limit: 1_048_576, used: half.length } });
    await expect.poll(() => stored().filter((name) => name.startsWith(full.id))).toHaveLength(1);
    expect((await upload(other.key, half)).status).toBe(201);
  });
});

describe('the content of a file', () => {
  it('is served as an attachment that runs nothing, in full or in part', async () => {
    const { filed, linkOf } = await organization();
    const file = await filed();
    expect(file.file_url).toBe(`/v1/files/${file.id}/content`);
    const { status, link } = await linkOf(file.id);
    expect([status, link]).toEqual([302, expect.stringMatching(/^\/files\/[\w-]{94}$/)]);
    const whole = await fetch(base + link);
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(PDF);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent('Übung “1”.pdf')}`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-store',
      'accept-ranges': 'bytes',
    });
    const ranged = async (range: string) => {
      const response = await fetch(base + link, { headers: { Range: range } });
      return [response.status, response.headers.get('content-range'), await response.text()];
    };
    expect(await ranged('bytes=0-3')).toEqual([206, `bytes 0-3/${PDF.length}`, '%PDF']);
    expect(await ranged('bytes=-2')).toEqual([206, `bytes ${PDF.length - 2}-${PDF.length - 1}/${PDF.length}`, 'F\n']);
    expect(await ranged('bytes=9999-')).toEqual([416, `bytes */${PDF.length}`, '']);
    expect((await ranged('bytes=0-1,3-4'))[0]).toBe(200);
    const head = await fetch(base + link, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(PDF.length)]);
  });

  it('is nobody’s but the organization’s, while the key that asked works, for 15 minutes', async () => {
    const [mine, other] = [await organization(), await organization()];
    const file = await mine.filed();
    const second = await api.key(mine.id, { scopes: ['read'] });
    const gone = async (link: string) => {
      const response = await fetch(base + link);
      const body = (await response.json()) as Answer['body'];
      return [response.status, body.error.code];
    };
    const NOT_FOUND = [404, 'not_found'];
    expect((await mine.linkOf(file.id, other.key)).status).toBe(404);
    expect((await mine.linkOf(uuidv7())).status).toBe(404);
    const blind = await api.key(mine.id, { scopes: ['coursework:write'] });
    expect((await mine.linkOf(file.id, blind)).status).toBe(403);

    const { link } = await mine.linkOf(file.id, second);
    expect((await fetch(base + link)).status).toBe(200);
    const token = link.slice('/files/'.length);
    // Each byte is signed: the organization, the file, the key, the end, and the signature itself.
    const bytes = Buffer.from(token, 'base64url');
    for (let at = 0; at < bytes.length; at += 5) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect([at, await gone(`/files/${changed.toString('base64url')}`)]).toEqual([at, NOT_FOUND]);
    }
    for (const guessed of [token.slice(0, -1), `${token}A`, 'A'.repeat(94), `${token.slice(0, -1)}=`])
      expect(await gone(`/files/${guessed}`)).toEqual(NOT_FOUND);

    const now = Date.now();
    const clock = vi.spyOn(Date, 'now');
    clock.mockReturnValue(now + 14.9 * 60_000);
    expect((await fetch(base + link)).status).toBe(200);
    clock.mockReturnValue(now + 15.1 * 60_000);
    expect(await gone(link)).toEqual(NOT_FOUND);
    clock.mockRestore();

    await make.query('UPDATE api_keys SET revoked_at = now() WHERE organization_id = $1 AND scopes = $2', [mine.id, ['read']]);
    expect(await gone(link)).toEqual(NOT_FOUND);
    const { link: own } = await mine.linkOf(file.id);
    expect((await send('DELETE', `/v1/files/${file.id}`, mine.key)).status).toBe(204);
    expect(await gone(own)).toEqual(NOT_FOUND);
    expect((await mine.linkOf(file.id)).status).toBe(404);
  });

  it('is not ours for a file by reference', async () => {
    const { key, linkOf } = await organization();
    const file = { title: 'Surds', scope: 'org', resource_type: 'link', link_url: 'https://example.org/' };
    const { body } = await send('POST', '/v1/files', key, file);
    expect((await linkOf(String(body.id))).status).toBe(404);
  });
});

describe('a file', () => {
  it('names an upload of its own organization, which no other file names', async () => {
    const [mine, other] = [await organization(), await organization()];
    const { body } = await upload(mine.key, PDF);
    const file = { title: 'Surds', scope: 'org', resource_type: 'file', upload_id: body.id };
    expect((await send('POST', '/v1/files', other.key, file)).status).toBe(404);
    expect((await send('POST', '/v1/files', mine.key, { ...file, file_url: 'https://example.org/' })).status).toBe(422);
    expect((await send('POST', '/v1/files', mine.key, { ...file, resource_type: 'link', link_url: 'https://example.org/' })).status).toBe(422);
    expect((await send('POST', '/v1/files', mine.key, file)).status).toBe(201);
    expect((await send('POST', '/v1/files', mine.key, file)).status).toBe(422);
  });

  it('has exactly the target of its scope, and another scope drops the former one', async () => {
    const { id, key, tutor } = await organization();
    const [classroom, student] = [await make.classroom(id), await make.student(id)];
    const link = { title: 'Surds', resource_type: 'link', link_url: 'https://example.org/' };
    const targets: [object, string | null][] = [
      [{ scope: 'classroom' }, 'classroom_id'],
      [{ scope: 'org', classroom_id: classroom.id }, 'classroom_id'],
      [{ scope: 'org', student_id: student.id }, 'student_id'],
      [{ scope: 'private' }, 'owner_id'],
      [{ scope: 'org', link_url: null }, 'link_url'],
      [{ scope: 'org', resource_type: 'file' }, 'file_url'],
      [{ scope: 'org', resource_type: 'video', link_url: null }, 'link_url'],
      [{ scope: 'personal', owner_id: student.id }, null],
    ];
    for (const [wish, at] of targets) {
      const { status, body } = await send('POST', '/v1/files', key, { ...link, ...wish });
      const places = (body.detail as { loc: string[] }[] | undefined)?.map(({ loc }) => loc[1]) ?? [null];
      expect([wish, status, places]).toEqual([wish, at ? 422 : 201, [at]]);
    }
    const { body } = await send('POST', '/v1/files', key, { ...link, scope: 'classroom', classroom_id: classroom.id });
    const moved = await send('PATCH', `/v1/files/${String(body.id)}`, key, { scope: 'private', owner_id: tutor, student_id: student.id });
    expect(moved.body).toMatchObject({ scope: 'private', classroom_id: null, owner_id: tutor, student_id: student.id });
  });

  it('is a receipt of an expense, and stays as long', async () => {
    const { key, tutor, filed, linkOf } = await organization();
    const file = await filed();
    const claim = { tutor_id: tutor, expense_date: '2026-05-01', amount_cents: 1250, receipt_file_id: file.id };
    const { status, body } = await send('POST', '/v1/expenses', key, claim);
    expect([status, body]).toMatchObject([201, { receipt_file_id: file.id, receipt_photo_url: file.file_url }]);
    expect((await linkOf(file.id)).status).toBe(302);
    expect((await send('DELETE', `/v1/files/${file.id}`, key)).body.error.code).toBe('still_referenced');
    const both = await send('PATCH', `/v1/expenses/${String(body.id)}`, key, { receipt_photo_url: 'https://example.org/' });
    expect(both.status).toBe(422);
    const other = await organization();
    expect((await send('POST', '/v1/expenses', other.key, { ...claim, tutor_id: other.tutor })).status).toBe(404);
  });
});
