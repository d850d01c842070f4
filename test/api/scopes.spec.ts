import { Controller, Get } from '@nestjs/common';
import { SCOPES, type Scope } from '@app/accounts';
import { RequireScopes } from '../../apps/api/src/http/auth/access.decorators.js';
import { TestApi } from '../support/http/api.js';
import { call, keyedRoutes, nameOf, type Route } from '../support/http/routes.js';
import { createWorld, type World } from '../support/data/world.js';

/**
 * The documented table, written out: which single scopes open an operation. A wrong decorator differs from it, and an
 * operation that is missing here fails.
 */
const OPENED_BY: [opens: string, operations: string][] = [
  [
    'read',
    `GET /v1/ping
     GET /v1/me
     GET /v1/request-log
     GET /v1/sessions
     GET /v1/sessions/{session_id}
     GET /v1/users
     GET /v1/students
     GET /v1/students/{student_id}
     GET /v1/tutors
     GET /v1/tutors/{tutor_id}
     GET /v1/tutors/{tutor_id}/available-slots
     GET /v1/tutors/{tutor_id}/earnings
     GET /v1/tutors/{tutor_id}/reviews
     GET /v1/payments
     GET /v1/payments/{payment_id}
     GET /v1/invoices
     GET /v1/invoices/{invoice_id}
     GET /v1/parents
     GET /v1/parents/{parent_id}
     GET /v1/parents/{parent_id}/balance
     GET /v1/subjects
     GET /v1/lesson-plans
     GET /v1/homework
     GET /v1/files
     GET /v1/questions
     GET /v1/student-groups
     GET /v1/student-groups/{group_id}
     GET /v1/results
     GET /v1/results/{result_id}
     GET /v1/session-feedback
     GET /v1/classrooms
     GET /v1/classrooms/{classroom_id}
     GET /v1/mileage
     GET /v1/expenses
     GET /v1/adjustments
     GET /v1/org/join-link
     GET /v1/conversations
     GET /v1/conversations/{conversation_id}/messages
     GET /v1/org-inbox
     GET /v1/reports/summary
     GET /v1/booking-requests
     GET /v1/booking-requests/{request_id}/recommended-tutors
     GET /v1/coverage/tutors
     GET /v1/coverage/summary
     GET /v1/coverage/gaps
     GET /v1/lesson-participants
     GET /v1/lesson-participants/{participant_id}
     GET /v1/availabilities
     GET /v1/availabilities/{availability_id}
     GET /v1/locations
     GET /v1/locations/{location_id}
     GET /v1/payouts
     GET /v1/payouts/{payout_id}
     GET /v1/rate-cells
     GET /v1/rate-bands
     GET /v1/tutor-tiers
     GET /v1/leads
     GET /v1/leads/{lead_id}
     GET /v1/blog-posts
     GET /v1/blog-posts/{post_id}`,
  ],
  [
    'accounts:write',
    `POST /v1/students
     POST /v1/tutors
     POST /v1/parents
     POST /v1/students/{student_id}/send-invite
     POST /v1/parents/{parent_id}/send-invite
     POST /v1/parents/{parent_id}/link-student
     POST /v1/students/{student_id}/offboard
     POST /v1/invites`,
  ],
  ['students:write', 'PATCH /v1/students/{student_id}'],
  // Each of its rows needs one of the two; which, only its body tells.
  ['students:write tutors:write write', 'POST /v1/users/bulk-invite'],
  [
    'tutors:write write',
    `PUT /v1/tutors/{tutor_id}
     POST /v1/classrooms
     POST /v1/groups
     POST /v1/classrooms/{classroom_id}/students
     POST /v1/classrooms/{classroom_id}/tutors
     POST /v1/groups/{group_id}/students
     POST /v1/groups/{group_id}/tutors`,
  ],
  ['payments:write write', 'POST /v1/payments'],
  ['payroll:write write', 'POST /v1/adjustments'],
  [
    'coursework:write write',
    `POST /v1/lesson-plans
     PUT /v1/lesson-plans/{plan_id}
     POST /v1/questions`,
  ],
  [
    'sessions:write',
    `POST /v1/sessions
     PUT /v1/sessions/{session_id}
     DELETE /v1/sessions/{session_id}
     PUT /v1/sessions/{session_id}/complete
     POST /v1/sessions/{session_id}/cancel`,
  ],
  [
    'blog:write',
    `POST /v1/blog-posts
     PATCH /v1/blog-posts/{post_id}
     DELETE /v1/blog-posts/{post_id}
     POST /v1/blog-images`,
  ],
  [
    'write',
    `POST /v1/messages
     POST /v1/leads`,
  ],
];

/** By operation. */
const opensTo = new Map(
  OPENED_BY.flatMap(([scopes, operations]) =>
    operations.split('\n').map((operation) => [operation.trim(), scopes.split(' ')] as const),
  ),
);

const ALL = Object.keys(SCOPES) as [Scope, ...Scope[]];

