import supertest from 'supertest';
import { type Scope, SCOPES } from '@app/access';
import { createFixtures } from '../../support/data/fixtures.js';
import { TestApi } from '../../support/http/api.js';
import { operationOf, recordFor, writesOf } from '../../support/http/record-for.js';
import type { Route } from '../../support/http/routes.js';
import { pathOf } from '../../support/data/fixtures.js';
import { bodiesOf, type Body, idFieldsOf, valueAt, withValueAt } from '../../support/http/valid-bodies.js';

const api = await TestApi.shared();
const { make, a: school } = await createFixtures(api);
const key = await api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[] });

const KINDS = [
  { table: 'subjects', names: ['subject', 'subject_id', 'tutor_subjects'], made: () => make.subject(school.id) },
  { table: 'classrooms', names: ['classroom_id'], made: () => make.classroom(school.id) },
  { table: 'student_groups', names: ['group_id'], made: () => make.group(school.id) },
];
const archive = (table: string, id: string) => make.query(`UPDATE ${table} SET is_archived = true WHERE id = $1`, [id]);

async function send(route: Route, path: string, body: Body): Promise<number> {
  const method = route.method.toLowerCase() as 'post';
  return (await supertest(api.server)[method](path).set('Authorization', `Token token=${key}`).send(body)).status;
}

describe.each(KINDS)('one of $table that is archived', ({ table, names, made }) => {
  /** Where a body names one. */
  const placesOf = (route: Route) => idFieldsOf(route).filter((at) => names.includes(at.filter((part) => part !== '0').at(-1)!));
  const routes = writesOf(api).filter((route) => placesOf(route).length > 0);
  /** A request that names this one. */
  const naming = async (route: Route, id: string) => {
    const ids = await recordFor(route, make, school);
    const [at, body] = placesOf(route).flatMap((place) => {
      const found = bodiesOf(route, ids).find((one) => valueAt(one, place) !== undefined);
      return found ? [[place, found] as const] : [];
    })[0]!;
    return { path: pathOf(route, { ...school, path: ids }), body: withValueAt(body, at, id) as Body };
  };

  it('can be named by no write that did not name it, as if there were none', async () => {
    const { id } = await made();
    await archive(table, id);
    const answers: [string, number][] = [];
    for (const route of routes) {
      const { path, body } = await naming(route, id);
      answers.push([operationOf(route), await send(route, path, body)]);
    }
    expect(routes.length).toBeGreaterThan(4);
    expect(answers).toEqual(routes.map((route) => [operationOf(route), 404]));
  });

  it('stays where it is, also when it is sent again', async () => {
    // A class of a session is asked anew who is in it.
    const changes = routes.filter(({ method, path }) => method !== 'POST' && (table === 'subjects' || !path.startsWith('/v1/sessions/')));
    const answers: [string, number, number][] = [];
    for (const route of changes) {
      const { id } = await made();
      const { path, body } = await naming(route, id);
      const first = await send(route, path, body);
      await archive(table, id);
      answers.push([operationOf(route), first, await send(route, path, body)]);
    }
    expect(answers).toEqual(changes.map((route) => [operationOf(route), 200, 200]));
  });
});
