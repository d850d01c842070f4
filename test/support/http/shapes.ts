/** The shapes of answers in the contract: fields and their types. Nested objects go by the name of their shape. */
const SHAPES = `
  Ping status: string, org_id: string, org_name: string or null
  Me org_id: string, org_name: string or null, org_slug: string or null, scopes: string[]
  Session id: string, status: string or null, title: string or null, tutor_id: string or null, student_id: string or null, starts_at: string or
    null, ends_at: string or null, duration_minutes: integer or null, tutor_pay_rate_cents: integer or null, student_rate_cents: integer or null,
    amount_owed_cents: integer or null, mode: string or null, subject_id: string or null, created_at: string or null, completed_at: string or null
  UserLookup id: string, first_name: string or null, last_name: string or null, email: string or null, account_type: string or null, created_at:
    string or null
  BulkInviteResponse results: BulkInviteResultItem[], summary: BulkInviteSummary
  BulkInviteSummary total: integer, ok: integer, exists: integer, errors: integer, created: integer
  BulkInviteResultItem index: integer, type: string, email: string or null, status: string, id: string or null, created: boolean or null, invited:
    boolean or null, error: string or null
  Student id: string, first_name: string or null, last_name: string or null, email: string or null, placeholder_email: boolean or null, status:
    string or null, parent_ids: string[], created_at: string or null
  ParentStudentLink parent_id: string, student_id: string, linked_at: string or null
  Tutor id: string, first_name: string or null, last_name: string or null, full_name: string or null, email: string or null, placeholder_email:
    boolean or null, role: string or null, status: string or null, bio: string or null, teaching_mode: string or null, is_published: boolean or
    null, avatar_url: string or null, handle: string or null, subjects: string[], created_at: string or null, home_suburb: string or null,
    home_postcode: string or null, home_lat: number or null, home_lng: number or null, service_postcodes: string[], serves_all_areas: boolean or
    null, max_travel_km: integer or null, in_person_arrangements: string[], tutor_subjects: string[], specialisations: string[], distance_km:
    number or null, covers_area: boolean or null
  AvailableSlots tutor_id: string, duration_minutes: integer, from_date: string, to_date: string, slots: AvailableSlot[]
  AvailableSlot starts_at: string, ends_at: string
  OffboardResult success: boolean, scope: string or null, archived_relationships: integer or null, classrooms_removed: integer or null,
    coverage_revoked: integer or null, reason: string or null
  TutorEarnings tutor_id: string, sessions_count: integer, period_start: string or null, period_end: string or null, earned_cents: integer,
    paid_out_cents: integer, unpaid_cents: integer
  Payment id: string, session_id: string or null, student_id: string or null, tutor_id: string or null, amount_cents: integer or null,
    refund_amount_cents: integer or null, currency: string or null, payment_type: string or null, status: string or null,
    stripe_payment_intent_id: string or null, created_at: string or null
  Invoice id: string, invoice_number: string or null, tutor_id: string or null, student_id: string or null, status: string or null,
    amount_due_cents: integer or null, amount_paid_cents: integer or null, currency: string or null, due_date: string or null, sent_at: string or
    null, paid_at: string or null, created_at: string or null, line_items: LineItem[]
  LineItem description: string or null, quantity: integer or null, unit_amount_cents: integer or null, amount_cents: integer or null, item_type:
    string or null, session_id: string or null
  Parent id: string, first_name: string or null, last_name: string or null, email: string or null, placeholder_email: boolean or null, status:
    string or null, student_ids: string[], created_at: string or null
  ParentBalance parent_id: string, total_invoiced_cents: integer, total_paid_cents: integer, outstanding_cents: integer, open_invoices_count:
    integer
  Subject id: string, name: string or null
  LessonPlan id: string, created_by: string or null, scope: string or null, classroom_id: string or null, group_id: string or null, student_id:
    string or null, session_id: string or null, math_level_id: string or null, curriculum_level_ids: string[], title: string or null, status:
    string or null, plan_data: object, scheduled_for: string or null, created_at: string or null, updated_at: string or null
  Homework id: string, assigned_by: string or null, title: string or null, description: string or null, homework_type: string or null, scope:
    string or null, classroom_id: string or null, group_id: string or null, student_id: string or null, due_date: string or null, files: any[],
    created_at: string or null
  Resource id: string, owner_id: string or null, scope: string or null, title: string or null, resource_type: string or null, file_url: string or
    null, link_url: string or null, student_id: string or null, classroom_id: string or null, group_id: string or null, folder_id: string or null,
    created_at: string or null
  Question id: string, source: string or null, topic: string or null, tags: string[], intro_text: string or null, is_official_vce: boolean or
    null, is_current_study_design: boolean or null, question_number: integer or null, total_marks: integer or null, owned_by_org: boolean or null,
    author_id: string or null, created_at: string or null
  StudentGroup id: string, name: string or null, tutor_id: string or null, classroom_id: string or null, subject_id: string or null,
    rate_per_student_cents: integer or null, color: string or null, avatar_url: string or null, student_ids: string[], created_at: string or null,
    updated_at: string or null
  Result id: string, student_id: string or null, status: string or null, grade: number or null, mode: string or null, vce_exam_id: string or null,
    curriculum_level_id: string or null, homework_assignment_id: string or null, started_at: string or null, completed_at: string or null
  SessionFeedback id: string, session_id: string or null, tutor_id: string or null, rating: integer, recommend: boolean or null, prepared: boolean
    or null, positive_tags: string[], improve_tags: string[], comment: string or null, is_public: boolean, reviewer_role: string or null,
    reviewer_name: string or null, created_at: string or null
  TutorReview id: string, tutor_id: string or null, rating: integer, comment: string or null, reviewer_name: string or null, created_at: string or
    null
  Classroom id: string, name: string or null, tutor_id: string or null, subject_id: string or null, join_code: string or null, price_cents:
    integer or null, billing_interval: string or null, group_id: string or null, created_at: string or null, updated_at: string or null
  MemberAddResult member_id: string or null
  MileageTrip id: string, tutor_id: string or null, trip_date: string or null, destination: string or null, distance_km: number or null,
    duration_minutes: integer or null, vehicle: string or null, tracking_method: string or null, status: string or null, rate_cents: integer or
    null, amount_cents: integer or null, session_id: string or null, approved_at: string or null, created_at: string or null
  ExpenseClaim id: string, tutor_id: string or null, expense_date: string or null, category: string or null, vendor: string or null, amount_cents:
    integer or null, approved_amount_cents: integer or null, status: string or null, receipt_photo_url: string or null, session_id: string or
    null, approved_at: string or null, created_at: string or null
  Adjustment id: string, tutor_id: string or null, period_start: string or null, period_end: string or null, amount_cents: integer or null, note:
    string or null, voided: boolean, created_at: string or null
  AccountInviteSent sent: boolean, email: string or null
  OrgJoinLink student_code: string or null, student_url: string or null, tutor_code: string or null, tutor_url: string or null
  Conversation id: string, type: string or null, classroom_id: string or null, title: string or null, last_message_at: string or null,
    participants: ConversationParticipant[], created_at: string or null, updated_at: string or null
  ConversationParticipant user_id: string, role: string or null
  Message id: string, conversation_id: string or null, sender_id: string or null, content: string or null, message_type: string or null,
    visibility: string or null, reply_to_id: string or null, created_at: string or null
  OrgInboxMessage id: string, org_id: string or null, subject_tutor_id: string or null, from_user_id: string or null, session_id: string or null, guest_name: string or null,
    guest_email: string or null, message: string or null, status: string or null, created_at: string or null
  Summary active_tutors: integer, active_students: integer, sessions_today: integer, settled_this_week_cents: integer, outstanding_cents: integer,
    pending_approvals: PendingApprovals
  PendingApprovals mileage: integer, expenses: integer, total: integer
  BookingRequest id: string, status: string or null, subject_id: string or null, student_id: string or null, student_display_name: string or null,
    preferred_mode: string or null, preferred_days: string[], preferred_times: object, duration_minutes: integer or null, message: string or null,
    matched_session_id: string or null, created_at: string or null, updated_at: string or null
  RecommendedTutors request_id: string, subject_id: string or null, data: RecommendedTutor[]
  RecommendedTutor tutor_id: string, first_name: string or null, last_name: string or null, score: number, breakdown: ScoreBreakdown, reasons:
    string[], upcoming_sessions_count: integer, teaches_subject: boolean, distance_km: number or null, nearby: boolean, road_km: number or null,
    road_minutes: number or null
  ScoreBreakdown subject: number, availability: number, mode: number, capacity: number, distance: number
  CoverageSummaryResult subject_id: string or null, postcode: string or null, total: integer, in_person: integer, online: integer, covering_area:
    integer
  CoverageGapItem postcode: string, suburb: string or null, subject_id: string or null, demand_score: number, request_count: integer,
    supply_count: integer
  IsochroneRefreshResult enabled: boolean, considered: integer, computed: integer, cached: integer, failed: integer
  LessonParticipant id: string, session_id: string or null, student_id: string or null, status: string or null, attendance: string or null,
    cancelled_at: string or null, invited_at: string or null, responded_at: string or null, created_at: string or null
  Availability id: string, tutor_id: string or null, day_of_week: integer or null, start_time: string or null, end_time: string or null, timezone:
    string or null, schedule_id: string or null, created_at: string or null
  Location id: string, owner_type: string or null, owner_id: string or null, label: string or null, suburb: string or null, state: string or null,
    postcode: string or null, is_default: boolean or null, created_at: string or null
  Payout id: string, tutor_id: string or null, session_id: string or null, amount_cents: integer or null, currency: string or null, is_group:
    boolean or null, paid_at: string or null, created_at: string or null
  RateCell id: string, band_id: string or null, tutor_tier_id: string or null, subject_id: string or null, session_kind: string or null,
    student_rate_cents: integer or null, inperson_surcharge_cents: integer or null, tutor_pay_mode: string or null, tutor_pay_pct: number or null,
    tutor_flat_rate_cents: integer or null, created_at: string or null
  RateBand id: string, name: string or null, sort_order: integer or null, created_at: string or null
  TutorTier id: string, name: string or null, badge_label: string or null, description: string or null, sort_order: integer or null, created_at:
    string or null
  Lead id: string, form_id: string or null, source_form_name: string or null, name: string or null, email: string or null, phone: string or null,
    subject: string or null, status: string or null, assigned_tutor_id: string or null, source_url: string or null, notes: string or null,
    converted_at: string or null, created_at: string or null, updated_at: string or null
  BlogPost id: string, target: string or null, brand: string or null, organization_id: string or null, title: string or null, slug: string or
    null, status: string or null, excerpt: string or null, content: string or null, author: string or null, tags: string[], featured_image: string
    or null, category: string or null, date: string or null, publish_to_website: boolean or null, publish_to_portal: boolean or null, is_pinned:
    boolean or null, published_at: string or null, scheduled_at: string or null, created_at: string or null, updated_at: string or null
  Invite scope: string, id: string, role: string, target_id: string, email: string or null, token: string, join_url: string or null, expires_at:
    string, subject_id: string or null, emailed: boolean, created_at: string
  BlogImage url: string, path: string, size_bytes: integer`;

