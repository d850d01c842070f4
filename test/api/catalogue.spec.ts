import { TestApi } from '../support/http/api.js';
import {
  type ApiDocument,
  documentOf,
  keyedReads,
  keyedRoutes,
  nameOf,
  operationAt,
  queryOf,
  type Route,
  type Schema,
} from '../support/http/routes.js';

/** The catalogue's lines of the operations that are served: operation | query parameters (! required) | answer. */
const OPERATIONS = `
  GET /v1/ping | | Ping
  GET /v1/me | | Me
  GET /v1/sessions/{session_id} | | Session
  GET /v1/tutors | is_published, limit, offset | Page<Tutor>
  GET /v1/payments | student_id, tutor_id, status, from, to, limit, offset | Page<Payment>
  GET /v1/students | limit, offset | Page<Student>
  GET /v1/parents | limit, offset | Page<Parent>
  GET /v1/parents/{parent_id} | | Parent
  GET /v1/parents/{parent_id}/balance | | ParentBalance
  GET /v1/homework | homework_type, scope, student_id, limit, offset | Page<Homework>
  GET /v1/student-groups/{group_id} | | StudentGroup
  GET /v1/results | student_id, status, mode, from, to, limit, offset | Page<Result>
  GET /v1/session-feedback | tutor_id, public_only, anonymize, limit, offset | Page<SessionFeedback>
  GET /v1/tutors/{tutor_id}/reviews | anonymize, limit, offset | Page<TutorReview>
  GET /v1/adjustments | tutor_id, include_voided, from, to, limit, offset | Page<Adjustment>
  GET /v1/conversations | type, limit, offset | Page<Conversation>
  GET /v1/reports/summary | | Summary
  GET /v1/blog-posts | brand, status, target, limit, offset | BlogPost[]
  GET /v1/blog-posts/{post_id} | | BlogPost
  GET /v1/org/join-link | | OrgJoinLink`;

/** And of the writes; where the catalogue shows no answer, ours. */
const WRITES = `
  POST /v1/users/bulk-invite | | BulkInviteResponse
  POST /v1/students | | Student
  POST /v1/tutors | | Tutor
  POST /v1/parents | | Parent
  PATCH /v1/students/{student_id} | | Student
  POST /v1/parents/{parent_id}/link-student | | ParentStudentLink
  POST /v1/students/{student_id}/send-invite | | AccountInviteSent
  POST /v1/parents/{parent_id}/send-invite | | AccountInviteSent
  POST /v1/invites | | Invite
  POST /v1/classrooms/{classroom_id}/students | | MemberAddResult
  POST /v1/classrooms/{classroom_id}/tutors | | MemberAddResult
  POST /v1/groups/{group_id}/students | | MemberAddResult
  POST /v1/groups/{group_id}/tutors | | MemberAddResult
  POST /v1/blog-posts | | BlogPost
  PATCH /v1/blog-posts/{post_id} | | BlogPost
  DELETE /v1/blog-posts/{post_id} | |
  POST /v1/blog-images | target, brand | BlogImage`;

