import type { Route } from '../../../apps/api/src/http/routing/route-table.js';
import { templateOf } from '../../../apps/api/src/http/request-log/route-template.js';

/** What the contract says about an operation. */
export interface Operation {
  /** The operationId, from which generated clients derive names. */
  id: string;
  /** Each of these alone is sufficient; those joined by + belong together. */
  scopes: string[];
  query: string[];
  /** `Page<X>`, `X[]`, `{data: X[]}`, `X`, or empty for none. Shapes are in shapes.ts. */
  answer: string;
}

/**
 * The contract, whether built or not: operation | id | scopes, each sufficient alone | query parameters except `cursor`
 * (! required) | answer. A route is compared with its line from the moment that it is served.
 */
const OPERATIONS = `
  GET /v1/ping | ping | read | | Ping
  GET /v1/me | get_me | read | | Me
  GET /v1/sessions | list_sessions | read | status, tutor_id, student_id, from, to, limit, offset | Page<Session>
  GET /v1/sessions/{session_id} | get_session | read | | Session
  GET /v1/users | find_user | read | email, phone | UserLookup
  GET /v1/students | list_students | read | limit, offset | Page<Student>
  GET /v1/students/{student_id} | get_student | read | | Student
  GET /v1/tutors | list_tutors | read | is_published, limit, offset | Page<Tutor>
  GET /v1/tutors/{tutor_id} | get_tutor | read | | Tutor
  GET /v1/tutors/{tutor_id}/available-slots | get_available_slots | read | from!, to!, duration | AvailableSlots
  GET /v1/tutors/{tutor_id}/earnings | get_tutor_earnings | read | from, to | TutorEarnings
  GET /v1/tutors/{tutor_id}/reviews | list_tutor_reviews | read | anonymize, limit, offset | Page<TutorReview>
  GET /v1/payments | list_payments | read | student_id, tutor_id, status, reference, from, to, limit, offset | Page<Payment>
  GET /v1/payments/{payment_id} | get_payment | read | | Payment
  GET /v1/invoices | list_invoices | read | student_id, status, from, to, limit, offset | Page<Invoice>
  GET /v1/invoices/{invoice_id} | get_invoice | read | | Invoice
  GET /v1/parents | list_parents | read | limit, offset | Page<Parent>
  GET /v1/parents/{parent_id} | get_parent | read | | Parent
  GET /v1/parents/{parent_id}/balance | get_parent_balance | read | | ParentBalance
  GET /v1/subjects | list_subjects | read | | {data: Subject[]}
  GET /v1/lesson-plans | list_lesson_plans | read | status, scope, student_id, limit, offset | Page<LessonPlan>
  GET /v1/homework | list_homework | read | homework_type, scope, student_id, limit, offset | Page<Homework>
  GET /v1/files | list_files | read | resource_type, scope, limit, offset | Page<Resource>
  GET /v1/questions | list_questions | read | source, topic, curriculum_level_id, limit, offset | Page<Question>
  GET /v1/student-groups | list_student_groups | read | subject_id, classroom_id, limit, offset | Page<StudentGroup>
  GET /v1/student-groups/{group_id} | get_student_group | read | | StudentGroup
  GET /v1/results | list_results | read | student_id, status, mode, from, to, limit, offset | Page<Result>
  GET /v1/results/{result_id} | get_result | read | | Result
  GET /v1/session-feedback | list_session_feedback | read | tutor_id, public_only, anonymize, limit, offset | Page<SessionFeedback>
  GET /v1/classrooms | list_classrooms | read | subject_id, limit, offset | Page<Classroom>
  GET /v1/classrooms/{classroom_id} | get_classroom | read | | Classroom
  GET /v1/mileage | list_mileage | read | tutor_id, status, from, to, limit, offset | Page<MileageTrip>
  GET /v1/expenses | list_expenses | read | tutor_id, status, category, from, to, limit, offset | Page<ExpenseClaim>
  GET /v1/adjustments | list_adjustments | read | tutor_id, include_voided, from, to, limit, offset | Page<Adjustment>
  GET /v1/org/join-link | get_org_join_link | read | | OrgJoinLink
  GET /v1/conversations | list_conversations | read | type, limit, offset | Page<Conversation>
  GET /v1/conversations/{conversation_id}/messages | list_messages | read | since, limit, offset | Page<Message>
  GET /v1/org-inbox | list_org_inbox | read | status, limit, offset | Page<OrgInboxMessage>
  GET /v1/reports/summary | get_reports_summary | read | | Summary
  GET /v1/booking-requests | list_booking_requests | read | status, subject_id, limit, offset | Page<BookingRequest>
  GET /v1/booking-requests/{request_id}/recommended-tutors | get_recommended_tutors | read | limit | RecommendedTutors
  GET /v1/coverage/tutors | list_coverage_tutors | read | subject, mode, arrangement, postcode, limit, offset | Page<Tutor>
  GET /v1/coverage/summary | get_coverage_summary | read | subject, postcode | CoverageSummaryResult
  GET /v1/coverage/gaps | list_coverage_gaps | read | subject, min_tutors, limit | Page<CoverageGapItem>
  GET /v1/lesson-participants | list_lesson_participants | read | session_id, student_id, status, attendance, limit, offset | Page<LessonParticipant>
  GET /v1/lesson-participants/{participant_id} | get_lesson_participant | read | | LessonParticipant
  GET /v1/availabilities | list_availabilities | read | tutor_id, day_of_week, limit, offset | Page<Availability>
  GET /v1/availabilities/{availability_id} | get_availability | read | | Availability
  GET /v1/locations | list_locations | read | owner_type, tutor_id, student_id, limit, offset | Page<Location>
  GET /v1/locations/{location_id} | get_location | read | | Location
  GET /v1/payouts | list_payouts | read | tutor_id, include_voided, from, to, limit, offset | Page<Payout>
  GET /v1/payouts/{payout_id} | get_payout | read | | Payout
  GET /v1/rate-cells | list_rate_cells | read | band_id, tutor_tier_id, subject_id, session_kind, include_pay, limit, offset | Page<RateCell>
  GET /v1/rate-bands | list_rate_bands | read | limit, offset | Page<RateBand>
  GET /v1/tutor-tiers | list_tutor_tiers | read | limit, offset | Page<TutorTier>
  GET /v1/leads | list_leads | read | status, assigned_tutor_id, from, to, limit, offset | Page<Lead>
  GET /v1/leads/{lead_id} | get_lead | read | | Lead
  GET /v1/blog-posts | list_blog_posts | read | brand, status, target, limit, offset | BlogPost[]
  GET /v1/blog-posts/{post_id} | get_blog_post | read | | BlogPost
  POST /v1/students | create_student | accounts:write | | Student
  POST /v1/tutors | create_tutor | accounts:write | | Tutor
  POST /v1/parents | create_parent | accounts:write | | Parent
  POST /v1/students/{student_id}/send-invite | send_student_invite | accounts:write | | AccountInviteSent
  POST /v1/parents/{parent_id}/send-invite | send_parent_invite | accounts:write | | AccountInviteSent
  POST /v1/parents/{parent_id}/link-student | link_student_to_parent | accounts:write | | ParentStudentLink
  POST /v1/students/{student_id}/offboard | offboard_student | accounts:write | | OffboardResult
  POST /v1/invites | create_invite | accounts:write | | Invite
  PATCH /v1/students/{student_id} | update_student | students:write | | Student
  POST /v1/users/bulk-invite | bulk_invite_users | students:write tutors:write write | | BulkInviteResponse
  PUT /v1/tutors/{tutor_id} | update_tutor | tutors:write write | | Tutor
  POST /v1/classrooms | create_classroom | tutors:write write | | Classroom
  POST /v1/groups | create_group | tutors:write write | | StudentGroup
  POST /v1/classrooms/{classroom_id}/students | add_classroom_student | tutors:write write | | MemberAddResult
  POST /v1/classrooms/{classroom_id}/tutors | add_classroom_tutor | tutors:write write | | MemberAddResult
  POST /v1/groups/{group_id}/students | add_group_student | tutors:write write | | MemberAddResult
  POST /v1/groups/{group_id}/tutors | add_group_tutor | tutors:write write | | MemberAddResult
  POST /v1/payments | create_payment | payments:write write | | Payment
  POST /v1/adjustments | create_adjustment | payroll:write write | | Adjustment
  POST /v1/lesson-plans | create_lesson_plan | coursework:write write | | LessonPlan
  PUT /v1/lesson-plans/{plan_id} | update_lesson_plan | coursework:write write | | LessonPlan
  POST /v1/questions | create_question | coursework:write write | | Question
  POST /v1/sessions | create_session | sessions:write | | Session
  PUT /v1/sessions/{session_id} | update_session | sessions:write | | Session
  DELETE /v1/sessions/{session_id} | remove_session | sessions:write | |
  PUT /v1/sessions/{session_id}/complete | complete_session | sessions:write | | Session
  POST /v1/sessions/{session_id}/cancel | cancel_session | sessions:write | | Session
  POST /v1/blog-posts | create_blog_post | blog:write | | BlogPost
  PATCH /v1/blog-posts/{post_id} | update_blog_post | blog:write | | BlogPost
  DELETE /v1/blog-posts/{post_id} | remove_blog_post | blog:write | |
  POST /v1/blog-images | upload_blog_image | blog:write | target, brand | BlogImage
  POST /v1/coverage/isochrones/refresh | refresh_coverage_isochrones | write | subject, minutes | IsochroneRefreshResult
  POST /v1/messages | create_message | messages:write write | | Message
  POST /v1/leads | create_lead | leads:write write | | Lead`;