/** The shapes of our own operations. */
const OURS = `
  LoggedRequest id: string, api_key_id: string, method: string, route: string or null, status: integer, duration_ms: number, request_id: string,
    created_at: string
  WebhookEndpoint id: string, url: string, event_types: string[], description: string or null, enabled: boolean, disabled_reason: string or null,
    failing_since: string or null, waiting: integer, waiting_since: string or null, last_delivery_id: string or null, last_delivery_status:
    string or null, last_delivery_at: string or null, previous_secret_until: string or null, created_at: string, updated_at: string
  WebhookEndpointWithSecret id: string, url: string, event_types: string[], description: string or null, enabled: boolean, disabled_reason: string or null,
    failing_since: string or null, waiting: integer, waiting_since: string or null, last_delivery_id: string or null, last_delivery_status:
    string or null, last_delivery_at: string or null, previous_secret_until: string or null, created_at: string, updated_at: string, secret: string
  WebhookSecret id: string, secret: string, previous_secret_until: string
  WebhookDelivery id: string, endpoint_id: string, event_id: string or null, event_type: string, webhook_id: string, status: string,
    attempts: integer, next_attempt_at: string or null, last_attempt_at: string or null, response_status: integer or null, response_body:
    string or null, duration_ms: integer or null, error: string or null, created_at: string, finished_at: string or null
  Organization id: string, name: string or null, slug: string or null, time_zone: string or null, currency: string or null,
    payment_terms_days: integer or null, app_url: string or null, privacy_url: string or null, postal_address: string or null,
    phone: string or null, legal_name: string or null, business_number_label: string or null, business_number: string or null,
    payment_instructions: string or null, pay_url: string or null, reply_address: string or null, tax_registered: boolean or null, tax_label: string or null,
    tax_rate: integer or null, line_tax: string or null, retention: RetentionSetting[], created_at: string or null
  ChangedOrganization id: string, name: string or null, slug: string or null, time_zone: string or null, currency: string or null,
    payment_terms_days: integer or null, app_url: string or null, privacy_url: string or null, postal_address: string or null,
    phone: string or null, legal_name: string or null, business_number_label: string or null, business_number: string or null,
    payment_instructions: string or null, pay_url: string or null, reply_address: string or null, tax_registered: boolean or null, tax_label: string or null,
    tax_rate: integer or null, line_tax: string or null, retention: RetentionSetting[], created_at: string or null, moved_sessions: integer
  RetentionSetting kind: string, months: integer
  Export id: string, status: string, created_at: string, confirmed_at: string or null, ready_at: string or null, ended_at: string or null,
    expires_at: string or null, size_bytes: integer or null
  Erasure person_id: string, asked_at: string, due_at: string or null, keep_results: boolean
  SettledPrices dry_run: boolean, sessions: integer, changed: SettledSession[]
  ReplacedRateCells created: string[], changed: string[], deleted: string[]
  SettledSession session_id: string, before: any, after: SessionPrices
  SessionPrices participants: ParticipantPrice[], tutor_pay_rate_cents: integer or null, tutor_pay_pct: number or null
  ParticipantPrice student_id: string, rate_cents: integer or null, surcharge_cents: integer or null
  ClassMember member_id: string, user_id: string, role: string, created_at: string
  TutorStudent id: string, tutor_id: string, student_id: string, subject_id: string or null, created_at: string or null
  TimeOff id: string, starts_on: string, ends_on: string, note: string or null
  SessionSeries series_id: string, data: Session[], skipped: SkippedSession[]
  Allocation invoice_id: string, amount_cents: integer
  Upload id: string, name: string, content_type: string, size_bytes: integer
  StudentBalance student_id: string, total_invoiced_cents: integer, total_paid_cents: integer, outstanding_cents: integer,
    open_invoices_count: integer, credit_cents: integer
  SeriesPattern id: string, tutor_id: string or null, subject_id: string or null, group_id: string or null, classroom_id: string or null, mode:
    string or null, meeting_url: string or null, location_id: string or null, starts_at: string, last_starts_at: string, duration_minutes: integer,
    every_weeks: integer, student_rate_cents: integer or null, tutor_pay_rate_cents: integer or null, created_at: string, updated_at: string
  ChangedSeries series_id: string, data: Session[], skipped: UnmovedSession[], detached: string[]
  UnmovedSession session_id: string, starts_at: string, ends_at: string, in_the_way: string
  NextSlot tutor_id: string, duration_minutes: integer, starts_at: string or null, ends_at: string or null
  OpenSlots duration_minutes: integer, from_date: string, to_date: string, slots: OpenSlot[], complete: boolean
  OpenSlot tutor_id: string, starts_at: string, ends_at: string
  SkippedSession starts_at: string, ends_at: string, session_id: string
  Event id: string, type: string, timestamp: string, resource: string, resource_id: string, data: object
  EventType type: string, description: string, resource: string, path: string or null, list: string or null`;

