import type { Scope } from '@app/access';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';
import { TestPortal } from '../../support/portal/portal.js';
import { SHARED } from '../../support/http/api.js';

const api = await TestApi.shared();
const portal = await fixture(TestPortal.start(SHARED, api.database));
const { make } = api;

/** An organization with its owner, and what a key of it asks about somebody. */
async function school(scope: Scope = 'erasure:write') {
  const owner = await portal.someone('owner');
  const { id, slug } = owner.organization;
  const key = await api.key(id, { scopes: [scope] });
  const { port } = api.server.address() as { port: number };
  const ask = async (personId: string, body: object = {}) => {
    const headers = { Authorization: `Token token=${key}`, 'Content-Type': 'application/json' };
    const answer = await fetch(new URL(`/v1/people/${personId}/erase`, `http://127.0.0.1:${port}`), {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const left = (role: 'student' | 'tutor' | 'admin' = 'student') => make.member(id, { role, status: 'archived' });
  return { owner, id, ask, left, page: (personId: string) => `/o/${slug}/people/${personId}/erase` };
}

const notices = async (organizationId: string) =>
  (
    await make.query<{ kind: string }>(
      `SELECT DISTINCT n.kind FROM outbox, jsonb_object_keys(gathered_kinds) n (kind) WHERE organization_id = $1 AND n.kind LIKE 'erasure%' ORDER BY 1`,
      [organizationId],
    )
  ).map(({ kind }) => kind);

describe('a key that asks to erase somebody', () => {
  it('waits for an owner, who confirms it in the portal', async () => {
    const { owner, id, ask, left, page } = await school();
    const { id: student } = await left();
    expect(await ask(student, { keep_results: true })).toMatchObject({ status: 200, body: { person_id: student, due_at: null, keep_results: true } });
    expect(await ask(student)).toMatchObject({ status: 200, body: { due_at: null, keep_results: true } });
    expect(await notices(id)).toEqual(['erasure_wanted']);
    expect((await portal.get(page(student), owner.cookie).expect(200)).text).toContain('A program asks for this');
    await portal.post(`${page(student)}/ask`, { results: 'erase' }, owner.cookie).expect(303);
    const answer = await ask(student);
    expect(answer.body.due_at).toEqual(expect.any(String));
    expect(answer.body.keep_results).toBe(false);
    expect(await notices(id)).toEqual(['erasure_asked', 'erasure_wanted']);
  });

  it('is refused for who still belongs, who managed, who is held, and strangers', async () => {
    const { id, ask, left } = await school();
    const { id: here } = await make.student(id);
    const held = await left();
    await make.row('holds', { organizationId: id, userId: held.id, reason: 'A dispute' });
    const stranger = await make.student((await make.organization()).id);
    const codes = await Promise.all([here, (await left('admin')).id, held.id, stranger.id].map((one) => ask(one)));
    expect(codes.map(({ body }) => (body.error as { code: string }).code)).toEqual(['still_belongs', 'is_manager', 'held', 'not_found']);
  });
});
