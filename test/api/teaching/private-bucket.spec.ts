import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { PrivateStorage } from '@app/storage';
import { TestApi } from '../../support/http/api.js';
import { MULTIPART, multipart, part } from '../../support/http/uploads.js';

const folder = mkdtempSync(join(tmpdir(), 'tutoring-s3-'));
const buckets = ['images', 'documents'].map((name) => ({ name, configs: [] }));
const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: folder, configureBuckets: buckets });
const { port } = await server.run();
const S3 = {
  STORAGE: 's3',
  S3_BUCKET: 'images',
  S3_ENDPOINT: `http://127.0.0.1:${port}`,
  S3_ACCESS_KEY_ID: 'S3RVER',
  S3_SECRET_ACCESS_KEY: 'S3RVER',
};

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function client(settings: Record<string, string>) {
  const api = await TestApi.start({ ...S3, ...settings });
  const { id } = await api.make.organization();
  const headers = { Authorization: `Token token=${await api.key(id, { scopes: ['read', 'coursework:write'] })}` };
  const base = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;
  const upload = () =>
    fetch(`${base}/v1/files/uploads`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': MULTIPART },
      body: new Uint8Array(multipart(part('%PDF-1.7\n', { name: 'a.pdf' }))),
    });
  return { api, id, headers, base, upload };
}

it('a document is kept in the private bucket, and its bytes pass through the API', async () => {
  const { api, id, headers, base, upload } = await client({ S3_PRIVATE_BUCKET: 'documents' });
  const { id: upload_id } = (await (await upload()).json()) as { id: string };
  const file = { title: 'Surds', scope: 'org', resource_type: 'file', upload_id };
  const json = { ...headers, 'Content-Type': 'application/json' };
  const made = await fetch(`${base}/v1/files`, { method: 'POST', headers: json, body: JSON.stringify(file) });
  const { file_url } = (await made.json()) as { file_url: string };
  const served = await fetch(base + file_url, { headers });
  expect([served.status, new URL(served.url).origin, await served.text()]).toEqual([200, base, '%PDF-1.7\n']);
  const part = await fetch(served.url, { headers: { Range: 'bytes=1-3' } });
  expect([part.status, await part.text()]).toEqual([206, 'PDF']);
  const storage = api.app.get(PrivateStorage);
  await storage.remove(`${id}/${upload_id}`);
  expect(await storage.read(`${id}/${upload_id}`)).toBeNull();
  expect((await fetch(served.url)).status).toBe(404);
  await api.stop();
});

it('without a private bucket the API starts, and keeps no documents', async () => {
  const { api, upload } = await client({});
  const answer = await upload();
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  expect(api.logged.join('')).toContain('S3_PRIVATE_BUCKET is not set');
  await api.stop();
});

it('the bucket of the images, which everybody can read, is refused for documents', async () => {
  await expect(TestApi.start({ ...S3, S3_PRIVATE_BUCKET: 'images' })).rejects.toThrow('S3_PRIVATE_BUCKET must be another bucket');
});
