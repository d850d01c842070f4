import { lockNumber } from '../../../libs/database/src/locks.js';
import type { Route } from '../../../apps/portal/src/web/route-table.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { SchoolForms } from '../../support/portal/school-forms.js';
import { fixture } from '../../support/process/fixture.js';

/** The most forms of a route that are sent at once: each holds a connection. */
const AT_ONCE = 4;

// An invoice is mailed where mail is sent.
const portal = await fixture(TestPortal.start({ SMTP_URL: 'smtp://127.0.0.1:1' }));
const { make } = portal;
const schools = new SchoolForms(portal);
const routes = portal.routes().filter(({ method, access }) => method === 'POST' && access === 'managers');
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** Every row of an organization, of any table. */
const tables = await make.query<{ name: string }>(
  `SELECT c.table_name AS name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
   WHERE c.table_schema = 'public' AND c.column_name = 'organization_id' AND t.table_type = 'BASE TABLE' ORDER BY 1`,
);
const STATE = [
  ...tables.map(({ name }) => `SELECT '${name}' AS what, to_jsonb(t) AS row FROM ${name} t WHERE organization_id = $1`),
  `SELECT 'organization', to_jsonb(o) FROM organizations o WHERE id = $1 ORDER BY 1, 2`,
].join(' UNION ALL ');

/** How many transactions wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await make.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row!.count;
}

/** Removes somebody, and commits the removal once something waits for it. @returns what became of it, and how the organization was left */
async function whileRemoved(
  owner: Someone,
  something: () => Promise<{ statuses: Promise<number[]> }>,
): Promise<[statuses: number[], left: object[]]> {
  const organizationId = owner.organization.id;
  const removal = make.db.createQueryRunner();
  await removal.startTransaction();
  try {
    const locks = [`provisioning of ${organizationId}`, `person ${owner.user.id} in ${organizationId}`].map(lockNumber);
    await removal.query('SELECT pg_advisory_xact_lock(n) FROM unnest($1::bigint[]) n', [locks]);
    const remove = `UPDATE members SET status = 'archived', archived_at = now() WHERE organization_id = $1 AND user_id = $2`;
    await removal.query(remove, [organizationId, owner.user.id]);
    const { statuses } = await something();
    const left = (await removal.query(STATE, [organizationId])) as object[];
    await removal.commitTransaction();
    return [await statuses, left];
  } catch (error) {
    await removal.rollbackTransaction();
    throw error;
  } finally {
    await removal.release();
  }
}

/** What distinguishes the forms of a route: everything but ids. */
const variantOf = (action: string) => action.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, ':id').replace(/^\/o\/[^/]+/, '');

it.each(routes.map((route) => [nameOf(route), route] as const))(
  '%s does nothing if whoever sends it is removed at the same moment, and something otherwise',
  async (_name, route) => {
    const [first] = [await schools.full(route)];
    const variants = [...new Set((await schools.formsOn(route, first)).map(({ action }) => variantOf(action)))];
    expect(variants).not.toEqual([]);
    for (const [index, variant] of variants.entries()) {
      const owner = index === 0 ? first : await schools.full(route);
      const ids = [owner.organization.id];
      const forms = (await schools.formsOn(route, owner)).filter(({ action }) => variantOf(action) === variant).slice(0, AT_ONCE);
      const send = () => Promise.all(forms.map(({ action, fields }) => portal.post(action, fields, owner.cookie).then(({ status }) => status)));
      const [answered, before] = await whileRemoved(owner, async () => {
        const statuses = send();
        await vi.waitFor(async () => expect([variant, await waiting()]).toEqual([variant, forms.length]));
        return { statuses };
      });
      // Leaving what has ended leads out of it.
      for (const status of answered) expect([variant, status === 404 || status === 303]).toEqual([variant, true]);
      expect([variant, await make.query(STATE, ids)]).toEqual([variant, before]);
      await make.query(`UPDATE members SET status = 'accepted', archived_at = NULL WHERE organization_id = $1 AND user_id = $2`, [
        ...ids,
        owner.user.id,
      ]);
      const restored = await make.query(STATE, ids);
      for (const status of await send()) expect([variant, status < 400]).toEqual([variant, true]);
      expect([variant, await make.query(STATE, ids)]).not.toEqual([variant, restored]);
    }
  },
);