/** And of their shapes. */
const SHAPES = `
  Ping status: string, org_id: string, org_name: string or null
  Me org_id: string, org_name: string or null, org_slug: string or null, scopes: string[]
  Session id: string, status: string or null, title: string or null, tutor_id: string or null, student_id: string or
    null, starts_at: string or null, ends_at: string or null, duration_minutes: integer or null, tutor_pay_rate_cents:
    integer or null, student_rate_cents: integer or null, amount_owed_cents: integer or null, mode: string or null,
    subject_id: string or null, created_at: string or null, completed_at: string or null
  Student id: string, first_name: string or null, last_name: string or null, email: string or null,
    placeholder_email: boolean or null, status: string or null, parent_ids: string[], created_at: string or null
  Tutor id: string, first_name: string or null, last_name: string or null, full_name: string or null, email: string
    or null, placeholder_email: boolean or null, role: string or null, status: string or null, bio: string or null,
    teaching_mode: string or null, is_published: boolean or null, avatar_url: string or null, handle: string or null,
    subjects: string[], created_at: string or null, home_suburb: string or null, home_postcode: string or null,
    home_lat: number or null, home_lng: number or null, service_postcodes: string[], serves_all_areas: boolean or
    null, max_travel_km: integer or null, in_person_arrangements: string[], tutor_subjects: string[], specialisations:
    string[], distance_km: number or null, covers_area: boolean or null
  Payment id: string, session_id: string or null, student_id: string or null, tutor_id: string or null,
    amount_cents: integer or null, refund_amount_cents: integer or null, currency: string or null, payment_type:
    string or null, status: string or null, stripe_payment_intent_id: string or null, created_at: string or null
  Parent id: string, first_name: string or null, last_name: string or null, email: string or null,
    placeholder_email: boolean or null, status: string or null, student_ids: string[], created_at: string or null
  ParentBalance parent_id: string, total_invoiced_cents: integer, total_paid_cents: integer, outstanding_cents:
    integer, open_invoices_count: integer
  Homework id: string, assigned_by: string or null, title: string or null, description: string or null,
    homework_type: string or null, scope: string or null, classroom_id: string or null, group_id: string or null,
    student_id: string or null, due_date: string or null, files: any[], created_at: string or null
  StudentGroup id: string, name: string or null, tutor_id: string or null, classroom_id: string or null, subject_id:
    string or null, rate_per_student_cents: integer or null, color: string or null, avatar_url: string or null,
    student_ids: string[], created_at: string or null, updated_at: string or null
  Result id: string, student_id: string or null, status: string or null, grade: number or null, mode: string or
    null, vce_exam_id: string or null, curriculum_level_id: string or null, homework_assignment_id: string or null,
    started_at: string or null, completed_at: string or null
  SessionFeedback id: string, session_id: string or null, tutor_id: string or null, rating: integer, recommend:
    boolean or null, prepared: boolean or null, positive_tags: string[], improve_tags: string[], comment: string or
    null, is_public: boolean, reviewer_role: string or null, reviewer_name: string or null, created_at: string or null
  TutorReview id: string, tutor_id: string or null, rating: integer, comment: string or null, reviewer_name: string
    or null, created_at: string or null
  Adjustment id: string, tutor_id: string or null, period_start: string or null, period_end: string or null,
    amount_cents: integer or null, note: string or null, voided: boolean, created_at: string or null
  Conversation id: string, type: string or null, classroom_id: string or null, title: string or null,
    last_message_at: string or null, participants: ConversationParticipant[], created_at: string or null, updated_at:
    string or null
  ConversationParticipant user_id: string, role: string or null
  Summary active_tutors: integer, active_students: integer, sessions_today: integer, settled_this_week_cents:
    integer, outstanding_cents: integer, pending_approvals: PendingApprovals
  PendingApprovals mileage: integer, expenses: integer, total: integer
  BlogPost id: string, target: string or null, brand: string or null, organization_id: string or null, title: string
    or null, slug: string or null, status: string or null, excerpt: string or null, content: string or null, author:
    string or null, tags: string[], featured_image: string or null, category: string or null, date: string or null,
    publish_to_website: boolean or null, publish_to_portal: boolean or null, is_pinned: boolean or null, published_at:
    string or null, scheduled_at: string or null, created_at: string or null, updated_at: string or null
  OrgJoinLink student_code: string or null, student_url: string or null, tutor_code: string or null, tutor_url: string
    or null
  BulkInviteResponse results: BulkInviteResultItem[], summary: BulkInviteSummary
  BulkInviteSummary total: integer, ok: integer, exists: integer, errors: integer, created: integer
  BulkInviteResultItem index: integer, type: string, email: string or null, status: string, id: string or null,
    created: boolean or null, invited: boolean or null, error: string or null
  ParentStudentLink parent_id: string, student_id: string, linked_at: string or null
  MemberAddResult member_id: string or null
  AccountInviteSent sent: boolean, email: string or null
  Invite scope: string, id: string, role: string, target_id: string, email: string or null, token: string, join_url:
    string or null, expires_at: string, subject_id: string or null, emailed: boolean, created_at: string
  BlogImage url: string, path: string, size_bytes: integer
  LoggedRequest id: string, api_key_id: string, method: string, route: string or null, status: integer, duration_ms:
    number, request_id: string, created_at: string`;

/** Where the reference itself says otherwise, it wins. */
const REFERENCE: Record<string, Record<string, string>> = {
  Parent: { enrolled_at: 'string or null' },
  Result: { grade: 'integer or null' },
  MemberAddResult: { member_id: 'string' },
};

/** Operations of our own, with their shapes below. */
const OURS = `
  GET /v1/request-log | api_key_id, route, method, status, from, to, limit, offset | Page<LoggedRequest>`;

const operations = new Map(
  (OPERATIONS + WRITES + OURS)
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([name, query, answer]) => [name!, { query: query! === '' ? [] : query!.split(', '), answer: answer! }]),
);

/** Fields and their types, by shape. */
const shapes = new Map(
  SHAPES.replaceAll(/\n {4}/g, ' ')
    .trim()
    .split('\n')
    .map((line) => {
      const [, name, fields] = /^\s*(\w+) (.*)$/.exec(line)!;
      const named = fields!.split(', ').map((field) => field.split(': ') as [string, string]);
      return [name!, { ...Object.fromEntries(named), ...REFERENCE[name!] }];
    }),
);

