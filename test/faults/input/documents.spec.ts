import { UploadProcess } from '../../support/http/upload-process.js';
import { MULTIPART, multipart, part } from '../../support/http/uploads.js';
import { fixture } from '../../support/process/fixture.js';

/** 25 MB. */
const LIMIT = 26_214_400;

const uploading = await fixture(UploadProcess.start());
const { api, school, port } = uploading.uploads;
const key = await api.key(school, { scopes: ['read', 'coursework:write'] });
const authorized = { Authorization: `Token token=${key}` };
const base = `http://127.0.0.1:${port}`;

const pdfOf = (size: number) => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(size - 9, 0x61)]);

async function upload(content: Buffer) {
  const body = new Uint8Array(multipart(part(content, { name: 'a.pdf' })));
  const response = await fetch(`${base}/v1/files/uploads`, { method: 'POST', headers: { ...authorized, 'Content-Type': MULTIPART }, body });
  return { status: response.status, body: (await response.json()) as { id: string } };
}

/** @returns how many bytes are served */
async function download(uploadId: string): Promise<number> {
  const file = { title: 'Large', scope: 'org', resource_type: 'file', upload_id: uploadId };
  const headers = { ...authorized, 'Content-Type': 'application/json' };
  const made = await fetch(`${base}/v1/files`, { method: 'POST', headers, body: JSON.stringify(file) });
  const { file_url } = (await made.json()) as { file_url: string };
  const response = await fetch(base + file_url, { headers: authorized });
  return (await response.arrayBuffer()).byteLength;
}

it('a document of 25 MB is received and served in less than 30 MB of extra memory; one byte more is refused', async () => {
  const content = pdfOf(LIMIT);
  expect(await download((await upload(pdfOf(1_000_000))).body.id)).toBe(1_000_000);
  uploading.peak();
  const resting = uploading.peak();
  const { status, body } = await upload(content);
  const received = uploading.peak() - resting;
  const served = await download(body.id);
  const sent = uploading.peak() - resting;
  console.log(`25 MB: +${received.toFixed(1)} MB to receive, +${sent.toFixed(1)} MB to serve`);
  expect([status, served]).toEqual([201, LIMIT]);
  expect(Math.max(received, sent)).toBeLessThan(30);
  expect((await upload(pdfOf(LIMIT + 1))).status).toBe(413);
  await expect.poll(() => uploading.temporaryFiles()).toEqual([]);
}, 120_000);
