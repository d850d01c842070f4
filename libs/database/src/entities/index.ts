import { Adjustment } from './adjustment.entity.js';
import { ApiKey } from './api-key.entity.js';
import { AuditEntry } from './audit-entry.entity.js';
import { BlogPost } from './blog-post.entity.js';
import { Classroom } from './classroom.entity.js';
import { ClassroomMember } from './classroom-member.entity.js';
import { Conversation } from './conversation.entity.js';
import { ConversationParticipant } from './conversation-participant.entity.js';
import { Credential } from './credential.entity.js';
import { ExpenseClaim } from './expense-claim.entity.js';
import { Homework } from './homework.entity.js';
import { IdempotencyKey } from './idempotency-key.entity.js';
import { Invite } from './invite.entity.js';
import { Invoice } from './invoice.entity.js';
import { InvoiceLine } from './invoice-line.entity.js';
import { ListCount } from './list-count.entity.js';
import { Member } from './member.entity.js';
import { Message } from './message.entity.js';
import { MileageTrip } from './mileage-trip.entity.js';
import { Organization } from './organization.entity.js';
import { OrganizationConversation } from './organization-conversation.entity.js';
import { OrganizationResult } from './organization-result.entity.js';
import { OutboxMessage } from './outbox-message.entity.js';
import { Parent } from './parent.entity.js';
import { ParentStudent } from './parent-student.entity.js';
import { Payment } from './payment.entity.js';
import { PortalSession } from './portal-session.entity.js';
import { RebuildHook } from './rebuild-hook.entity.js';
import { Result } from './result.entity.js';
import { Session } from './session.entity.js';
import { SessionFeedback } from './session-feedback.entity.js';
import { SessionParticipant } from './session-participant.entity.js';
import { SessionStudent } from './session-student.entity.js';
import { SignInAttempt } from './sign-in-attempt.entity.js';
import { StudentGroup } from './student-group.entity.js';
import { StudentGroupMember } from './student-group-member.entity.js';
import { Subject } from './subject.entity.js';
import { Suppression } from './suppression.entity.js';
import { TutorProfile } from './tutor-profile.entity.js';
import { TutorStudent } from './tutor-student.entity.js';
import { TutorSubject } from './tutor-subject.entity.js';
import { User } from './user.entity.js';
import { WorkerHeartbeat } from './worker-heartbeat.entity.js';

export {
  Adjustment,
  ApiKey,
  AuditEntry,
  BlogPost,
  Classroom,
  ClassroomMember,
  Conversation,
  ConversationParticipant,
  Credential,
  ExpenseClaim,
  Homework,
  IdempotencyKey,
  Invite,
  Invoice,
  InvoiceLine,
  ListCount,
  Member,
  Message,
  MileageTrip,
  Organization,
  OrganizationConversation,
  OrganizationResult,
  OutboxMessage,
  Parent,
  ParentStudent,
  Payment,
  PortalSession,
  RebuildHook,
  Result,
  Session,
  SessionFeedback,
  SessionParticipant,
  SessionStudent,
  SignInAttempt,
  StudentGroup,
  StudentGroupMember,
  Subject,
  Suppression,
  TutorProfile,
  TutorStudent,
  TutorSubject,
  User,
  WorkerHeartbeat,
};

/** Every entity, one per table. Listed by hand: a glob would read whatever lies in the build's folder. */
export const entities = [
  Adjustment,
  ApiKey,
  AuditEntry,
  BlogPost,
  Classroom,
  ClassroomMember,
  Conversation,
  ConversationParticipant,
  Credential,
  ExpenseClaim,
  Homework,
  IdempotencyKey,
  Invite,
  Invoice,
  InvoiceLine,
  ListCount,
  Member,
  Message,
  MileageTrip,
  Organization,
  OrganizationConversation,
  OrganizationResult,
  OutboxMessage,
  Parent,
  ParentStudent,
  Payment,
  PortalSession,
  RebuildHook,
  Result,
  Session,
  SessionFeedback,
  SessionParticipant,
  SessionStudent,
  SignInAttempt,
  StudentGroup,
  StudentGroupMember,
  Subject,
  Suppression,
  TutorProfile,
  TutorStudent,
  TutorSubject,
  User,
  WorkerHeartbeat,
];
