export {
  type CredentialEmailKind,
  type Email,
  EMAIL_KINDS,
  type EmailKind,
  type EmailLink,
  type EmailPayload,
  type EmailSender,
  isInFull,
  type KeyEmailKind,
  type KeyInMail,
  NOTICE_KINDS,
  type NoticeKind,
  type MembershipInMail,
  openEmail,
  sealEmail,
  type SignInInMail,
  type WebhookInMail,
} from './emails.js';
export { FAMILY_KINDS, type FamilyKind, type FamilyMail, FamilyOutbox } from './family-mails.js';
export {
  MAIL_STATUSES,
  OUTBOX_STATUSES,
  type OutboxMail,
  OutboxMessages,
  type OutboxStatus,
  type SuppressedAddress,
} from './outbox-messages.js';
export { JobsModule } from './jobs.module.js';
export { type Admission, type MailAllowance, Outbox, OUTBOX_CHANNEL, type RebuildTarget } from './outbox.js';
export { inWords, type Problem, problemOf, PROBLEMS } from './problems.js';
export { type QueueName, queueNames, QUEUES, type Recurring, WORKER_SILENCE_MS } from './queues.js';
