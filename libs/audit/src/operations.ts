/** Writes of the API are named by method and route; so are the same ones in the portal and on the command line. */
export type ApiOperation = `${'POST' | 'PUT' | 'PATCH' | 'DELETE'} /v1/${string}`;

/** What the API has a route for by the kind of person, and the portal and the command line do by what people are. */
const ENDED = 'Ended the membership of {person}';
const MAILED = 'Mailed an invitation to {person}';

/**
 * What each operation is called in the audit log’s pages, as in "Ann Lee removed Ben Cole". `{person}` stands for whom it is about,
 * `{key}` for the API key, and other names in braces for values of the row's details. An operation
 * without words here does not compile; one of the API fails test/portal/audit/words.spec.ts.
 */
const WORDS = {
  'sign in': 'Signed in',
  'set password': 'Set a password for their account',
  'add passkey': 'Added a passkey to their account',
  'remove passkey': 'Removed a passkey from their account',
  change_name: 'Changed their name',

  join: 'Joined',
  decline_membership: 'Declined to join',
  withdraw_request: 'Withdrew their request to join',
  approve_member: 'Approved {person}',
  decline_member: 'Declined {person}',
  approve_parent: 'Approved {person} as a parent',
  decline_parent: 'Declined {person} as a parent',
  decline_invite: 'Declined an invitation',
  'invite person': 'Invited {person}',
  'replace code': 'Replaced a join code',
  'switch off code': 'Switched off a join code',
  'undo joins': 'Removed those who had joined by a code',
  'change line': 'Changed a line of a draft',
  'change settings': 'Changed the organization’s settings',
  'POST /v1/exports': 'Asked for an export of all data',
  order_export: 'Asked for an export of all data',
  confirm_export: 'Confirmed the export of all data that a program asked for',
  call_off_export: 'Called off an export of all data',
  'download export': 'Downloaded all data',
  'move organization': 'Moved the organization to another server',
  'import organization': 'Brought the organization here from an export',
  'change rows': 'Changed {rows} rows of {file} by an import',
  'end membership': ENDED,
  'erase person': 'Erased {person}',
  'POST /v1/people/:person_id/erase': 'Asked to erase {person}',
  'ask erasure': 'Decided to erase {person} in seven days',
  'call off erasure': 'Called off the erasure of {person}',
  'ask account deletion': 'Asked for their account to be deleted in seven days',
  'call off account deletion': 'Kept their account',
  'revoke calendar': 'Revoked the calendar address of {person}',
  'hold person': 'Held the data of {person}',
  'release person': 'Released the data of {person}',
  'switch on retention': 'Decided to delete {kind} after {months} months',
  'switch off retention': 'Decided to keep {kind}',
  'switch on mails': 'Switched on emails to families: {kind}',
  'switch off mails': 'Switched off emails to families: {kind}',
  'change staff notes': 'Changed the notes on {person}',
  'stop reminders': 'Exempted {person} from payment reminders',
  'resume reminders': 'Ended the exemption of {person} from payment reminders',
  'delete old records': 'Deleted {rows} old {kind}',
  'add owner': 'Made {person} an owner',
  'change role': 'Changed the role of {person} from {from} to {to}',
  send_invite: MAILED,
  resend_invite: 'Sent an invitation again',
  confirm_invite: 'Confirmed an invitation',
  revoke_account_invites: 'Revoked the links mailed to {person}',

  'create API key': 'Created the API key {key}',
  'replace API key': 'Replaced the API key {key}',
  'revoke API key': 'Revoked the API key {key}',
  'disable webhook endpoint': 'Disabled a webhook endpoint',
  'warn of API key expiry': 'Warned that the API key {key} expires',

  add_build_hook: 'Added a build hook',
  rotate_build_hook_secret: 'Replaced the secret of the build hook',
  test_build_hook: 'Tested the build hook',
  remove_build_hook: 'Removed the build hook',

  'POST /v1/webhook-endpoints': 'Created a webhook endpoint',
  'PATCH /v1/webhook-endpoints/:endpoint_id': 'Changed a webhook endpoint',
  'DELETE /v1/webhook-endpoints/:endpoint_id': 'Deleted a webhook endpoint',
  'POST /v1/webhook-endpoints/:endpoint_id/rotate-secret': 'Replaced the secret of a webhook endpoint',
  'POST /v1/webhook-endpoints/:endpoint_id/test': 'Tested a webhook endpoint',
  'POST /v1/webhook-deliveries/:delivery_id/replay': 'Replayed a call of a webhook endpoint',

  retry_mail: 'Queued a mail again',
  allow_address: 'Allowed mail to a suppressed address again',
  'publish scheduled post': 'Published a scheduled blog post',

  'POST /v1/students': 'Added {person} as a student',
  'PATCH /v1/students/:student_id': 'Changed the student {person}',
  'POST /v1/students/:student_id/send-invite': MAILED,
  'POST /v1/students/:student_id/offboard': ENDED,
  'POST /v1/students/:student_id/restore': 'Took {person} back',
  'POST /v1/tutors/:tutor_id/restore': 'Took {person} back',
  'POST /v1/parents/:parent_id/restore': 'Took {person} back',
  'POST /v1/tutors': 'Added {person} as a tutor',
  'PUT /v1/tutors/:tutor_id': 'Changed the tutor {person}',
  'POST /v1/tutors/:tutor_id/offboard': ENDED,
  'PUT /v1/tutors/:tutor_id/availabilities': 'Changed the weekly hours of {person}',
  'PUT /v1/tutors/:tutor_id/time-off': 'Changed the time off of {person}',
  'POST /v1/parents': 'Added {person} as a parent',
  'POST /v1/parents/:parent_id/send-invite': MAILED,
  'PATCH /v1/parents/:parent_id': 'Changed the parent {person}',
  'POST /v1/parents/:parent_id/link-student': 'Linked a child to {person}',
  'POST /v1/parents/:parent_id/offboard': ENDED,
  'DELETE /v1/parents/:parent_id/students/:student_id': 'Unlinked a child from {person}',
  'POST /v1/users/bulk-invite': 'Invited several people',
  'POST /v1/invites': 'Created an invitation',
  'DELETE /v1/invites/:invite_id': 'Revoked an invitation',
  'PATCH /v1/org': 'Changed the organization’s settings',
  'POST /v1/org/join-link/replace': 'Replaced the organization’s join code',

  'POST /v1/classrooms': 'Created a classroom',
  'POST /v1/classrooms/:classroom_id/students': 'Added {person} to a classroom',
  'POST /v1/classrooms/:classroom_id/tutors': 'Added {person} to a classroom as a tutor',
  'PATCH /v1/classrooms/:classroom_id': 'Changed a classroom',
  'DELETE /v1/classrooms/:classroom_id': 'Archived a classroom',
  'DELETE /v1/classrooms/:classroom_id/students/:student_id': 'Took {person} out of a classroom',
  'DELETE /v1/classrooms/:classroom_id/tutors/:tutor_id': 'Took {person} out of a classroom',
  'POST /v1/tutors/:tutor_id/students': 'Related a student to {person}',
  'DELETE /v1/tutors/:tutor_id/students/:student_id': 'Ended what related a student to {person}',
  'POST /v1/groups': 'Created a group',
  'PATCH /v1/groups/:group_id': 'Changed a group',
  'DELETE /v1/groups/:group_id': 'Archived a group',
  'DELETE /v1/groups/:group_id/students/:student_id': 'Took {person} out of a group',
  'DELETE /v1/groups/:group_id/tutors/:tutor_id': 'Took {person} out of a group',
  'POST /v1/groups/:group_id/students': 'Added {person} to a group',
  'POST /v1/groups/:group_id/tutors': 'Added {person} to a group as a tutor',
  'PUT /v1/lesson-plans/:plan_id': 'Changed a lesson plan',
  'POST /v1/files/uploads': 'Uploaded a file',

  'POST /v1/sessions': 'Created a lesson',
  'PUT /v1/sessions/:session_id': 'Changed a lesson',
  'DELETE /v1/sessions/:session_id': 'Deleted a lesson',
  'PUT /v1/sessions/:session_id/complete': 'Completed a lesson',
  'POST /v1/sessions/:session_id/cancel': 'Canceled a lesson',
  'POST /v1/sessions/:session_id/reopen': 'Reopened a lesson',
  'POST /v1/sessions/settle-prices': 'Settled the prices of upcoming lessons',
  'POST /v1/session-series': 'Created a series of lessons',
  'PATCH /v1/session-series/:series_id': 'Changed the rest of a series of lessons',
  'POST /v1/session-series/:series_id/extend': 'Extended a series of lessons',
  'POST /v1/session-series/:series_id/cancel': 'Canceled a series of lessons',
  'PATCH /v1/lesson-participants/:participant_id': 'Changed somebody’s place in a lesson',
  'POST /v1/booking-requests': 'Recorded a booking request',
  'PATCH /v1/booking-requests/:request_id': 'Changed a booking request',
  'POST /v1/coverage/isochrones/refresh': 'Refreshed the coverage map',

  'PUT /v1/rate-cells': 'Replaced the table of rates',
  'POST /v1/invoices': 'Created an invoice',
  'POST /v1/invoices/:invoice_id/lines': 'Added a line to an invoice',
  'DELETE /v1/invoices/:invoice_id/lines/:line_id': 'Removed a line from an invoice',
  'DELETE /v1/invoices/:invoice_id': 'Deleted a draft of an invoice',
  'POST /v1/invoices/:invoice_id/finalize': 'Issued an invoice',
  'POST /v1/invoices/:invoice_id/send': 'Mailed an invoice',
  'POST /v1/invoices/:invoice_id/void': 'Voided an invoice',
  'POST /v1/invoices/:invoice_id/write-off': 'Wrote off an invoice',
  'POST /v1/payments': 'Recorded a payment',
  'POST /v1/payments/:payment_id/refund': 'Refunded a payment',
  'POST /v1/payments/:payment_id/void': 'Took back a payment',
  'POST /v1/payouts': 'Recorded a payout',
  'POST /v1/payouts/:payout_id/void': 'Took back a payout',
  'POST /v1/adjustments': 'Recorded an adjustment of pay',
  'POST /v1/adjustments/:adjustment_id/void': 'Voided an adjustment of pay',
  'POST /v1/mileage/:trip_id/approve': 'Approved a trip',
  'POST /v1/mileage/:trip_id/reject': 'Rejected a trip',
  'POST /v1/mileage/:trip_id/reimburse': 'Reimbursed a trip',
  'POST /v1/expenses/:claim_id/approve': 'Approved an expense',
  'POST /v1/expenses/:claim_id/reject': 'Rejected an expense',
  'POST /v1/expenses/:claim_id/reimburse': 'Reimbursed an expense',

  'write to organization': 'Wrote to the organization',
  'read inbox message': 'Marked a message of the inbox as read',
  'archive inbox message': 'Archived a message of the inbox',
  'match booking request': 'Matched a booking request',
  'decline booking request': 'Declined a booking request',
  'reopen booking request': 'Reopened a booking request',

  'POST /v1/conversations': 'Opened a conversation',
  'PATCH /v1/conversations/:conversation_id': 'Changed a conversation',
  'POST /v1/messages': 'Sent a message in the name of {person}',
  'DELETE /v1/messages/:message_id': 'Deleted a message',
  'POST /v1/org-inbox': 'Recorded a message to the inbox',
  'PATCH /v1/org-inbox/:inbox_message_id': 'Changed a message of the inbox',
  'POST /v1/leads': 'Recorded a lead',
  'PATCH /v1/leads/:lead_id': 'Changed a lead',
  'DELETE /v1/leads/:lead_id': 'Deleted a lead',
  'POST /v1/blog-posts': 'Created a blog post',
  'PATCH /v1/blog-posts/:post_id': 'Changed a blog post',
  'DELETE /v1/blog-posts/:post_id': 'Deleted a blog post',
  'POST /v1/blog-images': 'Uploaded a picture for the blog',
} as const;