let api: TestApi;
let document: ApiDocument;

beforeAll(async () => {
  api = await TestApi.start();
  document = await documentOf(api);
});

afterAll(() => api.stop());

function lineOf(route: Route): { query: string[]; answer: string } {
  const line = operations.get(nameOf(route));
  if (!line) throw new Error(`${nameOf(route)}: copy its line of the catalogue into OPERATIONS`);
  return line;
}

/** The catalogue's word for a type; nested shapes by the name that the catalogue gives to such fields. */
function wordFor(schema: Schema): string {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const nullable = types.includes('null') ? ' or null' : '';
  const [type] = types.filter((name) => name !== 'null');
  if (type === 'array') return `${wordFor(schema.items as Schema)}[]${nullable}`;
  if (type === undefined) return 'any';
  return type === 'object' ? nestedName(schema) : `${type}${nullable}`;
}

function nestedName(schema: Schema): string {
  const fields = JSON.stringify(fieldsOf(schema));
  const [found] = [...shapes].find(([, shape]) => JSON.stringify(shape) === fields) ?? [];
  return found ?? `object of ${fields}`;
}

/** Names that generated clients would take for something else. */
const RENAMED: Record<string, string> = { AssessmentResult: 'Result' };

/** In the order of the document, which is that of the catalogue. */
function fieldsOf(schema: Schema): Record<string, string> {
  return Object.fromEntries(Object.entries(schema.properties!).map(([name, field]) => [name, wordFor(field)]));
}

const sorted = (fields: object): [string, unknown][] => Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));

const named = (schema: string): string => RENAMED[schema] ?? schema;
const schemaNamed = (name: string): Schema =>
  Object.entries(document.components.schemas).find(([schema]) => named(schema) === name)![1];

/** `Page<X>`, `X[]` or `X`, as the catalogue writes it. */
function answerOf(route: Route): string {
  const { responses } = operationAt(document, route);
  if (responses[204]) return '';
  const { schema } = (responses[200] ?? responses[201])!.content['application/json'];
  const nameIn = (part: unknown): string => named((part as { $ref: string }).$ref.replace('#/components/schemas/', ''));
  if (schema.$ref) return nameIn(schema);
  if (schema.type === 'array') return `${nameIn(schema.items)}[]`;
  return `Page<${nameIn(schema.properties!.data!.items)}>`;
}

describe('every operation that is served', () => {
  it('takes the query parameters of the catalogue, and a cursor where the order allows it', () => {
    for (const route of keyedRoutes(api)) {
      const names = [...queryOf(document, route).keys()].filter((name) => name !== 'cursor');
      expect([nameOf(route), names.sort()]).toEqual([
        nameOf(route),
        lineOf(route)
          .query.map((name) => name.replace('!', ''))
          .sort(),
      ]);
    }
  });

  it('answers with the shape of the catalogue', () => {
    for (const route of keyedRoutes(api)) {
      expect([nameOf(route), answerOf(route)]).toEqual([nameOf(route), lineOf(route).answer]);
    }
  });

  it('has the fields of the catalogue, of the same types, null where it says so', () => {
    const answers = keyedRoutes(api).map((route) => lineOf(route).answer.replace(/^Page<|>$|\[\]$/g, ''));
    const served = new Set(answers.filter((name) => name !== ''));
    expect(served.size).toBeGreaterThan(15);
    for (const name of served) {
      const shape = shapes.get(name);
      if (!shape) throw new Error(`${name}: copy its line of the catalogue into SHAPES`);
      expect([name, sorted(fieldsOf(schemaNamed(name)))]).toEqual([name, sorted(shape)]);
    }
  });

  it('is all that was planned: the reads of the tiers A and B, and the writes of the reference', () => {
    expect(keyedRoutes(api).map(nameOf)).toEqual(expect.arrayContaining([...operations.keys()]));
  });

  it('needs the scope read and the parameters that must be there, and documents ids in paths as strings', () => {
    for (const route of keyedReads(api)) {
      const operation = operationAt(document, route);
      expect([nameOf(route), operation['x-required-scopes']]).toEqual([nameOf(route), ['read']]);
      for (const parameter of operation.parameters as ((typeof operation.parameters)[number] & {
        required: boolean;
      })[]) {
        expect([nameOf(route), parameter.name, parameter.required]).toEqual([
          nameOf(route),
          parameter.name,
          parameter.in === 'path' || lineOf(route).query.includes(`${parameter.name}!`),
        ]);
        if (parameter.in === 'path') expect(parameter.schema).toMatchObject({ type: 'string' });
      }
    }
  });
});
