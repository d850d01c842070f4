import { DECLARED } from '../../../apps/api/src/http/openapi/rows.js';
import { platformBlogOf } from '../../../apps/api/src/http/auth/access.decorators.js';
import { bodyKindOf } from '../../../apps/api/src/http/validation/declared.js';
import type { TestApi } from './api.js';
import type { Factories } from '../data/factories.js';
import { image } from '../data/images.js';
import { delivery, endpoint, fewer } from '../data/webhook-rows.js';
import { keyedRoutes, type Route } from './routes.js';
import { MULTIPART, multipart, part } from './uploads.js';
import { pathOf, type OrganizationFixture } from '../data/fixtures.js';
import { type Body, bodiesOf, type Ids } from './valid-bodies.js';

/** Makes the rows that an operation needs. @returns their ids, by the names of path parameters and fields */
type MakeRecords = (make: Factories, organizationId: string) => Promise<Ids>;

const newcomer = (role: 'student' | 'tutor', name: string): MakeRecords => async (make, id) => ({ [name]: (await make[role](id)).id }); // prettier-ignore

/** A tutor who is free, and a request that waits. */
const wanted: MakeRecords = async (make, id) => ({
  tutor_id: (await make.tutor(id)).id,
  booking_request_id: (await make.row('booking_requests', { organizationId: id })).id,
});

/** A series with one session, ahead. */
const repeated: MakeRecords = async (make, id) => {
  const [startsAt, endsAt] = [new Date('2027-04-01T01:00:00Z'), new Date('2027-04-01T02:00:00Z')];
  const [tutor, student] = [await make.tutor(id), await make.student(id)];
  const once = { startsAt, lastStartsAt: startsAt, durationMinutes: 60, everyWeeks: 1 };
  const series = await make.row('session_series', { organizationId: id, tutorId: tutor.id, ...once });
  const session = await make.session(id, { seriesId: series.id, tutorId: tutor.id, startsAt, endsAt });
  await make.participant(id, session.id, student.id, { status: 'accepted' });
  return { series_id: series.id };
};

/** A session that can change, and a tutor who is free. */
const planned: MakeRecords = async (make, id) => ({ session_id: (await make.session(id)).id, tutor_id: (await make.tutor(id)).id });

/** A session that has taken place, with its tutor and its only student. */
const taught: MakeRecords = async (make, id) => {
  const [tutorId, student_id] = [(await make.tutor(id)).id, (await make.student(id)).id];
  const session_id = (await make.session(id, { tutorId, studentRateCents: 8500 })).id;
  await make.participant(id, session_id, student_id, { status: 'accepted', rateCents: 8500 });
  return { session_id, student_id };
};

/** A draft with a line. */
const draft: MakeRecords = async (make, id) => {
  const invoice = await make.invoice(id, (await make.student(id)).id, { status: 'draft', invoiceNumber: null });
  return { invoice_id: invoice.id, line_id: (await make.invoiceLine(id, invoice.id, { description: 'Canary' })).id };
};

const family: MakeRecords = async (make, id) => {
  const child = (await make.student(id)).id;
  return { student_id: child, parent_id: (await make.parent(id, { children: [child] })).id };
};

/** A trip and an expense that wait for a decision, or are approved. */
const claims = (status: 'logged' | 'approved'): MakeRecords => async (make, id) => {
  const tutor = await make.tutor(id);
  return {
    tutor_id: tutor.id,
    session_id: (await make.session(id, { tutorId: tutor.id })).id,
    trip_id: (await make.mileage(id, tutor.id, { status })).id,
    claim_id: (await make.expense(id, tutor.id, { status })).id,
  };
}; // prettier-ignore

const LARGE = { amountCents: 1_000_000_000, creditCents: 1_000_000_000 };

/** A band that no rate cell names, and a cell of another one. */
const unpriced: MakeRecords = async (make, id) => {
  const [band_id, other] = [(await make.rateBand(id)).id, (await make.rateBand(id)).id];
  return { band_id, rate_cell_id: ((await make.row('rate_cells', { organizationId: id, bandId: other })) as { id: string }).id };
};

/** A session that has not been paid out. */
const unpaid: MakeRecords = async (make, id) => {
  const tutor_id = (await make.tutor(id)).id;
  return { tutor_id, session_id: (await make.session(id, { tutorId: tutor_id, status: 'completed' })).id };
};