/** Records that are created, changed and deleted without a rule of their own, by their path: what each is called. */
const RECORDS = {
  'subjects/:subject_id': 'a subject',
  'locations/:location_id': 'a location',
  'rate-bands/:rate_band_id': 'a rate band',
  'rate-cells/:rate_cell_id': 'a rate cell',
  'tutor-tiers/:tutor_tier_id': 'a tutor tier',
  'mileage/:trip_id': 'a trip',
  'expenses/:claim_id': 'an expense',
  'lesson-plans/:plan_id': 'a lesson plan',
  'questions/:question_id': 'a question',
  'homework/:homework_id': 'homework',
  'results/:result_id': 'a result',
  'session-feedback/:feedback_id': 'feedback on a lesson',
  'files/:file_id': 'a file',
} as const;

/** The path of such a record. */
export type RecordPath = keyof typeof RECORDS;

type ListOf<Path extends string> = Path extends `${infer List}/:${string}` ? List : never;

/** What is done to it. */
export type RecordOperation<Path extends RecordPath = RecordPath> =
  `POST /v1/${ListOf<Path>}` | `PATCH /v1/${Path}` | `DELETE /v1/${Path}`;

/** An operation that has words for the audit page. */
export type Worded = keyof typeof WORDS | RecordOperation;

const ALL_WORDS = new Map<string, string>([
  ...Object.entries(WORDS),
  ...Object.entries(RECORDS).flatMap(([path, record]): [string, string][] => [
    [`POST /v1/${path.split('/:')[0]}`, `Created ${record}`],
    [`PATCH /v1/${path}`, `Changed ${record}`],
    [`DELETE /v1/${path}`, `Deleted ${record}`],
  ]),
]);

/** An operation of ours, or a write of the API. */
export type Operation = Worded | ApiOperation;

/** The names of a route's ids, as a type. */
export type IdNames<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | IdNames<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

/** What an operation is called; null for one that only a former version had. */
export function operationInWords(operation: string): string | null {
  return ALL_WORDS.get(operation) ?? null;
}
