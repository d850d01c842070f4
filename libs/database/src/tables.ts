// Written by `npm run schema` from the migrated schema. Do not edit.

/** The columns with a closed set of values, as their CHECKs list it. */
// prettier-ignore
export interface Tables {
  blog_posts: { status: 'draft' | 'published'; };
  booking_requests: { status: 'pending' | 'matched' | 'declined' | 'expired';
    preferredMode: 'online' | 'in_person' | 'either' | null; };
  classroom_members: { role: 'teacher' | 'student'; };
  classrooms: { billingInterval: 'session' | 'week' | 'month' | 'term' | 'year' | null; };
  conversation_participants: { role: 'teacher' | 'student' | 'parent'; };
  conversations: { type: 'direct' | 'triad' | 'group' | 'classroom_feed'; };
  expense_claims: { category: 'parking' | 'tolls' | 'materials' | 'training' | 'other' | null;
    status: 'logged' | 'approved' | 'rejected' | 'reimbursed'; };
  files: { scope: 'private' | 'classroom' | 'group' | 'personal' | 'org';
    resourceType: 'file' | 'link' | 'video' | 'google_drive'; };
  homework: { homeworkType: 'text' | 'exam'; scope: 'classroom' | 'group' | 'student'; };
  inbox_messages: { status: 'unread' | 'read' | 'archived'; };
  invites: { scope: 'organization' | 'classroom' | 'group' | 'tutor_student' | 'parent' | 'account';
    role: 'tutor' | 'admin' | 'student' | 'parent'; };
  invoice_lines: { itemType: 'session' | 'material' | 'fee' | 'discount' | 'other' | null; };
  invoices: { status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'; };
  joins: { approval: 'waiting' | 'approved' | null; };
  leads: { status: 'new' | 'contacted' | 'consultation_booked' | 'converted' | 'lost'; };
  lesson_participants: { status: 'pending' | 'accepted' | 'declined' | 'cancelled' | 'removed';
    attendance: 'attended' | 'no_show' | 'excused' | null; };
  lesson_plans: { scope: 'classroom' | 'group' | 'student'; status: 'draft' | 'ready' | 'delivered'; };
  locations: { ownerType: 'org' | 'tutor' | 'student'; };
  members: { role: 'owner' | 'admin' | 'tutor' | 'student'; status: 'accepted' | 'pending' | 'archived'; };
  messages: { messageType: 'text' | 'image' | 'file' | 'system';
    visibility: 'everyone' | 'student_only' | 'parent_only'; };
  mileage_trips: { trackingMethod: 'manual' | 'gps' | null; status: 'logged' | 'approved' | 'rejected' | 'reimbursed';
    };
  outbox: { topic: 'email' | 'rebuild'; status: 'queued' | 'sent' | 'failed' | 'dead' | 'suppressed'; };
  parents: { status: 'accepted' | 'pending' | 'archived'; };
  password_link_requests: { kind: 'password_reset' | 'address_confirmation' | 'wrong_passwords'; };
  payments: { paymentType: 'card' | 'bank_transfer' | 'cash' | 'external';
    status: 'pending' | 'succeeded' | 'refunded' | 'failed' | 'disputed' | 'canceled'; };
  rate_cells: { sessionKind: '1on1_online' | '1on1_inperson' | 'group' | 'classroom' | null;
    tutorPayMode: 'percentage' | 'flat' | null; };
  results: { status: 'not_started' | 'in_progress' | 'submitted' | 'completed';
    mode: 'vce_exam' | 'topic_practice' | 'sac' | 'homework'; };
  session_feedback: { reviewerRole: 'student' | 'parent' | 'tutor' | null; };
  sessions: { status: 'pending' | 'scheduled' | 'completed' | 'cancelled'; mode: 'online' | 'in_person' | null; };
  student_group_members: { role: 'tutor' | 'student'; };
  tutor_profiles: { teachingMode: 'online' | 'in_person' | 'both' | null; };
  tutor_students: { status: 'active' | 'archived'; };
}

/** Their values, by table and column. */
export const VALUES = {
  blog_posts: {
    status: ['draft', 'published'],
  },
  booking_requests: {
    status: ['pending', 'matched', 'declined', 'expired'],
    preferred_mode: ['online', 'in_person', 'either'],
  },
  classroom_members: {
    role: ['teacher', 'student'],
  },
  classrooms: {
    billing_interval: ['session', 'week', 'month', 'term', 'year'],
  },
  conversation_participants: {
    role: ['teacher', 'student', 'parent'],
  },
  conversations: {
    type: ['direct', 'triad', 'group', 'classroom_feed'],
  },
  expense_claims: {
    category: ['parking', 'tolls', 'materials', 'training', 'other'],
    status: ['logged', 'approved', 'rejected', 'reimbursed'],
  },
  files: {
    scope: ['private', 'classroom', 'group', 'personal', 'org'],
    resource_type: ['file', 'link', 'video', 'google_drive'],
  },
  homework: {
    homework_type: ['text', 'exam'],
    scope: ['classroom', 'group', 'student'],
  },
  inbox_messages: {
    status: ['unread', 'read', 'archived'],
  },
  invites: {
    scope: ['organization', 'classroom', 'group', 'tutor_student', 'parent', 'account'],
    role: ['tutor', 'admin', 'student', 'parent'],
  },
  invoice_lines: {
    item_type: ['session', 'material', 'fee', 'discount', 'other'],
  },
  invoices: {
    status: ['draft', 'open', 'paid', 'void', 'uncollectible'],
  },
  joins: {
    approval: ['waiting', 'approved'],
  },
  leads: {
    status: ['new', 'contacted', 'consultation_booked', 'converted', 'lost'],
  },
  lesson_participants: {
    status: ['pending', 'accepted', 'declined', 'cancelled', 'removed'],
    attendance: ['attended', 'no_show', 'excused'],
  },
  lesson_plans: {
    scope: ['classroom', 'group', 'student'],
    status: ['draft', 'ready', 'delivered'],
  },
  locations: {
    owner_type: ['org', 'tutor', 'student'],
  },
  members: {
    role: ['owner', 'admin', 'tutor', 'student'],
    status: ['accepted', 'pending', 'archived'],
  },
  messages: {
    message_type: ['text', 'image', 'file', 'system'],
    visibility: ['everyone', 'student_only', 'parent_only'],
  },
  mileage_trips: {
    tracking_method: ['manual', 'gps'],
    status: ['logged', 'approved', 'rejected', 'reimbursed'],
  },
  outbox: {
    topic: ['email', 'rebuild'],
    status: ['queued', 'sent', 'failed', 'dead', 'suppressed'],
  },
  parents: {
    status: ['accepted', 'pending', 'archived'],
  },
  password_link_requests: {
    kind: ['password_reset', 'address_confirmation', 'wrong_passwords'],
  },
  payments: {
    payment_type: ['card', 'bank_transfer', 'cash', 'external'],
    status: ['pending', 'succeeded', 'refunded', 'failed', 'disputed', 'canceled'],
  },
  rate_cells: {
    session_kind: ['1on1_online', '1on1_inperson', 'group', 'classroom'],
    tutor_pay_mode: ['percentage', 'flat'],
  },
  results: {
    status: ['not_started', 'in_progress', 'submitted', 'completed'],
    mode: ['vce_exam', 'topic_practice', 'sac', 'homework'],
  },
  session_feedback: {
    reviewer_role: ['student', 'parent', 'tutor'],
  },
  sessions: {
    status: ['pending', 'scheduled', 'completed', 'cancelled'],
    mode: ['online', 'in_person'],
  },
  student_group_members: {
    role: ['tutor', 'student'],
  },
  tutor_profiles: {
    teaching_mode: ['online', 'in_person', 'both'],
  },
  tutor_students: {
    status: ['active', 'archived'],
  },
} as const;