/** Somebody in a class. */
const placed = (kind: 'classroom' | 'group', as: 'student' | 'tutor'): MakeRecords => async (make, id) => {
  const [person, room] = [(await make[as](id)).id, (await make[kind](id)).id];
  if (kind === 'group') await make.groupMember(room, person, { role: as });
  else await make.classroomMember(id, room, person, as === 'tutor' ? 'teacher' : 'student');
  return { [`${kind}_id`]: room, [`${as}_id`]: person };
}; // prettier-ignore

/** New records in a state in which the operation succeeds, where the records of the fixture are not, or not twice. */
const RECORDS: Record<string, MakeRecords> = {
  'POST /v1/webhook-endpoints': fewer,
  'POST /v1/webhook-endpoints/:endpoint_id/rotate-secret': endpoint,
  'POST /v1/webhook-endpoints/:endpoint_id/test': endpoint,
  'PATCH /v1/webhook-endpoints/:endpoint_id': endpoint,
  'DELETE /v1/webhook-endpoints/:endpoint_id': endpoint,
  'POST /v1/webhook-deliveries/:delivery_id/replay': delivery,
  'POST /v1/classrooms/:classroom_id/students': newcomer('student', 'user_id'),
  'POST /v1/classrooms/:classroom_id/tutors': newcomer('tutor', 'user_id'),
  'POST /v1/groups/:group_id/students': newcomer('student', 'user_id'),
  'POST /v1/groups/:group_id/tutors': newcomer('tutor', 'user_id'),
  'POST /v1/tutors/:tutor_id/students': newcomer('student', 'student_id'),
  'DELETE /v1/tutors/:tutor_id/students/:student_id': async (make, id) => {
    const [tutor_id, student_id] = [(await make.tutor(id)).id, (await make.student(id)).id];
    await make.tutorStudent(id, tutor_id, student_id);
    return { tutor_id, student_id };
  },
  'PATCH /v1/classrooms/:classroom_id': async (make, id) => ({ classroom_id: (await make.classroom(id)).id }),
  'PATCH /v1/groups/:group_id': async (make, id) => ({ group_id: (await make.group(id)).id }),
  'DELETE /v1/classrooms/:classroom_id': async (make, id) => ({ classroom_id: (await make.classroom(id)).id }),
  'DELETE /v1/groups/:group_id': async (make, id) => ({ group_id: (await make.group(id)).id }),
  'DELETE /v1/classrooms/:classroom_id/students/:student_id': placed('classroom', 'student'),
  'DELETE /v1/classrooms/:classroom_id/tutors/:tutor_id': placed('classroom', 'tutor'),
  'DELETE /v1/groups/:group_id/students/:student_id': placed('group', 'student'),
  'DELETE /v1/groups/:group_id/tutors/:tutor_id': placed('group', 'tutor'),
  'POST /v1/parents/:parent_id/link-student': newcomer('student', 'student_id'),
  'POST /v1/sessions': wanted,
  'POST /v1/session-series': wanted,
  'PATCH /v1/leads/:lead_id': async (make, id) => ({ lead_id: (await make.row('leads', { organizationId: id, name: 'Priya' })).id }),
  'DELETE /v1/leads/:lead_id': async (make, id) => ({ lead_id: (await make.row('leads', { organizationId: id, name: 'Priya' })).id }),
  'PATCH /v1/booking-requests/:request_id': async (make, id) => {
    const student_id = (await make.student(id)).id;
    return { student_id, request_id: (await make.row('booking_requests', { organizationId: id, studentId: student_id })).id };
  },
  'PATCH /v1/org-inbox/:inbox_message_id': async (make, id) => ({
    inbox_message_id: (await make.row('inbox_messages', { organizationId: id, message: 'Hello' })).id,
  }),
  'DELETE /v1/messages/:message_id': async (make, id) => {
    const conversation = await make.conversation({ participants: [(await make.student(id)).id] });
    return { message_id: (await make.message(conversation.id, { organizationId: id })).id };
  },
  'PATCH /v1/conversations/:conversation_id': async (make, id) => {
    const [tutor, student] = [await make.tutor(id), await make.student(id)];
    return { conversation_id: (await make.conversation({ type: 'group', participants: [tutor.id, student.id] })).id };
  },
  'POST /v1/messages': async (make, id) => {
    // The first owner sends what names no sender.
    const owners = `SELECT user_id AS id FROM members WHERE organization_id = $1 AND role = 'owner' ORDER BY created_at, user_id`;
    const [sender] = await make.query<{ id: string }>(owners, [id]);
    const recipient = await make.student(id);
    const conversation = await make.conversation({ participants: [sender!.id, recipient.id] });
    const ids = { sender_id: sender!.id, recipient_id: recipient.id, conversation_id: conversation.id };
    return { ...ids, reply_to_id: (await make.message(conversation.id)).id };
  },
  'PUT /v1/sessions/:session_id': planned,
  'POST /v1/session-series/:series_id/cancel': repeated,
  'PATCH /v1/session-series/:series_id': repeated,
  'POST /v1/session-series/:series_id/extend': repeated,
  'POST /v1/sessions/:session_id/cancel': planned,
  'DELETE /v1/sessions/:session_id': planned,
  'PUT /v1/sessions/:session_id/complete': taught,
  'POST /v1/sessions/:session_id/reopen': async (make, id) => ({ session_id: (await make.session(id, { status: 'completed' })).id }),
  'POST /v1/invoices/:invoice_id/lines': draft,
  'DELETE /v1/invoices/:invoice_id': draft,
  'DELETE /v1/invoices/:invoice_id/lines/:line_id': draft,
  'POST /v1/invoices/:invoice_id/finalize': draft,
  'POST /v1/invoices/:invoice_id/write-off': async (make, id) => ({ invoice_id: (await make.invoice(id, (await make.student(id)).id)).id }),
  'POST /v1/invoices/:invoice_id/send': async (make, id) => {
    const issued = {
      taxCents: 0,
      snapshot: {
        issued_on: '2026-05-01',
        seller: { name: 'Seller' },
        tax: { registered: false },
        buyer: { student_name: 'Ada', name: 'Ada', address: null },
      },
    };
    return { invoice_id: (await make.invoice(id, (await make.student(id)).id, issued)).id };
  },
  'POST /v1/invoices/:invoice_id/void': async (make, id) => ({ invoice_id: (await make.invoice(id, (await make.student(id)).id)).id }),
  'POST /v1/payments': async (make, id) => {
    const { session_id, student_id } = await taught(make, id);
    const parent = await make.parent(id, { children: [student_id!] });
    return { session_id: session_id!, student_id: student_id!, parent_id: parent.id, invoice_id: (await make.invoice(id, student_id!)).id };
  },
  'POST /v1/payments/:payment_id/refund': async (make, id) => ({
    // Enough for as many refunds as the fuzzer sends.
    payment_id: (await make.payment(id, { recorded: true, ...LARGE, studentId: (await make.student(id)).id })).id,
  }),
  'POST /v1/payments/:payment_id/void': async (make, id) => ({
    payment_id: (await make.payment(id, { recorded: true, ...LARGE, studentId: (await make.student(id)).id })).id,
  }),
  'POST /v1/payouts/:payout_id/void': async (make, id) => ({
    payout_id: (await make.row('payouts', { organizationId: id, tutorId: (await make.tutor(id)).id, recorded: true })).id,
  }),
  'POST /v1/students/:student_id/offboard': newcomer('student', 'student_id'),
  'POST /v1/tutors/:tutor_id/offboard': async (make, id) => ({ tutor_id: (await make.tutor(id)).id, hand_over_to: (await make.tutor(id)).id }),
  'POST /v1/parents/:parent_id/offboard': family,
  'POST /v1/people/:person_id/erase': async (make, id) => ({ person_id: (await make.member(id, { status: 'archived' })).id }),
  'DELETE /v1/parents/:parent_id/students/:student_id': family,
  'POST /v1/sessions/settle-prices': async (make, id) => {
    const startsAt = new Date('2098-04-01T01:00:00Z');
    const session_id = (await make.session(id, { startsAt, endsAt: new Date('2098-04-01T02:00:00Z') })).id;
    const student_id = (await make.student(id)).id;
    await make.participant(id, session_id, student_id, { status: 'accepted', rateCents: 1 });
    return { student_id };
  },
  'POST /v1/rate-cells': unpriced,
  'PATCH /v1/rate-cells/:rate_cell_id': unpriced,
  'DELETE /v1/rate-cells/:rate_cell_id': unpriced,
  'POST /v1/students/:student_id/restore': async (make, id) => ({ student_id: (await make.student(id, { status: 'archived' })).id }),
  'POST /v1/tutors/:tutor_id/restore': async (make, id) => ({ tutor_id: (await make.tutor(id, { status: 'archived' })).id }),
  'POST /v1/parents/:parent_id/restore': async (make, id) => ({ parent_id: (await make.parent(id, { status: 'archived' })).id }),
  'POST /v1/payouts': unpaid,
  'POST /v1/mileage/:trip_id/approve': claims('logged'),
  'POST /v1/mileage/:trip_id/reject': claims('logged'),
  'POST /v1/mileage/:trip_id/reimburse': claims('approved'),
  'POST /v1/expenses/:claim_id/approve': claims('logged'),
  'POST /v1/expenses/:claim_id/reject': claims('logged'),
  'POST /v1/expenses/:claim_id/reimburse': claims('approved'),
  'PATCH /v1/mileage/:trip_id': claims('logged'),
  'DELETE /v1/mileage/:trip_id': claims('logged'),
  'PATCH /v1/expenses/:claim_id': claims('logged'),
  'DELETE /v1/expenses/:claim_id': claims('logged'),
  'POST /v1/files': async (make, id) => ({ upload_id: (await make.row('uploads', { organizationId: id })).id }),
  'PATCH /v1/files/:file_id': async (make, id) => {
    const owned = { organizationId: id, ownerId: (await make.tutor(id)).id, scope: 'private', resourceType: 'link' } as const;
    return { file_id: (await make.row('files', { ...owned, linkUrl: 'https://example.org/' })).id };
  },
  'DELETE /v1/files/:file_id': async (make, id) => ({
    file_id: (await make.row('files', { organizationId: id, scope: 'org', resourceType: 'link', linkUrl: 'https://example.org/' })).id,
  }),
  // A mail is sent once a day.
  'POST /v1/students/:student_id/send-invite': newcomer('student', 'student_id'),
  'POST /v1/parents/:parent_id/send-invite': family,
  'DELETE /v1/invites/:invite_id': async (make, organizationId) => {
    const purpose = { organizationId, scope: 'organization', role: 'student', targetId: organizationId } as const;
    return { invite_id: (await make.row('invites', { ...purpose, expiresAt: new Date(Date.now() + 86_400_000) })).id };
  },
  'POST /v1/session-feedback': async (make, id) => {
    const { session_id, student_id } = await taught(make, id);
    await make.query(`UPDATE sessions SET status = 'completed' WHERE id = $1`, [session_id]);
    return { session_id: session_id!, reviewer_id: student_id! };
  },
  'POST /v1/results': async (make, id) => {
    const { student_id } = await taught(make, id);
    const [tutor, group] = [await make.tutor(id), await make.group(id)];
    await make.groupMember(group.id, student_id!);
    const { id: homework_assignment_id } = await make.homework(tutor.id, { scope: 'group', groupId: group.id });
    return { student_id: student_id!, homework_assignment_id };
  },
  'PATCH /v1/results/:result_id': async (make, id) => {
    const { student_id } = await taught(make, id);
    return { result_id: (await make.result(student_id!, { status: 'in_progress', madeByOrganizationId: id })).id };
  },
  'DELETE /v1/lesson-plans/:plan_id': async (make, organizationId) => {
    const plan = { organizationId, title: 'Surds', scope: 'classroom', classroomId: (await make.classroom(organizationId)).id } as const;
    return { plan_id: (await make.row('lesson_plans', plan)).id };
  },
  'DELETE /v1/questions/:question_id': async (make, organizationId) => {
    return { question_id: (await make.row('questions', { organizationId, topic: 'Surds' })).id };
  },
  'PATCH /v1/homework/:homework_id': async (make, id) => {
    const classroomId = (await make.classroom(id)).id;
    return { homework_id: (await make.homework((await make.tutor(id)).id, { scope: 'classroom', classroomId })).id };
  },
  'DELETE /v1/homework/:homework_id': async (make, id) => {
    const classroomId = (await make.classroom(id)).id;
    return { homework_id: (await make.homework((await make.tutor(id)).id, { scope: 'classroom', classroomId })).id };
  },
  'PATCH /v1/blog-posts/:post_id': async (make, id) => ({ post_id: (await make.post(id)).id }),
  'DELETE /v1/blog-posts/:post_id': async (make, id) => {
    return { post_id: (await make.post(id, { status: 'published', publishedAt: new Date() })).id };
  },
};

