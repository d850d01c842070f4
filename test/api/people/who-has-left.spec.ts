import { v7 as uuidv7 } from 'uuid';
import { parametersOf, pathOf } from '../../support/data/fixtures.js';
import { isUpload, validWrites, writesOf } from '../../support/http/record-for.js';
import type { Route } from '../../support/http/routes.js';
import { TenancySweep } from '../../support/http/tenancy-sweep.js';
import { idFieldsOf, valueAt, withValueAt } from '../../support/http/valid-bodies.js';
import { fixture } from '../../support/process/fixture.js';

const sweep = await fixture(TenancySweep.open());
const { make, a: school } = sweep.fixtures;

const LEFT = {
  student: () => make.student(school.id, { status: 'archived' }),
  tutor: () => make.tutor(school.id, { status: 'archived', profile: {} }),
  parent: () => make.parent(school.id, { status: 'archived' }),
};

/** Whom a field or a parameter names; undefined for what is no person. */
function kindOf(name: string, path: string): keyof typeof LEFT | undefined {
  if (name === 'user_id') return path.endsWith('/tutors') ? 'tutor' : 'student';
  if (/^(student_ids?|reviewer_id|recipient_id|participant_ids)$/.test(name)) return 'student';
  if (/^(tutor_id|\w+_tutor_id|assigned_by|created_by|author_id|owner_id|sender_id|hand_over_to)$/.test(name)) return 'tutor';
  return name === 'parent_id' ? 'parent' : undefined;
}

const BOOKS = 'what the organization records of somebody who has left is counted';
const AGAIN = 'it has happened: the same again';
const BACK = 'it brings them back';

/** Where somebody who has left may be named. */
const MAY: Record<string, string> = {
  'PATCH /v1/expenses/:claim_id tutor_id': BOOKS,
  'PATCH /v1/mileage/:trip_id tutor_id': BOOKS,
  'POST /v1/adjustments tutor_id': BOOKS,
  'POST /v1/expenses tutor_id': BOOKS,
  'POST /v1/invoices student_id': BOOKS,
  'POST /v1/mileage tutor_id': BOOKS,
  'POST /v1/parents/:parent_id/link-student parent_id': BACK,
  'POST /v1/parents/:parent_id/offboard parent_id': AGAIN,
  'POST /v1/parents/:parent_id/restore parent_id': BACK,
  'POST /v1/payments student_id': BOOKS,
  'POST /v1/payouts tutor_id': BOOKS,
  'POST /v1/sessions/settle-prices student_id': BOOKS,
  'POST /v1/sessions/settle-prices tutor_id': BOOKS,
  'POST /v1/students/:student_id/offboard student_id': AGAIN,
  'POST /v1/students/:student_id/restore student_id': BACK,
  'POST /v1/tutors/:tutor_id/offboard tutor_id': AGAIN,
  'POST /v1/tutors/:tutor_id/restore tutor_id': BACK,
};

/** Every place where a write names a person, with what is sent there. */
async function* placesOf(routes: Route[]) {
  for (const write of await validWrites(routes, make, school)) {
    const { route, operation, ids, body } = write;
    const inPath = parametersOf(route).map((name) => {
      const as = (id: string) => ({ ...write, path: pathOf(route, { ...school, path: { ...ids, [name]: id } }) });
      return { name, at: 'path', as };
    });
    const inBody = idFieldsOf(route)
      .filter((at) => valueAt(body, at) !== undefined)
      .map((at) => {
        const as = (id: string) => ({ ...write, body: withValueAt(body, at, id) as typeof body });
        return { name: at.filter((part) => part !== '0').at(-1)!, at: 'body', as };
      });
    for (const { name, at, as } of [...inPath, ...inBody]) {
      const kind = kindOf(name, route.path);
      if (kind) yield { place: `${operation} ${name}`, kind, at, send: (id: string) => sweep.write(as(id), school) };
    }
  }
}
const routes = writesOf(sweep.api).filter((route) => !isUpload(route));

it('who has left is named by no write, but where that is what it is for', async () => {
  const [wrong, places, named] = [[] as string[], new Set<string>(), new Set<string>()];
  for await (const { place, kind, send } of placesOf(routes)) {
    places.add(place);
    const nobody = await send(uuidv7());
    const { status, text } = await send((await LEFT[kind]()).id);
    if (nobody.status === 404 && [404, 409, 422].includes(status)) continue;
    named.add(place);
    if (!(place in MAY)) wrong.push(`${place}: ${status} ${text}`);
  }
  expect(wrong).toEqual([]);
  expect([...named].sort()).toEqual(Object.keys(MAY).sort());
  expect(places.size).toBeGreaterThan(60);
});

/** Where anybody of the organization may be named, and what only chooses among sessions. */
const ANYBODY = /reviewer_id|participant_ids|recipient_id|owner_id|settle-prices/;

it('somebody of another kind is nobody in a path, and refused in a body', async () => {
  const others = { student: (await make.tutor(school.id)).id, tutor: (await make.student(school.id)).id, parent: (await make.student(school.id)).id };
  const wrong: string[] = [];
  for await (const { place, kind, at, send } of placesOf(routes)) {
    if (ANYBODY.test(place)) continue;
    const { status, text } = await send(others[kind]);
    if (!(at === 'path' ? [404] : [404, 422]).includes(status)) wrong.push(`${place} in the ${at}: ${status} ${text}`);
  }
  expect(wrong).toEqual([]);
});
