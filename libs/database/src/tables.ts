// Written by `npm run schema` from the migrated schema. Do not edit.

/** The rows of every table. Amounts are whole cents, dates are written YYYY-MM-DD. */
export interface Tables {
  adjustments: {
    id: string;
    organizationId: string;
    tutorId: string;
    periodStart: string;
    periodEnd: string;
    amountCents: number;
    note: string | null;
    voided: boolean;
    voidedAt: Date | null;
    createdAt: Date;
  };
  api_key_handovers: {
    apiKeyId: string;
    organizationId: string;
    sealed: Buffer;
    expiresAt: Date;
  };
  api_keys: {
    id: string;
    organizationId: string;
    name: string;
    keyHash: Buffer;
    firstFour: string;
    lastFour: string;
    scopes: string[];
    platformBlog: boolean;
    createdBy: string | null;
    expiresAt: Date | null;
    revokedAt: Date | null;
    lastUsedAt: Date | null;
    createdAt: Date;
    formToken: string | null;
    replacedBy: string | null;
    replacedAt: Date | null;
    expiryWarnedDays: number | null;
  };
  audit_log: {
    id: string;
    organizationId: string;
    apiKeyId: string | null;
    operation: string;
    requestId: string;
    status: number;
    result: string;
    details: unknown;
    createdAt: Date;
    userId: string | null;
  };
  blog_posts: {
    id: string;
    organizationId: string | null;
    brand: string;
    title: string;
    slug: string;
    status: 'draft' | 'published';
    excerpt: string | null;
    content: string | null;
    author: string | null;
    tags: string[];
    featuredImage: string | null;
    category: string | null;
    date: string | null;
    publishToWebsite: boolean;
    publishToPortal: boolean;
    isPinned: boolean;
    publishedAt: Date | null;
    scheduledAt: Date | null;
    createdAt: Date;
    updatedAt: Date;
  };
  classroom_members: {
    id: string;
    organizationId: string;
    classroomId: string;
    userId: string;
    role: 'teacher' | 'student';
    createdAt: Date;
  };
  classrooms: {
    id: string;
    organizationId: string;
    name: string;
    tutorId: string | null;
    subjectId: string | null;
    priceCents: number | null;
    billingInterval: 'session' | 'week' | 'month' | 'term' | 'year' | null;
    createdAt: Date;
    updatedAt: Date;
  };
  conversation_participants: {
    id: string;
    conversationId: string;
    userId: string;
    role: 'teacher' | 'student' | 'parent';
    joinedAt: Date;
    leftAt: Date | null;
  };
  conversations: {
    id: string;
    type: 'direct' | 'triad' | 'group' | 'classroom_feed';
    classroomId: string | null;
    title: string | null;
    lastMessageAt: Date | null;
    createdAt: Date;
    updatedAt: Date;
  };
  credentials: {
    userId: string;
    passwordHash: string | null;
    sessionsValidFrom: Date;
  };
  device_cookies: {
    userId: string;
    validFrom: Date;
  };
  expense_claims: {
    id: string;
    organizationId: string;
    tutorId: string;
    sessionId: string | null;
    expenseDate: string;
    category: 'parking' | 'tolls' | 'materials' | 'training' | 'other' | null;
    vendor: string | null;
    amountCents: number;
    approvedAmountCents: number | null;
    status: 'logged' | 'approved' | 'rejected' | 'reimbursed';
    receiptPhotoUrl: string | null;
    approvedAt: Date | null;
    createdAt: Date;
  };
  homework: {
    id: string;
    organizationId: string | null;
    assignedBy: string;
    title: string;
    description: string | null;
    homeworkType: 'text' | 'exam';
    scope: 'classroom' | 'group' | 'student';
    classroomId: string | null;
    groupId: string | null;
    studentId: string | null;
    dueDate: Date | null;
    files: unknown;
    createdAt: Date;
  };
  idempotency_keys: {
    organizationId: string;
    operation: string;
    key: string;
    requestHash: Buffer;
    status: number | null;
    answer: Buffer | null;
    createdAt: Date;
    expiresAt: Date;
  };
  invites: {
    id: string;
    organizationId: string;
    scope: 'organization' | 'classroom' | 'group' | 'tutor_student' | 'parent' | 'account';
    role: 'tutor' | 'admin' | 'student' | 'parent';
    targetId: string;
    subjectId: string | null;
    email: string | null;
    secretHash: Buffer;
    standing: boolean;
    sealed: Buffer | null;
    apiKeyId: string | null;
    expiresAt: Date | null;
    revokedAt: Date | null;
    acceptedAt: Date | null;
    createdAt: Date;
    userId: string | null;
    proofHash: Buffer | null;
  };
  invoice_lines: {
    id: string;
    organizationId: string;
    invoiceId: string;
    position: number;
    description: string | null;
    quantity: number;
    unitAmountCents: number;
    amountCents: number;
    itemType: 'session' | 'material' | 'fee' | 'discount' | 'other' | null;
    sessionId: string | null;
  };
  invoices: {
    id: string;
    organizationId: string;
    invoiceNumber: string | null;
    tutorId: string | null;
    studentId: string;
    status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
    amountDueCents: number;
    amountPaidCents: number;
    currency: string;
    dueDate: string | null;
    sentAt: Date | null;
    paidAt: Date | null;
    createdAt: Date;
  };
  lesson_participants: {
    id: string;
    organizationId: string;
    sessionId: string;
    studentId: string;
    status: 'pending' | 'accepted' | 'declined' | 'cancelled' | 'removed';
    attendance: 'attended' | 'no_show' | 'excused' | null;
    invitedAt: Date | null;
    respondedAt: Date | null;
    cancelledAt: Date | null;
    createdAt: Date;
  };
  list_counts: {
    organizationId: string;
    list: string;
    slot: string;
    delta: number;
  };
  members: {
    id: string;
    organizationId: string;
    userId: string;
    role: 'owner' | 'admin' | 'tutor' | 'student';
    status: 'accepted' | 'pending' | 'archived';
    suppliedFirstName: string | null;
    suppliedLastName: string | null;
    suppliedEmail: string | null;
    suppliedPhone: string | null;
    acceptedAt: Date | null;
    archivedAt: Date | null;
    createdAt: Date;
    invitedAt: Date | null;
    approvalRequestedAt: Date | null;
    profilePublished: boolean;
  };
  messages: {
    id: string;
    conversationId: string;
    senderId: string | null;
    content: string;
    messageType: 'text' | 'image' | 'file' | 'system';
    visibility: 'everyone' | 'student_only' | 'parent_only';
    replyToId: string | null;
    createdAt: Date;
  };
  mileage_trips: {
    id: string;
    organizationId: string;
    tutorId: string;
    sessionId: string | null;
    tripDate: string;
    destination: string | null;
    distanceKm: number;
    durationMinutes: number | null;
    vehicle: string | null;
    trackingMethod: 'manual' | 'gps' | null;
    status: 'logged' | 'approved' | 'rejected' | 'reimbursed';
    rateCents: number | null;
    amountCents: number | null;
    approvedAt: Date | null;
    createdAt: Date;
  };
  organization_conversations: {
    organizationId: string;
    conversationId: string;
    type: string;
    lastMessageAt: Date | null;
    classroomId: string | null;
    title: string | null;
    createdAt: Date | null;
    updatedAt: Date | null;
    participants: unknown;
  };
  organization_results: {
    organizationId: string;
    resultId: string;
    studentId: string;
    status: string;
    mode: string;
    completedAt: Date | null;
    createdAt: Date;
    grade: number | null;
    vceExamId: string | null;
    curriculumLevelId: string | null;
    homeworkAssignmentId: string | null;
    startedAt: Date | null;
  };
  organizations: {
    id: string;
    name: string;
    slug: string;
    timeZone: string;
    currency: string;
    createdAt: Date;
    updatedAt: Date;
  };
  outbox: {
    id: string;
    organizationId: string | null;
    topic: 'email' | 'rebuild';
    kind: string;
    recipient: string;
    payload: Buffer | null;
    status: 'queued' | 'sent' | 'failed' | 'dead' | 'suppressed';
    attempts: number;
    dueAt: Date;
    leasedBy: string | null;
    leasedUntil: Date | null;
    lastError: string | null;
    createdAt: Date;
    finishedAt: Date | null;
    inviteId: string | null;
    emailNormalized: string | null;
    linkExpiresAt: Date | null;
    owner: string;
  };
  parent_students: {
    organizationId: string;
    parentId: string;
    studentId: string;
    linkedAt: Date;
  };
  parents: {
    organizationId: string;
    userId: string;
    status: 'accepted' | 'pending' | 'archived';
    suppliedFirstName: string | null;
    suppliedLastName: string | null;
    suppliedEmail: string | null;
    suppliedPhone: string | null;
    enrolledAt: Date | null;
    createdAt: Date;
    acceptedAt: Date | null;
  };
  passkeys: {
    id: string;
    userId: string;
    credentialId: Buffer;
    publicKey: Buffer;
    signCount: number;
    transports: string[];
    name: string;
    createdAt: Date;
    lastUsedAt: Date | null;
  };
  password_link_requests: {
    id: string;
    emailNormalized: string;
    secretHash: Buffer | null;
    content: Buffer;
    requestedAt: Date;
    expiresAt: Date;
    kind: 'password_reset' | 'address_confirmation' | 'wrong_passwords';
  };
  password_links: {
    secretHash: Buffer;
    userId: string;
    emailNormalized: string;
    expiresAt: Date;
  };
  payments: {
    id: string;
    organizationId: string;
    sessionId: string | null;
    studentId: string | null;
    tutorId: string | null;
    amountCents: number;
    refundAmountCents: number | null;
    currency: string;
    paymentType: 'card' | 'bank_transfer' | 'cash' | 'external';
    status: 'pending' | 'succeeded' | 'refunded' | 'failed' | 'disputed' | 'canceled';
    stripePaymentIntentId: string | null;
    createdAt: Date;
  };
  portal_sessions: {
    id: string;
    secretHash: Buffer;
    userId: string;
    createdAt: Date;
    lastSeenAt: Date;
    userAgent: string;
    network: string;
  };
  rebuild_hooks: {
    target: string;
    organizationId: string | null;
    url: string;
    secret: Buffer;
    createdAt: Date;
    trusted: boolean;
    previousSecret: Buffer | null;
    previousUntil: Date | null;
  };
  request_log: {
    id: string;
    organizationId: string;
    apiKeyId: string;
    method: string;
    route: string | null;
    status: number;
    durationMs: number;
    requestId: string;
    createdAt: Date;
  };
  results: {
    id: string;
    studentId: string;
    status: 'not_started' | 'in_progress' | 'submitted' | 'completed';
    grade: number | null;
    mode: 'vce_exam' | 'topic_practice' | 'sac' | 'homework';
    vceExamId: string | null;
    curriculumLevelId: string | null;
    homeworkAssignmentId: string | null;
    startedAt: Date | null;
    completedAt: Date | null;
    createdAt: Date;
  };
  session_feedback: {
    id: string;
    organizationId: string | null;
    legacy: boolean;
    sessionId: string | null;
    tutorId: string;
    reviewerId: string | null;
    reviewerRole: 'student' | 'parent' | 'tutor' | null;
    rating: number;
    recommend: boolean | null;
    prepared: boolean | null;
    positiveTags: string[];
    improveTags: string[];
    comment: string | null;
    hasComment: boolean;
    isPublic: boolean;
    createdAt: Date;
  };
  session_students: {
    organizationId: string;
    studentId: string;
    occurrences: number;
  };
  sessions: {
    id: string;
    organizationId: string;
    status: 'pending' | 'scheduled' | 'completed' | 'cancelled';
    title: string | null;
    tutorId: string | null;
    studentId: string | null;
    subjectId: string | null;
    startsAt: Date;
    endsAt: Date;
    durationMinutes: number;
    tutorPayRateCents: number | null;
    studentRateCents: number | null;
    amountOwedCents: number | null;
    mode: 'online' | 'in_person' | null;
    createdAt: Date;
    updatedAt: Date;
    completedAt: Date | null;
    cancelledAt: Date | null;
  };
  sign_in_attempts: {
    subject: Buffer;
    minute: Date;
    attempts: number;
  };
  student_group_members: {
    id: string;
    groupId: string;
    userId: string;
    role: 'tutor' | 'student';
    createdAt: Date;
  };
  student_groups: {
    id: string;
    ownerOrganizationId: string | null;
    organizationId: string | null;
    name: string;
    tutorId: string | null;
    classroomId: string | null;
    subjectId: string | null;
    ratePerStudentCents: number | null;
    color: string | null;
    avatarUrl: string | null;
    createdAt: Date;
    updatedAt: Date;
  };
  subjects: {
    id: string;
    organizationId: string;
    code: string;
    name: string;
    createdAt: Date;
  };
  suppression_senders: {
    organizationId: string;
    emailNormalized: string;
  };
  suppressions: {
    emailNormalized: string;
    reason: string;
    createdAt: Date;
  };
  tutor_profiles: {
    organizationId: string;
    userId: string;
    bio: string | null;
    teachingMode: 'online' | 'in_person' | 'both' | null;
    isPublished: boolean;
    avatarUrl: string | null;
    handle: string | null;
    homeSuburb: string | null;
    homePostcode: string | null;
    homeLat: number | null;
    homeLng: number | null;
    servicePostcodes: string[];
    servesAllAreas: boolean;
    maxTravelKm: number | null;
    inPersonArrangements: string[];
    specialisations: string[];
    createdAt: Date;
  };
  tutor_students: {
    id: string;
    organizationId: string;
    tutorId: string;
    studentId: string;
    subjectId: string | null;
    status: 'active' | 'archived';
    archivedAt: Date | null;
    createdAt: Date;
  };
  tutor_subjects: {
    organizationId: string;
    userId: string;
    subjectId: string;
    createdAt: Date;
  };
  users: {
    id: string;
    email: string;
    emailNormalized: string;
    placeholderEmail: boolean;
    firstName: string;
    lastName: string;
    phone: string | null;
    createdAt: Date;
    updatedAt: Date;
    emailVerifiedAt: Date | null;
    seenBy: string[];
  };
  worker_heartbeats: {
    workerId: string;
    seenAt: Date;
  };
}

/** The values that CHECK constraints allow, by table and column. */
export const VALUES = {
  blog_posts: {
    status: ['draft', 'published'],
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
  homework: {
    homework_type: ['text', 'exam'],
    scope: ['classroom', 'group', 'student'],
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
  lesson_participants: {
    status: ['pending', 'accepted', 'declined', 'cancelled', 'removed'],
    attendance: ['attended', 'no_show', 'excused'],
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