/** Types where the API reference differs: it wins. */
const REFERENCE: Record<string, Record<string, string>> = {
  Parent: { enrolled_at: 'string or null' },
  Result: { grade: 'integer or null' },
  MemberAddResult: { member_id: 'string' },
};

/** Our own fields of the contract's shapes: once shown, they have these types. */
const ADDED: Record<string, Record<string, string>> = {
  Me: { timezone: 'string', currency: 'string' },
  Subject: { code: 'string or null', is_archived: 'boolean or null', tax: 'string or null' },
  RateCell: { updated_at: 'string or null' },
  Session: {
    series_id: 'string or null', series_detached: 'boolean or null', group_id: 'string or null', classroom_id: 'string or null', tutor_pay_cents: 'integer or null',
    meeting_url: 'string or null', location_id: 'string or null',
  }, // prettier-ignore
  Classroom: { is_archived: 'boolean or null' },
  StudentGroup: { is_archived: 'boolean or null' },
  Student: {
    rate_band_id: 'string or null', billing_parent_id: 'string or null', bills_self: 'boolean or null', billing_name: 'string or null',
    billing_address: 'string or null',
  }, // prettier-ignore
  Parent: { billing_name: 'string or null', billing_address: 'string or null' },
  Invoice: {
    tax_cents: 'integer or null',
    billed_to: 'any',
    sent_to: 'string or null',
    mailed_at: 'string or null',
    adjustment_note_number: 'string or null',
  },
  Tutor: { tutor_tier_id: 'string or null', meeting_url: 'string or null' },
  LessonParticipant: { rate_cents: 'integer or null' },
  LineItem: { id: 'string', tax: 'string or null' },
  Lead: { staff_notes: 'string or null' },
  Payment: {
    received_on: 'string or null', parent_id: 'string or null', reference: 'string or null', credit_cents: 'integer or null',
    allocations: 'Allocation[]', voided_at: 'string or null', void_reason: 'string or null',
  }, // prettier-ignore
  Payout: { voided_at: 'string or null', void_reason: 'string or null' },
  ParentBalance: { credit_cents: 'integer' },
  Resource: { upload_id: 'string or null' },
  ExpenseClaim: { receipt_file_id: 'string or null' },
};

/** Fields and their types, by shape. */
export const shapes = new Map(
  (SHAPES + OURS)
    .replaceAll(/\n {4}/g, ' ')
    .trim()
    .split('\n')
    .map((line) => {
      const [, name, fields] = /^\s*(\w+) (.*)$/.exec(line)!;
      const named = fields!.split(', ').map((field) => field.split(': ') as [string, string]);
      return [name!, { ...Object.fromEntries(named), ...REFERENCE[name!] }];
    }),
);

/** What the shape must be, given the fields that are served: with those of our own that are among them. */
export function shapeNamed(name: string, served: object): Record<string, string> {
  const shape = shapes.get(name);
  if (!shape) throw new Error(`${name}: give it a line in test/support/http/shapes.ts`);
  const ours = { ...ADDED[name], masked: 'boolean' };
  const added = Object.entries(ours).filter(([field]) => Object.hasOwn(served, field));
  return { ...shape, ...Object.fromEntries(added) };
}
