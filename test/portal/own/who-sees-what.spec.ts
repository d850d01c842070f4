import type { Route } from '../../../apps/portal/src/web/route-table.js';
import { TestPortal } from '../../support/portal/portal.js';
import { IDS } from '../../support/portal/school-forms.js';
import { fixture } from '../../support/process/fixture.js';

/** Every page as every role of two organizations, with separated parents: nobody reads the name, address or words of somebody they have nothing to do with. */

const HOUR = 3_600_000;
const portal = await fixture(TestPortal.start());
const { make } = portal;
const routes = portal.routes().filter(({ method, access }) => method === 'GET' && access !== 'probe' && access !== 'public');

/** Somebody whose names and address occur nowhere else, so that each gives them away. */
interface Marked {
  id: string;
  first: string;
  last: string;
  mail: string;
}

let count = 0;
function marks() {
  const at = ++count;
  const [first, last] = [`Given${at}x`, `Family${at}x`];
  return {
    user: { firstName: first, lastName: last, email: `mail${at}x@example.org`, emailVerifiedAt: new Date() },
    first,
    last,
    mail: `mail${at}x@example.org`,
  };
}

/** An organization with a tutor, two families (the parents of the first are separated), their lessons, invoices and messages. */
async function school() {
  const organization = await make.organization({ timeZone: 'Australia/Melbourne', currency: 'AUD', sharesLearning: true });
  const at = organization.id;
  const person = async (role: 'owner' | 'admin' | 'tutor' | 'student' | 'parent', children: string[] = []): Promise<Marked> => {
    const { user, ...known } = marks();
    const made =
      role === 'parent'
        ? make.parent(at, { user, children, status: 'accepted' })
        : role === 'tutor'
          ? make.tutor(at, { user, status: 'accepted' })
          : make.member(at, { user, role, status: 'accepted' });
    return { id: (await made).id, ...known };
  };
  const [owner, admin, tutor, colleague, child, sibling, other] = [
    await person('owner'), await person('admin'), await person('tutor'), await person('tutor'),
    await person('student'), await person('student'), await person('student'),
  ]; // prettier-ignore
  const [mother, father, stranger] = [
    await person('parent', [child.id, sibling.id]),
    await person('parent', [child.id]),
    await person('parent', [other.id]),
  ];
  await make.query('UPDATE parent_students SET pays = true WHERE organization_id = $1 AND parent_id = $2 AND student_id = $3', [
    at,
    mother.id,
    child.id,
  ]);
  for (const [hours, students] of [
    [-26, [child]],
    [5, [child, other]],
    [30, [sibling]],
    [50, [other]],
  ] as [number, Marked[]][]) {
    const startsAt = new Date(Math.floor(Date.now() / 60_000) * 60_000 + hours * HOUR);
    const session = await make.session(at, { tutorId: tutor.id, status: 'scheduled', startsAt, meetingUrl: 'https://meet.example.org/a' });
    for (const { id } of students) await make.participant(at, session.id, id, { status: 'accepted', attendance: null, billedCents: null });
    await make.row('inbox_messages', { organizationId: at, fromUserId: students[0]!.id, sessionId: session.id, message: 'Hello' });
  }
  for (const { id } of [child, sibling, other]) {
    await make.invoice(at, id, { status: 'open', amountDueCents: 5_000 });
    await make.row('payments', { organizationId: at, studentId: id });
    await make.homework(tutor.id, { studentId: id }, at);
    await make.result(id, { madeByOrganizationId: at });
  }
  await make.tutorStudent(at, tutor.id, child.id);
  const everybody = [owner, admin, tutor, colleague, child, sibling, other, mother, father, stranger];
  const firstOf = (...people: Marked[]) => people.map(({ first }) => first);
  const allOf = (...people: Marked[]) => people.flatMap(({ first, last, mail }) => [first, last, mail]);
  const namesOf = (...people: Marked[]) => people.flatMap(({ first, last }) => [first, last]);
  /** Of whom each reads what, besides themselves. */
  const reads: [string, Marked, string[]][] = [
    ['owner', owner, allOf(...everybody)],
    ['admin', admin, allOf(...everybody)],
    ['tutor', tutor, namesOf(child, sibling, other)],
    ['another tutor', colleague, []],
    ['student', child, firstOf(tutor)],
    ['sibling', sibling, firstOf(tutor)],
    ['student of another family', other, firstOf(tutor)],
    ['mother', mother, [...namesOf(child, sibling), ...firstOf(tutor)]],
    ['father', father, [...namesOf(child), ...firstOf(tutor)]],
    ['parent of another family', stranger, [...namesOf(other), ...firstOf(tutor)]],
  ];
  return { organization, reads };
}

const schools = [await school(), await school()];

type School = (typeof schools)[number];

async function idsOf({ path }: Route, { organization }: School): Promise<string[]> {
  const [, name] = /:(\w+_id)/.exec(path) ?? [];
  if (!name) return [''];
  const rows = await make.query<{ id: string }>(IDS[name] ?? 'SELECT $1 AS id WHERE $2::uuid IS NULL', [
    organization.id,
    schools[0]!.reads[0]![1].id,
  ]);
  return rows.map(({ id }) => id);
}

/** For each route the ids of each organization. */
const pages = await Promise.all(routes.map(async (route) => ({ route, ids: await Promise.all(schools.map((school) => idsOf(route, school))) })));

/** What somebody of an organization asks for: their own pages with every id, those of managers with some. */
const pathsFor = (at: number): string[] =>
  pages.flatMap(({ route: { path }, ids }) =>
    schools.flatMap(({ organization }, home) => {
      const asked = path.startsWith('/my/')
        ? ids.flat()
        : home === at
          ? [...ids[at]!.slice(0, 3), ...ids[1 - at]!.slice(0, 1)]
          : ids[home]!.slice(0, 1);
      return asked.map((id) => path.replace(':slug', organization.slug).replaceAll(/:\w+/g, id));
    }),
  );

describe.each(schools.flatMap(({ reads }, at) => reads.map(([role, who, known]) => [at, role, who, known] as const)))(
  'in organization %i, the %s',
  (at, _role, who, known) => {
    it('reads of nobody whom they have nothing to do with', async () => {
      const cookie = await portal.session(who.id);
      const mine = new Set([who.first, who.last, who.mail, ...known]);
      let read = 0;
      for (const path of new Set(pathsFor(at))) {
        const { text, status } = await portal.get(path, cookie);
        expect([path, status < 500]).toEqual([path, true]);
        if (status === 200) read++;
        const others = [...new Set(text.match(/\b(Given|Family|mail)\d+x\b(@example\.org)?/g))].filter((word) => !mine.has(word));
        expect([path, others]).toEqual([path, []]);
      }
      expect(read).toBeGreaterThan(4);
    });
  },
);