/** Our own operations, which the contract does not have. */
const OURS = `
  GET /v1/request-log | list_request_log | read | api_key_id, route, method, status, from, to, limit, offset | Page<LoggedRequest>
  GET /v1/tutors/{tutor_id}/time-off | list_tutor_time_off | read | | {data: TimeOff[]}
  PUT /v1/tutors/{tutor_id}/time-off | replace_tutor_time_off | tutors:write write | | {data: TimeOff[]}
  PUT /v1/tutors/{tutor_id}/availabilities | replace_tutor_availabilities | tutors:write write | | {data: Availability[]}
  PATCH /v1/lesson-participants/{participant_id} | update_lesson_participant | sessions:write | | LessonParticipant
  POST /v1/session-series | create_session_series | sessions:write | | SessionSeries
  GET /v1/tutors/{tutor_id}/next-slot | get_next_slot | read | duration_minutes | NextSlot
  GET /v1/available-slots | list_available_slots | read | subject_id, from, to, mode, duration_minutes | OpenSlots
  GET /v1/session-series | list_session_series | read | tutor_id, limit, offset | Page<SeriesPattern>
  GET /v1/session-series/{series_id} | get_session_series | read | | SeriesPattern
  PATCH /v1/session-series/{series_id} | update_session_series | sessions:write | | ChangedSeries
  POST /v1/session-series/{series_id}/extend | extend_session_series | sessions:write | | SessionSeries
  POST /v1/session-series/{series_id}/cancel | cancel_session_series | sessions:write | | {data: Session[]}
  POST /v1/sessions/{session_id}/reopen | reopen_session | sessions:write | | Session
  POST /v1/invoices | create_invoice | payments:write write | | Invoice
  POST /v1/invoices/{invoice_id}/lines | add_invoice_line | payments:write write | | Invoice
  DELETE /v1/invoices/{invoice_id}/lines/{line_id} | remove_invoice_line | payments:write write | |
  POST /v1/invoices/{invoice_id}/finalize | finalize_invoice | payments:write write | | Invoice
  GET /v1/invoices/{invoice_id}/pdf | get_invoice_pdf | read | |
  GET /v1/invoices/{invoice_id}/adjustment-note.pdf | get_invoice_adjustment_note | read | |
  GET /v1/payments/{payment_id}/receipt.pdf | get_payment_receipt | read | |
  GET /v1/parents/{parent_id}/statement.pdf | get_parent_statement | read | from!, to! |
  POST /v1/invoices/{invoice_id}/send | send_invoice | payments:write write | | Invoice
  POST /v1/invoices/{invoice_id}/write-off | write_off_invoice | payments:write write | | Invoice
  POST /v1/invoices/{invoice_id}/void | void_invoice | payments:write write | | Invoice
  POST /v1/payments/{payment_id}/refund | refund_payment | payments:write write | | Payment
  POST /v1/payments/{payment_id}/void | void_payment | payments:write write | | Payment
  GET /v1/students/{student_id}/balance | get_student_balance | read | | StudentBalance
  POST /v1/payouts/{payout_id}/void | void_payout | payroll:write write | | Payout
  POST /v1/payouts | create_payout | payroll:write write | | Payout
  GET /v1/adjustments/{adjustment_id} | get_adjustment | read | | Adjustment
  POST /v1/adjustments/{adjustment_id}/void | void_adjustment | payroll:write write | | Adjustment
  POST /v1/mileage/{trip_id}/approve | approve_mileage | payroll:write write | | MileageTrip
  POST /v1/mileage/{trip_id}/reject | reject_mileage | payroll:write write | | MileageTrip
  POST /v1/mileage/{trip_id}/reimburse | reimburse_mileage | payroll:write write | | MileageTrip
  POST /v1/expenses/{claim_id}/approve | approve_expense | payroll:write write | | ExpenseClaim
  POST /v1/expenses/{claim_id}/reject | reject_expense | payroll:write write | | ExpenseClaim
  POST /v1/expenses/{claim_id}/reimburse | reimburse_expense | payroll:write write | | ExpenseClaim
  PATCH /v1/leads/{lead_id} | update_lead | leads:write+read write+read | | Lead
  POST /v1/students/{student_id}/restore | restore_student | accounts:write | | Student
  POST /v1/tutors/{tutor_id}/restore | restore_tutor | accounts:write | | Tutor
  POST /v1/parents/{parent_id}/restore | restore_parent | accounts:write | | Parent
  PATCH /v1/parents/{parent_id} | update_parent | students:write | | Parent
  DELETE /v1/leads/{lead_id} | remove_lead | leads:write+read write+read | |
  GET /v1/booking-requests/{request_id} | get_booking_request | read | | BookingRequest
  PATCH /v1/booking-requests/{request_id} | update_booking_request | leads:write+read write+read | | BookingRequest
  GET /v1/org-inbox/{inbox_message_id} | get_org_inbox_message | read | | OrgInboxMessage
  POST /v1/org-inbox | create_org_inbox_message | leads:write write | | OrgInboxMessage
  PATCH /v1/org-inbox/{inbox_message_id} | update_org_inbox_message | leads:write+read write+read | | OrgInboxMessage
  GET /v1/conversations/{conversation_id} | get_conversation | read | | Conversation
  POST /v1/conversations | create_conversation | messages:write write | | Conversation
  PATCH /v1/conversations/{conversation_id} | update_conversation | messages:write+read write+read | | Conversation
  GET /v1/messages/{message_id} | get_message | read | | Message
  DELETE /v1/messages/{message_id} | remove_message | messages:write+read write+read | |
  DELETE /v1/invoices/{invoice_id} | remove_invoice | payments:write write | |
  POST /v1/booking-requests | create_booking_request | leads:write write | | BookingRequest
  POST /v1/tutors/{tutor_id}/offboard | offboard_tutor | accounts:write | | OffboardResult
  POST /v1/parents/{parent_id}/offboard | offboard_parent | accounts:write | | OffboardResult
  DELETE /v1/parents/{parent_id}/students/{student_id} | unlink_student_from_parent | accounts:write | |
  POST /v1/org/join-link/replace | replace_org_join_link | accounts:write | | OrgJoinLink
  DELETE /v1/invites/{invite_id} | remove_invite | accounts:write | |
  GET /v1/rate-bands/{rate_band_id} | get_rate_band | read | | RateBand
  POST /v1/rate-bands | create_rate_band | settings:write | | RateBand
  PATCH /v1/rate-bands/{rate_band_id} | update_rate_band | settings:write | | RateBand
  DELETE /v1/rate-bands/{rate_band_id} | remove_rate_band | settings:write | |
  GET /v1/tutor-tiers/{tutor_tier_id} | get_tutor_tier | read | | TutorTier
  POST /v1/tutor-tiers | create_tutor_tier | settings:write | | TutorTier
  PATCH /v1/tutor-tiers/{tutor_tier_id} | update_tutor_tier | settings:write | | TutorTier
  DELETE /v1/tutor-tiers/{tutor_tier_id} | remove_tutor_tier | settings:write | |
  GET /v1/mileage/{trip_id} | get_mileage_trip | read | | MileageTrip
  POST /v1/mileage | create_mileage_trip | payroll:write write | | MileageTrip
  PATCH /v1/mileage/{trip_id} | update_mileage_trip | payroll:write write | | MileageTrip
  DELETE /v1/mileage/{trip_id} | remove_mileage_trip | payroll:write write | |
  GET /v1/expenses/{claim_id} | get_expense | read | | ExpenseClaim
  POST /v1/expenses | create_expense | payroll:write write | | ExpenseClaim
  PATCH /v1/expenses/{claim_id} | update_expense | payroll:write write | | ExpenseClaim
  DELETE /v1/expenses/{claim_id} | remove_expense | payroll:write write | |
  GET /v1/rate-cells/{rate_cell_id} | get_rate_cell | read | | RateCell
  POST /v1/rate-cells | create_rate_cell | settings:write | | RateCell
  PUT /v1/rate-cells | replace_rate_cells | settings:write | | ReplacedRateCells
  PATCH /v1/rate-cells/{rate_cell_id} | update_rate_cell | settings:write | | RateCell
  DELETE /v1/rate-cells/{rate_cell_id} | remove_rate_cell | settings:write | |
  POST /v1/sessions/settle-prices | settle_session_prices | settings:write+sessions:write | | SettledPrices
  POST /v1/locations | create_location | settings:write tutors:write students:write write | | Location
  PATCH /v1/locations/{location_id} | update_location | settings:write tutors:write students:write write | | Location
  DELETE /v1/locations/{location_id} | remove_location | settings:write tutors:write students:write write | |
  GET /v1/org | get_org | read | | Organization
  PATCH /v1/org | update_org | settings:write | | ChangedOrganization
  GET /v1/subjects/{subject_id} | get_subject | read | | Subject
  POST /v1/subjects | create_subject | settings:write | | Subject
  PATCH /v1/subjects/{subject_id} | update_subject | settings:write | | Subject
  DELETE /v1/subjects/{subject_id} | remove_subject | settings:write | |
  GET /v1/lesson-plans/{plan_id} | get_lesson_plan | read | | LessonPlan
  DELETE /v1/lesson-plans/{plan_id} | remove_lesson_plan | coursework:write write | |
  GET /v1/questions/{question_id} | get_question | read | | Question
  PATCH /v1/questions/{question_id} | update_question | coursework:write write | | Question
  DELETE /v1/questions/{question_id} | remove_question | coursework:write write | |
  GET /v1/homework/{homework_id} | get_homework_assignment | read | | Homework
  POST /v1/homework | create_homework_assignment | coursework:write write | | Homework
  PATCH /v1/homework/{homework_id} | update_homework_assignment | coursework:write write | | Homework
  DELETE /v1/homework/{homework_id} | remove_homework_assignment | coursework:write write | |
  POST /v1/results | create_result | coursework:write write | | Result
  PATCH /v1/results/{result_id} | update_result | coursework:write write | | Result
  GET /v1/session-feedback/{feedback_id} | get_session_feedback | read | | SessionFeedback
  POST /v1/session-feedback | create_session_feedback | sessions:write | | SessionFeedback
  PATCH /v1/session-feedback/{feedback_id} | update_session_feedback | sessions:write+read | | SessionFeedback
  GET /v1/files/{file_id} | get_file | read | | Resource
  POST /v1/files | create_file | coursework:write write | | Resource
  PATCH /v1/files/{file_id} | update_file | coursework:write write | | Resource
  DELETE /v1/files/{file_id} | remove_file | coursework:write write | |
  POST /v1/files/uploads | upload_file | coursework:write write | | Upload
  GET /v1/files/{file_id}/content | get_file_content | read | |
  GET /v1/classrooms/{classroom_id}/members | list_classroom_members | read | | {data: ClassMember[]}
  PATCH /v1/classrooms/{classroom_id} | update_classroom | tutors:write write | | Classroom
  DELETE /v1/classrooms/{classroom_id} | archive_classroom | tutors:write write | |
  DELETE /v1/classrooms/{classroom_id}/students/{student_id} | remove_classroom_student | tutors:write write | |
  DELETE /v1/classrooms/{classroom_id}/tutors/{tutor_id} | remove_classroom_tutor | tutors:write write | |
  GET /v1/groups/{group_id}/members | list_group_members | read | | {data: ClassMember[]}
  PATCH /v1/groups/{group_id} | update_group | tutors:write write | | StudentGroup
  DELETE /v1/groups/{group_id} | archive_group | tutors:write write | |
  DELETE /v1/groups/{group_id}/students/{student_id} | remove_group_student | tutors:write write | |
  DELETE /v1/groups/{group_id}/tutors/{tutor_id} | remove_group_tutor | tutors:write write | |
  GET /v1/tutors/{tutor_id}/students | list_tutor_students | read | limit, offset | Page<TutorStudent>
  POST /v1/tutors/{tutor_id}/students | create_tutor_student | tutors:write write | | TutorStudent
  DELETE /v1/tutors/{tutor_id}/students/{student_id} | remove_tutor_student | tutors:write write | |
  GET /v1/events | list_events | read | limit, types, resource, wait | Page<Event>
  GET /v1/events/{event_id} | get_event | read | | Event
  GET /v1/event-types | list_event_types | read | | {data: EventType[]}
  GET /v1/webhook-endpoints | list_webhook_endpoints | webhooks:write | | {data: WebhookEndpoint[]}
  POST /v1/webhook-endpoints | create_webhook_endpoint | webhooks:write+read | | WebhookEndpointWithSecret
  GET /v1/webhook-endpoints/{endpoint_id} | get_webhook_endpoint | webhooks:write | | WebhookEndpoint
  PATCH /v1/webhook-endpoints/{endpoint_id} | update_webhook_endpoint | webhooks:write+read | | WebhookEndpoint
  DELETE /v1/webhook-endpoints/{endpoint_id} | remove_webhook_endpoint | webhooks:write | |
  POST /v1/webhook-endpoints/{endpoint_id}/rotate-secret | rotate_webhook_secret | webhooks:write | | WebhookSecret
  POST /v1/webhook-endpoints/{endpoint_id}/test | test_webhook_endpoint | webhooks:write | | WebhookDelivery
  GET /v1/webhook-deliveries | list_webhook_deliveries | webhooks:write+read | endpoint_id, status, since, limit, offset | Page<WebhookDelivery>
  GET /v1/webhook-deliveries/{delivery_id} | get_webhook_delivery | webhooks:write+read | | WebhookDelivery
  POST /v1/webhook-deliveries/{delivery_id}/replay | replay_webhook_delivery | webhooks:write+read | | WebhookDelivery
  GET /v1/exports | list_exports | read | limit, offset | Page<Export>
  POST /v1/exports | create_export | exports:write | | Export
  POST /v1/people/{person_id}/erase | erase_person | erasure:write | | Erasure
  GET /v1/exports/{export_id} | get_export | read | | Export`;