const pathBehind = (...scopes: Scope[]) => `/v1/planted/${scopes.join('-').replaceAll(':', '-')}`;

/** A route that needs these. */
function behind(...scopes: [Scope, ...Scope[]]) {
  @Controller(pathBehind(...scopes))
  class Planted {
    @Get()
    @RequireScopes(...scopes)
    get(): object {
      return {};
    }
  }
  return Planted;
}

let api: TestApi;
let world: World;

beforeAll(async () => {
  api = await TestApi.start();
  world = await createWorld(api);
});

afterAll(async () => {
  await world.close();
  await api.stop();
});

function documented(route: Route): string[] {
  const scopes = opensTo.get(nameOf(route));
  if (!scopes) throw new Error(`${nameOf(route)}: add the scopes that open it to OPENED_BY, from the decisions`);
  return scopes;
}

/** Neither 401 nor 403: whatever else the operation says to an empty request, it let the key in. */
async function admits(route: Route, key: string): Promise<boolean> {
  const { status, text } = await call(api, route, world.a, { key });
  if (status === 401 || status >= 500) throw new Error(`${nameOf(route)} answered ${status}: ${text}`);
  return status !== 403;
}

describe('scopes', () => {
  it('are these ten', () => {
    expect([...ALL].sort()).toEqual([
      'accounts:write', 'blog:write', 'coursework:write', 'payments:write', 'payroll:write', 'read', 'sessions:write',
      'students:write', 'tutors:write', 'write',
    ]); // prettier-ignore
  });

  it('are known for every operation', () => {
    expect(keyedRoutes(api).map((route) => [nameOf(route), documented(route)])).not.toHaveLength(0);
  });

  it.each(ALL)('%s alone opens exactly what is documented', async (scope) => {
    const key = await api.key(world.a.id, { scopes: [scope] });
    const opened: string[] = [];
    for (const route of keyedRoutes(api)) if (await admits(route, key)) opened.push(nameOf(route));
    const expected = keyedRoutes(api).filter((route) => documented(route).includes(scope));
    expect(opened.sort()).toEqual(expected.map(nameOf).sort());
  });

  it('together open everything, and nothing is open to all but the right ones', async () => {
    const every = await api.key(world.a.id, { scopes: ALL });
    for (const route of keyedRoutes(api)) {
      expect([nameOf(route), await admits(route, every)]).toEqual([nameOf(route), true]);
      const others = ALL.filter((scope) => !documented(route).includes(scope));
      const key = await api.key(world.a.id, { scopes: others });
      expect([nameOf(route), await admits(route, key)]).toEqual([nameOf(route), false]);
    }
  });

  it('cover no others, but for the umbrella over exactly its four', async () => {
    const planted = await TestApi.start({}, api.database, [...ALL.map((scope) => behind(scope)), behind(...ALL)]);
    const opened: Record<string, string[]> = {};
    for (const held of ALL) {
      const key = await planted.key(world.a.id, { scopes: [held] });
      const paths = [...ALL.map((scope) => pathBehind(scope)), pathBehind(...ALL)];
      const answers = await Promise.all(
        paths.map(async (path) => ({ path, status: (await planted.get(path, key)).status })),
      );
      opened[held] = answers.filter(({ status }) => status === 200).map(({ path }) => path);
    }
    const alone = Object.fromEntries(ALL.map((scope) => [scope, [pathBehind(scope)]]));
    const four = ['payments:write', 'tutors:write', 'payroll:write', 'coursework:write', 'write'] as const;
    expect(opened).toEqual({ ...alone, write: four.map((scope) => pathBehind(scope)) });
    await planted.close();
  });

  it('that are missing are named beside those that the key holds', async () => {
    for (const route of keyedRoutes(api)) {
      const scopes = ALL.filter((scope) => !documented(route).includes(scope));
      const { status, headers, text } = await call(api, route, world.a, { key: await api.key(world.a.id, { scopes }) });
      const { error } = JSON.parse(text) as { error: { message: string; details: { required: string[] } } };
      expect(status).toBe(403);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(error).toEqual({
        code: 'insufficient_scope',
        message: expect.any(String) as string,
        status: 403,
        details: { required: error.details.required, granted: scopes },
      });
      expect([nameOf(route), error.details.required]).toEqual([nameOf(route), requiredBy(route)]);
      expect(error.message).toContain(requiredBy(route)[0]);
    }
  });

  it('are told to the key that holds them', async () => {
    const scopes: Scope[] = ['read', 'blog:write', 'payments:write'];
    const answer = await api.get('/v1/me', await api.key(world.a.id, { scopes }));
    expect(answer.body).toMatchObject({ org_id: world.a.id, scopes });
  });
});

/** The scope itself: the umbrella stands for it only in the keys. */
function requiredBy(route: Route): string[] {
  const scopes = documented(route);
  return scopes.length > 1 ? scopes.filter((scope) => scope !== 'write') : scopes;
}