export const operationOf = ({ method, path }: Route): string => `${method} ${path}`;

/** Records with which the operation succeeds, new where it needs them: ids by the names of path parameters and fields. */
export async function recordFor(route: Route, make: Factories, school: OrganizationFixture): Promise<Ids> {
  const own = await (RECORDS[operationOf(route)] ?? unnamed(route))?.(make, school.id);
  return { ...idsFor(route, school), ...own };
}

/** A declared row that no other names, for who deletes it. */
function unnamed(route: Route): MakeRecords | undefined {
  const declared = DECLARED.find(({ path }) => operationOf(route) === `DELETE /v1/${path}`);
  const id = declared?.path.split(':')[1];
  return id === undefined ? undefined : async (make, organizationId) => ({ [id]: ((await make.row(declared!.kind.table, { organizationId })) as { id: string }).id });
} // prettier-ignore

/** Records of the fixture for the operation. */
export function idsFor(route: Route, school: OrganizationFixture): Ids {
  const role = route.path.endsWith('/tutors') ? 'tutor_id' : 'student_id';
  const own = { tutor_subjects: school.query.subject_id!, hand_over_to: school.path.tutor_id! };
  const { tutor_id, student_id, message_id, homework_id } = school.path;
  const named = {
    created_by: tutor_id!,
    owner_id: tutor_id!,
    assigned_by: tutor_id!,
    subject_tutor_id: tutor_id!,
    homework_assignment_id: homework_id!,
    reviewer_id: student_id!,
    participant_ids: tutor_id!,
    sender_id: tutor_id!,
    recipient_id: student_id!,
    reply_to_id: message_id!,
    billing_parent_id: school.path.parent_id!,
  };
  return { user_id: school.path[role]!, ...own, ...named, ...school.query, ...school.path };
}

