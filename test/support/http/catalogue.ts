import type { Route } from '../../../apps/api/src/http/routing/route-table.js';
import { templateOf } from '../../../apps/api/src/http/request-log/route-template.js';

/** What the contract says about an operation. */
export interface Operation {
  /** The operationId, from which generated clients derive names. */
  id: string;
  /** Each of these alone is sufficient. */
  scopes: string[];
  query: string[];
  /** `Page<X>`, `X[]`, `X`, or empty for none. */
  answer: string;
}

/**
 * The contract: operation | id | scopes, each sufficient alone | query parameters except `cursor` (! required) |
 * response. Operations without an id are not implemented yet.
 */
const OPERATIONS = `
  GET /v1/ping | ping | read | | Ping
  GET /v1/me | get_me | read | | Me
  GET /v1/sessions | | read | |
  GET /v1/sessions/{session_id} | get_session | read | | Session
  GET /v1/users | | read | |
  GET /v1/students | list_students | read | limit, offset | Page<Student>
  GET /v1/students/{student_id} | | read | |
  GET /v1/tutors | list_tutors | read | is_published, limit, offset | Page<Tutor>
  GET /v1/tutors/{tutor_id} | | read | |
  GET /v1/tutors/{tutor_id}/available-slots | | read | |
  GET /v1/tutors/{tutor_id}/earnings | | read | |
  GET /v1/tutors/{tutor_id}/reviews | list_tutor_reviews | read | anonymize, limit, offset | Page<TutorReview>
  GET /v1/payments | list_payments | read | student_id, tutor_id, status, from, to, limit, offset | Page<Payment>
  GET /v1/payments/{payment_id} | | read | |
  GET /v1/invoices | | read | |
  GET /v1/invoices/{invoice_id} | | read | |
  GET /v1/parents | list_parents | read | limit, offset | Page<Parent>
  GET /v1/parents/{parent_id} | get_parent | read | | Parent
  GET /v1/parents/{parent_id}/balance | get_parent_balance | read | | ParentBalance
  GET /v1/subjects | | read | |
  GET /v1/lesson-plans | | read | |
  GET /v1/homework | list_homework | read | homework_type, scope, student_id, limit, offset | Page<Homework>
  GET /v1/files | | read | |
  GET /v1/questions | | read | |
  GET /v1/student-groups | | read | |
  GET /v1/student-groups/{group_id} | get_student_group | read | | StudentGroup
  GET /v1/results | list_results | read | student_id, status, mode, from, to, limit, offset | Page<Result>
  GET /v1/results/{result_id} | | read | |
  GET /v1/session-feedback | list_session_feedback | read | tutor_id, public_only, anonymize, limit, offset | Page<SessionFeedback>
  GET /v1/classrooms | | read | |
  GET /v1/classrooms/{classroom_id} | | read | |
  GET /v1/mileage | | read | |
  GET /v1/expenses | | read | |
  GET /v1/adjustments | list_adjustments | read | tutor_id, include_voided, from, to, limit, offset | Page<Adjustment>
  GET /v1/org/join-link | get_org_join_link | read | | OrgJoinLink
  GET /v1/conversations | list_conversations | read | type, limit, offset | Page<Conversation>
  GET /v1/conversations/{conversation_id}/messages | | read | |
  GET /v1/org-inbox | | read | |
  GET /v1/reports/summary | get_reports_summary | read | | Summary
  GET /v1/booking-requests | | read | |
  GET /v1/booking-requests/{request_id}/recommended-tutors | | read | |
  GET /v1/coverage/tutors | | read | |
  GET /v1/coverage/summary | | read | |
  GET /v1/coverage/gaps | | read | |
  GET /v1/lesson-participants | | read | |
  GET /v1/lesson-participants/{participant_id} | | read | |
  GET /v1/availabilities | | read | |
  GET /v1/availabilities/{availability_id} | | read | |
  GET /v1/locations | | read | |
  GET /v1/locations/{location_id} | | read | |
  GET /v1/payouts | | read | |
  GET /v1/payouts/{payout_id} | | read | |
  GET /v1/rate-cells | | read | |
  GET /v1/rate-bands | | read | |
  GET /v1/tutor-tiers | | read | |
  GET /v1/leads | | read | |
  GET /v1/leads/{lead_id} | | read | |
  GET /v1/blog-posts | list_blog_posts | read | brand, status, target, limit, offset | BlogPost[]
  GET /v1/blog-posts/{post_id} | get_blog_post | read | | BlogPost
  POST /v1/students | create_student | accounts:write | | Student
  POST /v1/tutors | create_tutor | accounts:write | | Tutor
  POST /v1/parents | create_parent | accounts:write | | Parent
  POST /v1/students/{student_id}/send-invite | send_student_invite | accounts:write | | AccountInviteSent
  POST /v1/parents/{parent_id}/send-invite | send_parent_invite | accounts:write | | AccountInviteSent
  POST /v1/parents/{parent_id}/link-student | link_student_to_parent | accounts:write | | ParentStudentLink
  POST /v1/students/{student_id}/offboard | | accounts:write | |
  POST /v1/invites | create_invite | accounts:write | | Invite
  PATCH /v1/students/{student_id} | update_student | students:write | | Student
  POST /v1/users/bulk-invite | bulk_invite_users | students:write tutors:write write | | BulkInviteResponse
  PUT /v1/tutors/{tutor_id} | | tutors:write write | |
  POST /v1/classrooms | | tutors:write write | |
  POST /v1/groups | | tutors:write write | |
  POST /v1/classrooms/{classroom_id}/students | add_classroom_student | tutors:write write | | MemberAddResult
  POST /v1/classrooms/{classroom_id}/tutors | add_classroom_tutor | tutors:write write | | MemberAddResult
  POST /v1/groups/{group_id}/students | add_group_student | tutors:write write | | MemberAddResult
  POST /v1/groups/{group_id}/tutors | add_group_tutor | tutors:write write | | MemberAddResult
  POST /v1/payments | | payments:write write | |
  POST /v1/adjustments | | payroll:write write | |
  POST /v1/lesson-plans | | coursework:write write | |
  PUT /v1/lesson-plans/{plan_id} | | coursework:write write | |
  POST /v1/questions | | coursework:write write | |
  POST /v1/sessions | | sessions:write | |
  PUT /v1/sessions/{session_id} | | sessions:write | |
  DELETE /v1/sessions/{session_id} | | sessions:write | |
  PUT /v1/sessions/{session_id}/complete | | sessions:write | |
  POST /v1/sessions/{session_id}/cancel | | sessions:write | |
  POST /v1/blog-posts | create_blog_post | blog:write | | BlogPost
  PATCH /v1/blog-posts/{post_id} | update_blog_post | blog:write | | BlogPost
  DELETE /v1/blog-posts/{post_id} | remove_blog_post | blog:write | |
  POST /v1/blog-images | upload_blog_image | blog:write | target, brand | BlogImage
  POST /v1/messages | | write | |
  POST /v1/leads | | write | |`;