/** Query parameters of our own, of lists of the contract. */
const FILTERS: Record<string, string[]> = {
  list_students: ['status', 'search'],
  list_tutors: ['status', 'search', 'subject_id'],
  list_coverage_tutors: ['subject_id'],
  get_coverage_summary: ['subject_id'],
  list_coverage_gaps: ['subject_id'],
  refresh_coverage_isochrones: ['subject_id'],
  get_available_slots: ['duration_minutes'],
  list_parents: ['status', 'search'],
  list_invoices: ['invoice_number'],
  list_classrooms: ['include_archived'],
  list_student_groups: ['include_archived'],
  list_subjects: ['include_archived'],
};

export const operations = new Map<string, Operation>(
  (OPERATIONS + OURS)
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([name, id = '', scopes = '', query = '', answer = '']) => [
      name!,
      { id, scopes: scopes.split(' '), query: [...(query === '' ? [] : query.split(', ')), ...(FILTERS[id] ?? [])], answer },
    ]),
);

const namesIn = (lines: string): string[] => lines.trim().split('\n').map((line) => line.split('|')[0]!.trim()); // prettier-ignore

/** The operations of the contract, and those that are ours. */
export const [CONTRACT, OUR_OPERATIONS] = [namesIn(OPERATIONS), namesIn(OURS)] as const;

/** What the contract says about the route. */
export function cataloguedAs(route: Route): Operation {
  const name = `${route.method} ${templateOf(route.path)}`;
  const operation = operations.get(name);
  if (!operation) throw new Error(`${name}: no line in test/support/http/catalogue.ts, neither of the contract nor in OURS`);
  return operation;
}

/** POSTs that create nothing of their own. */
const ACTIONS = /\/(bulk-invite|refresh|replace|settle-prices)$|(?<!tutor_id)\}\/(?!lines$|extend$)|tutor_id\}\/(?!students$)/;

/** The status of its success. */
export function statusOf({ method, path }: Pick<Route, 'method' | 'path'>): number {
  if (method === 'DELETE') return 204;
  if (/\/(content|pdf)$|\.pdf$/.test(path)) return 302;
  return method === 'POST' && !ACTIONS.test(templateOf(path)) ? 201 : 200;
}