/** A request that writes, and succeeds. */
export interface ValidWrite {
  operation: string;
  route: Route;
  ids: Ids;
  path: string;
  /** Undefined for an upload, and for none. */
  body: Body | undefined;
}

/** It needs an `If-Match`, and deletes the records of other requests: see {@link everyWrite}. */
export const WHOLE = 'PUT /v1/rate-cells';

/** The routes that write, those that delete at the end. */
export function writesOf(api: TestApi): Route[] {
  const writes = keyedRoutes(api).filter((route) => route.method !== 'GET' && operationOf(route) !== WHOLE);
  return writes.sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
}

/** The same, and the one that replaces a table as a whole, last. */
export const everyWrite = (api: TestApi): Route[] => [...writesOf(api), ...keyedRoutes(api).filter((route) => operationOf(route) === WHOLE)];

/** The headers without which a request is refused. */
export const needed = (route: Route): Record<string, string> => (operationOf(route) === WHOLE ? { 'If-Match': '*' } : {});

/** A valid request for each write of the school, and for each variant of its body or the first `most`, always in the same order. */
export async function validWrites(routes: Route[], make: Factories, school: OrganizationFixture, most = Infinity): Promise<ValidWrite[]> {
  const writes: ValidWrite[] = [];
  for (const route of routes) {
    const ids = await recordFor(route, make, school);
    const bodies = bodiesOf(route, ids);
    for (const [index, body] of (bodies.length > 0 ? bodies.slice(0, most) : [undefined]).entries()) {
      const own = index === 0 ? ids : await recordFor(route, make, school);
      const path = pathOf(route, { ...school, path: own });
      writes.push({ operation: operationOf(route), route, ids: own, path, body: body && bodiesOf(route, own)[index] });
    }
  }
  return writes;
}

/** The same request for the platform; null if there is none. */
export function forPlatform(write: ValidWrite): ValidWrite | null {
  const wish = { target: 'platform', brand: 'primary' };
  if (!platformBlogOf(write.route.handler)) return null;
  if (isUpload(write.route)) return { ...write, path: `${write.path}?${new URLSearchParams(wish).toString()}` };
  return write.body && 'slug' in write.body ? { ...write, body: { ...write.body, ...wish } } : null;
}

export const isUpload = ({ handler }: Route): boolean => bodyKindOf(handler) === 'upload';

/** The content type and the bytes of the request's body. */
export async function encoded({ route, body }: ValidWrite) {
  if (isUpload(route)) return { type: MULTIPART, bytes: new Uint8Array(multipart(part(await image('jpeg')))) };
  return { type: 'application/json', bytes: body && new TextEncoder().encode(JSON.stringify(body)) };
}