/** Our own operations, which the contract does not have. */
const OURS = `
  GET /v1/request-log | list_request_log | read | api_key_id, route, method, status, from, to, limit, offset | Page<LoggedRequest>`;

/** The shapes of responses: fields and their types. */
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

/** Types where the API reference differs: it wins. */
const REFERENCE: Record<string, Record<string, string>> = {
  Parent: { enrolled_at: 'string or null' },
  Result: { grade: 'integer or null' },
  MemberAddResult: { member_id: 'string' },
};

export const operations = new Map<string, Operation>(
  (OPERATIONS + OURS)
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([name, id = '', scopes = '', query = '', answer = '']) => [
      name!,
      { id, scopes: scopes.split(' '), query: query === '' ? [] : query.split(', '), answer },
    ]),
);

/** Names of the implemented operations. */
export const servedOperations = [...operations].flatMap(([name, { id }]) => (id ? [name] : []));

/** Ids of the lists that are ordered by creation; conversations are ordered by activity. */
export const newestFirstLists = [...operations.values()].flatMap(({ id, answer }) =>
  answer.startsWith('Page<') && id !== 'list_conversations' ? [id] : [],
);

/** What the contract says about the route. */
export function cataloguedAs(route: Route): Operation {
  const name = `${route.method} ${templateOf(route.path)}`;
  const operation = operations.get(name);
  if (!operation?.id) throw new Error(`${name}: give it a line in test/support/http/catalogue.ts`);
  return operation;
}

/** Fields and their types, by shape. */
export const shapes = new Map(
  SHAPES.replaceAll(/\n {4}/g, ' ')
    .trim()
    .split('\n')
    .map((line) => {
      const [, name, fields] = /^\s*(\w+) (.*)$/.exec(line)!;
      const named = fields!.split(', ').map((field) => field.split(': ') as [string, string]);
      return [name!, { ...Object.fromEntries(named), ...REFERENCE[name!] }];
    }),
);
