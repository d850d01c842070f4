import { Database } from '@app/database';
import { Invites } from '@app/people';
import type { Route } from '../../../apps/api/src/http/routing/route-table.js';
import type { Tables } from '../database/tables.js';
import type { TestApi } from '../http/api.js';
import { newestFirstLists } from '../http/routes.js';
import type { Factories } from './factories.js';
import { fill } from './organization-rows.js';
import { storedValues, tableOf } from './list-rows.js';
import { tell } from './told.js';

/** An organization with data for every route. */
export interface OrganizationFixture {
  organization: Tables['organizations'];
  id: string;
  /** A key for all reads. */
  key: string;
  /** The same with the platform-blog capability. */
  platformKey: string;
  /** An id for every path parameter, and others that rows refer to. */
  path: Record<string, string>;
  /** A value that at least one record has, for every parameter that is compared with a column, and for some others. */
  query: Record<string, string>;
  /** The ids of all its rows. */
  ids: ReadonlySet<string>;
}

export interface Fixtures {
  make: Factories;
  a: OrganizationFixture;
  b: OrganizationFixture;
  c: OrganizationFixture;
  /** The ids of the people who belong to the first two. */
  shared: ReadonlySet<string>;
}

/** Three organizations that share no rows but a tutor and a student of the first two, and platform posts. */
export async function createFixtures(api: TestApi): Promise<Fixtures> {
  const { make } = api;
  const [a, b, c] = [
    await createOrganizationFixture(api, make),
    await createOrganizationFixture(api, make),
    await createOrganizationFixture(api, make),
  ];
  await make.query(`INSERT INTO places (postcode, suburb, lat, lng) VALUES ('3056', 'Brunswick', -37.77, 144.96) ON CONFLICT DO NOTHING`);
  await make.post(null, { title: 'From the platform' });
  await make.post(null, { title: 'Published', brand: 'secondary', status: 'published', publishedAt: new Date() });
  const [tutor, student] = [await make.user(), await make.user()];
  const [sharingA, sharingB] = [await share(make, a, tutor.id, student.id), await share(make, b, tutor.id, student.id)];
  return { make, a: sharingA, b: sharingB, c, shared: new Set([tutor.id, student.id]) };
}

/** Rows of an organization about people whom another one has, too: a join that forgets the organization shows the other's. */
async function share(make: Factories, school: OrganizationFixture, tutorId: string, studentId: string) {
  const known = new Set(make.made);
  const { id } = school;
  const subject = await make.subject(id);
  const profile = { handle: 'shared', isPublished: true };
  await make.tutor(id, { user: { id: tutorId }, profile });
  await make.tutorSubject(id, tutorId, subject.id);
  await make.student(id, { user: { id: studentId } });
  await make.parent(id, { children: [studentId] });
  const classroom = await make.classroom(id, { tutorId, subjectId: subject.id });
  await make.classroomMember(id, classroom.id, studentId);
  await make.tutorStudent(id, tutorId, studentId, { subjectId: subject.id });
  const group = await make.group(id, { tutorId, classroomId: classroom.id, subjectId: subject.id });
  await make.groupMember(group.id, studentId);
  const session = await make.session(id, { tutorId, studentId, subjectId: subject.id });
  const lesson = { tutorId, studentId, sessionId: session.id };
  await make.payment(id, lesson);
  await make.feedback(id, tutorId, { sessionId: session.id, reviewerId: studentId, isPublic: true, comment: 'Good' });
  await make.adjustment(id, tutorId);
  await make.invoice(id, studentId, { tutorId });
  await make.mileage(id, tutorId, { sessionId: session.id });
  await make.expense(id, tutorId, { sessionId: session.id });
  await make.row('payouts', { organizationId: id, tutorId, sessionId: session.id, amountCents: 5000, currency: 'AUD', paidAt: new Date() });
  return { ...school, ids: new Set([...school.ids, ...[...make.made].filter((one) => !known.has(one))]) };
}

/** The route's path with the school's ids. */
export function pathOf(route: Route, school: OrganizationFixture): string {
  return route.path.replaceAll(/:([^/]+)/g, (_, name: string) => {
    const id = school.path[name];
    if (!id)
      throw new Error(`${route.method} ${route.path}: give "${name}" a value in OrganizationFixture.path (test/support/data/organization-rows.ts)`);
    return id;
  });
}

export function parametersOf(route: Route): string[] {
  return [...route.path.matchAll(/:([^/]+)/g)].map((match) => match[1]!);
}

/** Creates an organization with data for every route. */
export async function createOrganizationFixture(api: TestApi, make: Factories): Promise<OrganizationFixture> {
  const known = new Set(make.made);
  const organization = await make.organization();
  await api.app.get(Invites).ensurePermanentCodes(organization.id);
  const { path: filled, query } = await fill(make, organization.id);
  const code = { scope: 'classroom', role: 'student', targetId: filled.classroom_id!, code: true } as const;
  const [invite] = await api.app
    .get(Database)
    .transaction({ organizationId: organization.id }, () => api.app.get(Invites).mint(organization.id, [code]));
  filled.invite_id = invite!.id;
  const [event] = await tell(make, organization.id, ['session.created']);
  filled.event_id = event!;
  const path = { ...(await fillLists(api, organization.id, filled)), ...filled };
  return {
    organization,
    id: organization.id,
    key: await api.key(organization.id),
    platformKey: await api.key(organization.id, { platformBlog: true }),
    path,
    query: { ...(await storedValues(api, organization.id, path)), ...query },
    ids: new Set([...make.made].filter((id) => !known.has(id))),
  };
}

/**
 * Fills the tables of lists that {@link fill} does not cover: a full row, and one with only the required values.
 *
 * @returns the ids of the full rows, by path parameter
 */
async function fillLists(api: TestApi, organization_id: string, filled: Record<string, string>) {
  const { make } = api;
  const known = { ...filled, organization_id };
  const owned = make.samples.tablesWith('organization_id');
  const listed = newestFirstLists(api)
    .map(tableOf)
    .filter((table) => owned.includes(table));
  const empty: string[] = [];
  for (const table of listed) {
    const rows = await make.query(`SELECT FROM ${table} WHERE organization_id = $1 LIMIT 1`, [organization_id]);
    if (rows.length === 0) empty.push(table);
  }
  const added = await make.samples.each(empty, known, async (table, row, ids) => {
    await make.insert(table, [{ ...row, ...make.samples.optional(table, ids) }]);
    await make.insert(table, [{}], ids);
  });
  return added as Record<string, string>;
}
