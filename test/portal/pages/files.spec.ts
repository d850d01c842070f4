import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestApi } from '../../support/http/api.js';
import { MULTIPART, multipart, part } from '../../support/http/uploads.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<< >>\nendobj\ntrailer\n<< >>\n%%EOF\n');

const folder = mkdtempSync(join(tmpdir(), 'tutoring-files-'));
const shared = { ENCRYPTION_KEY: randomBytes(32).toString('hex'), DATA_DIR: folder };
const api = await fixture(TestApi.start(shared));
const base = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;
const portal = await fixture(TestPortal.start({ ...shared, PUBLIC_URL: base }, api.database));
const { make } = portal;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An organization with its owner and a file. */
async function office() {
  const owner = await portal.someone('owner');
  const { id, slug } = owner.organization;
  const headers = { Authorization: `Token token=${await api.key(id, { scopes: ['read', 'coursework:write'] })}` };
  const body = new Uint8Array(multipart(part(PDF, { name: 'sheet.pdf' })));
  const uploaded = await fetch(`${base}/v1/files/uploads`, { method: 'POST', headers: { ...headers, 'Content-Type': MULTIPART }, body });
  const { id: uploadId } = (await uploaded.json()) as { id: string };
  const file = await make.row('files', { organizationId: id, scope: 'org', title: 'Surds', resourceType: 'file', uploadId });
  const open = async (cookie = owner.cookie, fileId = file.id, at = slug) => {
    const { status, headers: answered } = await portal.get(`/o/${at}/files/${fileId}`, cookie);
    return { status, link: answered.location ?? '' };
  };
  return { ...owner, file, open };
}
const served = async (link: string) => (await fetch(link)).status;

describe('a file in the portal', () => {
  it('opens for owners and admins, with an address of 15 minutes that the API serves', async () => {
    const { organization, open } = await office();
    const admin = await portal.someone('admin', { organization });
    for (const cookie of [undefined, admin.cookie]) {
      const { status, link } = await open(cookie);
      expect([status, link]).toEqual([303, expect.stringMatching(new RegExp(`^${base}/files/[\\w-]{94}$`))]);
      expect(Buffer.from(await (await fetch(link)).arrayBuffer())).toEqual(PDF);
      const now = Date.now();
      const clock = vi.spyOn(Date, 'now');
      clock.mockReturnValue(now + 14.9 * 60_000);
      expect(await served(link)).toBe(200);
      clock.mockReturnValue(now + 15.1 * 60_000);
      expect(await served(link)).toBe(404);
      clock.mockRestore();
    }
  });

  it('is nobody else’s, unknown or by reference: all are the same page that there is not', async () => {
    const [mine, other] = [await office(), await office()];
    const link = {
      organizationId: mine.organization.id,
      scope: 'org',
      title: 'Surds',
      resourceType: 'link',
      linkUrl: 'https://example.org/',
    } as const;
    const { id: referred } = await make.row('files', link);
    for (const id of [other.file.id, referred, randomUUID(), 'nonsense']) expect([id, (await mine.open(mine.cookie, id)).status]).toEqual([id, 404]);
    expect((await mine.open(other.cookie)).status).toBe(404);
    for (const role of ['tutor', 'student'] as const) {
      const { cookie } = await portal.someone(role, { organization: mine.organization });
      expect((await mine.open(cookie)).status).toBe(403);
    }
    expect((await mine.open('')).link).toMatch(/^\/sign-in\?next=/);
  });

  it('is not served at a changed or guessed address, nor to somebody who has been removed or manages no more', async () => {
    const { organization, open, file } = await office();
    const { link } = await open();
    const bytes = Buffer.from(link.slice(-94), 'base64url');
    for (let at = 0; at < bytes.length; at += 5) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect([at, await served(`${base}/files/${changed.toString('base64url')}`)]).toEqual([at, 404]);
    }
    expect(await served(`${base}/files/${'A'.repeat(94)}`)).toBe(404);
    for (const change of [`status = 'archived', archived_at = now()`, `role = 'tutor'`]) {
      const { user, cookie } = await portal.someone('admin', { organization });
      const { link: theirs } = await open(cookie);
      expect(await served(theirs)).toBe(200);
      await make.query(`UPDATE members SET ${change} WHERE organization_id = $1 AND user_id = $2`, [organization.id, user.id]);
      expect([change, await served(theirs)]).toEqual([change, 404]);
    }
    await make.query('DELETE FROM files WHERE id = $1', [file.id]);
    expect(await served(link)).toBe(404);
  });
});
