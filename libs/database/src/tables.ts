// Written by `npm run schema` from the migrated schema. Do not edit.

/** The columns with a closed set of values, as their CHECKs list it. */
export interface Tables {
  blog_posts: {
    status: 'draft' | 'published';
  };
  booking_requests: {
    status: 'pending' | 'matched' | 'declined' | 'expired';
    preferredMode: 'online' | 'in_person' | 'either' | null;
  };
  classroom_members: {
    role: 'teacher' | 'student';
  };
  classrooms: {
    billingInterval: 'session' | 'week' | 'month' | 'term' | 'year' | null;
  };
  conversation_participants: {
    role: 'teacher' | 'student' | 'parent';
  };
  conversations: {
    type: 'direct' | 'triad' | 'group' | 'classroom_feed';
  };
  event_changes: {
    op: 'I' | 'U' | 'D';
  };
  expense_claims: {
    category: 'parking' | 'tolls' | 'materials' | 'training' | 'other' | null;
    status: 'logged' | 'approved' | 'rejected' | 'reimbursed';
  };
  exports: {
    status: 'asked' | 'waiting' | 'preparing' | 'ready' | 'downloaded' | 'expired' | 'called_off';
  };
  family_switches: {
    kind: 'lessons_booked' | 'lessons_moved' | 'lessons_cancelled' | 'lessons_tomorrow' | 'reminders';
  };
  files: {
    scope: 'private' | 'classroom' | 'group' | 'personal' | 'org';
    resourceType: 'file' | 'link' | 'video' | 'google_drive';
  };
  homework: {
    homeworkType: 'text' | 'exam';
    scope: 'classroom' | 'group' | 'student';
  };
  inbox_messages: {
    status: 'unread' | 'read' | 'archived';
  };
  invites: {
    scope: 'organization' | 'classroom' | 'group' | 'tutor_student' | 'parent' | 'account';
    role: 'tutor' | 'admin' | 'student' | 'parent';
  };
  invoice_lines: {
    itemType: 'session' | 'material' | 'fee' | 'discount' | 'other' | null;
    tax: 'taxable' | 'free' | null;
  };
  invoices: {
    status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  };
  joins: {
    approval: 'waiting' | 'approved' | null;
  };
  leads: {
    status: 'new' | 'contacted' | 'consultation_booked' | 'converted' | 'lost';
  };
  lesson_participants: {
    status: 'pending' | 'accepted' | 'declined' | 'cancelled' | 'removed';
    attendance: 'attended' | 'no_show' | 'excused' | null;
  };
  lesson_plans: {
    scope: 'classroom' | 'group' | 'student';
    status: 'draft' | 'ready' | 'delivered';
  };
  locations: {
    ownerType: 'org' | 'tutor' | 'student';
  };
  mail_opt_outs: {
    kind: 'lessons' | 'reminders';
  };
  members: {
    role: 'owner' | 'admin' | 'tutor' | 'student';
    status: 'accepted' | 'pending' | 'archived';
  };
  messages: {
    messageType: 'text' | 'image' | 'file' | 'system';
    visibility: 'everyone' | 'student_only' | 'parent_only';
  };
  mileage_trips: {
    trackingMethod: 'manual' | 'gps' | null;
    status: 'logged' | 'approved' | 'rejected' | 'reimbursed';
  };
  moves: {
    state: 'paused' | 'moved' | 'arriving' | 'live';
  };
  organizations: {
    lineTax: 'taxable' | 'free';
  };
  outbox: {
    topic: 'email' | 'rebuild' | 'webhook';
    status: 'queued' | 'held' | 'sent' | 'failed' | 'dead' | 'suppressed';
  };
  outbox_turns: {
    queue: 'email' | 'rebuild' | 'webhook' | 'failing';
  };
  parents: {
    status: 'accepted' | 'pending' | 'archived';
  };
  password_link_requests: {
    kind: 'password_reset' | 'address_confirmation' | 'wrong_passwords';
  };
  payments: {
    paymentType: 'card' | 'bank_transfer' | 'cash' | 'external';
    status: 'pending' | 'succeeded' | 'refunded' | 'failed' | 'disputed' | 'canceled';
  };
  rate_cells: {
    sessionKind: '1on1_online' | '1on1_inperson' | 'group' | 'classroom' | null;
    tutorPayMode: 'percentage' | 'flat' | null;
  };
  results: {
    status: 'not_started' | 'in_progress' | 'submitted' | 'completed';
    mode: 'vce_exam' | 'topic_practice' | 'sac' | 'homework';
  };
  retention_settings: {
    kind: 'enquiries' | 'applications' | 'messages' | 'inbox' | 'results' | 'feedback';
  };
  session_feedback: {
    reviewerRole: 'student' | 'parent' | 'tutor' | null;
  };
  session_series: {
    mode: 'online' | 'in_person' | null;
  };
  sessions: {
    status: 'pending' | 'scheduled' | 'completed' | 'cancelled';
    mode: 'online' | 'in_person' | null;
  };
  student_group_members: {
    role: 'tutor' | 'student';
  };
  subjects: {
    tax: 'taxable' | 'free' | null;
  };
  tutor_profiles: {
    teachingMode: 'online' | 'in_person' | 'both' | null;
  };
  tutor_students: {
    status: 'active' | 'archived';
  };
  webhook_endpoints: {
    disabledReason: 'request' | 'gone' | 'failing' | 'maker_left' | null;
  };
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
  event_changes: {
    op: ['I', 'U', 'D'],
  },
  expense_claims: {
    category: ['parking', 'tolls', 'materials', 'training', 'other'],
    status: ['logged', 'approved', 'rejected', 'reimbursed'],
  },
  exports: {
    status: ['asked', 'waiting', 'preparing', 'ready', 'downloaded', 'expired', 'called_off'],
  },
  family_switches: {
    kind: ['lessons_booked', 'lessons_moved', 'lessons_cancelled', 'lessons_tomorrow', 'reminders'],
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
    tax: ['taxable', 'free'],
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
  mail_opt_outs: {
    kind: ['lessons', 'reminders'],
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
  moves: {
    state: ['paused', 'moved', 'arriving', 'live'],
  },
  organizations: {
    line_tax: ['taxable', 'free'],
  },
  outbox: {
    topic: ['email', 'rebuild', 'webhook'],
    status: ['queued', 'held', 'sent', 'failed', 'dead', 'suppressed'],
  },
  outbox_turns: {
    queue: ['email', 'rebuild', 'webhook', 'failing'],
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
  retention_settings: {
    kind: ['enquiries', 'applications', 'messages', 'inbox', 'results', 'feedback'],
  },
  session_feedback: {
    reviewer_role: ['student', 'parent', 'tutor'],
  },
  session_series: {
    mode: ['online', 'in_person'],
  },
  sessions: {
    status: ['pending', 'scheduled', 'completed', 'cancelled'],
    mode: ['online', 'in_person'],
  },
  student_group_members: {
    role: ['tutor', 'student'],
  },
  subjects: {
    tax: ['taxable', 'free'],
  },
  tutor_profiles: {
    teaching_mode: ['online', 'in_person', 'both'],
  },
  tutor_students: {
    status: ['active', 'archived'],
  },
  webhook_endpoints: {
    disabled_reason: ['request', 'gone', 'failing', 'maker_left'],
  },
} as const;

/** The columns that are never null, by table. */
// prettier-ignore
export const REQUIRED: Partial<Record<string, readonly string[]>> = {
  account_deletions: 'user_id asked_at due_at'.split(' '),
  adjustments: 'id organization_id tutor_id period_start period_end amount_cents voided created_at'.split(' '),
  api_key_handovers: 'api_key_id organization_id sealed expires_at'.split(' '),
  api_keys: 'id organization_id name key_hash first_four last_four scopes platform_blog created_at'.split(' '),
  audit_log: 'id organization_id operation request_id status result details created_at'.split(' '),
  availabilities: 'id organization_id tutor_id day_of_week start_time end_time timezone created_at'.split(' '),
  blog_posts: 'id brand title slug status tags publish_to_website publish_to_portal is_pinned created_at updated_at'.split(' '),
  booking_requests: 'id organization_id status preferred_days preferred_times created_at updated_at'.split(' '),
  calendar_feeds: 'organization_id user_id token_hash created_at'.split(' '),
  classroom_members: 'id organization_id classroom_id user_id role created_at'.split(' '),
  classrooms: 'id organization_id name is_archived created_at updated_at'.split(' '),
  conversation_participants: 'id conversation_id user_id role joined_at'.split(' '),
  conversations: 'id type created_at updated_at'.split(' '),
  credentials: 'user_id sessions_valid_from'.split(' '),
  device_cookies: 'user_id valid_from'.split(' '),
  erasures: 'organization_id person_id keep_results asked_at'.split(' '),
  event_changes: 'seq transaction began told organization_id resource resource_id op changed'.split(' '),
  event_counter: 'one number'.split(' '),
  event_floors: 'organization_id number id'.split(' '),
  events: 'id organization_id number type resource resource_id timestamp data'.split(' '),
  expense_claims: 'id organization_id tutor_id expense_date amount_cents status created_at'.split(' '),
  exports: 'id organization_id status tries sent created_at'.split(' '),
  family_rounds: 'organization_id'.split(' '),
  family_switches: 'organization_id kind created_at'.split(' '),
  files: 'id organization_id scope title resource_type created_at'.split(' '),
  holds: 'organization_id user_id reason created_at'.split(' '),
  homework: 'id assigned_by title homework_type scope files created_at'.split(' '),
  idempotency_keys: 'organization_id operation key request_hash created_at expires_at'.split(' '),
  inbox_messages: 'id organization_id message status created_at'.split(' '),
  invites: 'id organization_id scope role target_id secret_hash standing created_at switched_off'.split(' '),
  invoice_lines: 'id organization_id invoice_id position quantity unit_amount_cents amount_cents'.split(' '),
  invoice_reminders: 'organization_id invoice_id due_date days created_at'.split(' '),
  invoices: 'id organization_id student_id status amount_due_cents amount_paid_cents currency created_at collecting rebilled person_erased'.split(' '),
  isochrones: 'organization_id postcode minutes reached computed_at'.split(' '),
  joins: 'organization_id invite_id user_id joined_at'.split(' '),
  leads: 'id organization_id name status created_at updated_at'.split(' '),
  lesson_participants: 'id organization_id session_id student_id status rate_given created_at'.split(' '),
  lesson_plans: 'id organization_id scope curriculum_level_ids title status plan_data created_at updated_at'.split(' '),
  lesson_tellings: 'organization_id user_id session_id starts_at'.split(' '),
  list_counts: 'organization_id list slot delta'.split(' '),
  locations: 'id organization_id owner_type is_default created_at'.split(' '),
  logos: 'organization_id digest png created_at'.split(' '),
  mail_links: 'token organization_id address created_at'.split(' '),
  mail_opt_outs: 'organization_id address kind created_at'.split(' '),
  members: 'id organization_id user_id role status created_at profile_published bills_self no_reminders'.split(' '),
  messages: 'id organization_id conversation_id content message_type visibility created_at'.split(' '),
  mileage_trips: 'id organization_id tutor_id trip_date distance_km status created_at'.split(' '),
  moves: 'organization_id state to_tell since'.split(' '),
  organization_conversations: 'organization_id conversation_id type participants'.split(' '),
  organization_results: 'organization_id result_id student_id status mode created_at'.split(' '),
  organizations: 'id name slug time_zone currency payment_terms_days tax_registered tax_label tax_rate line_tax shares_learning created_at updated_at'.split(' '),
  outbox: 'id topic kind recipient status attempts due_at created_at owner gathered gathered_count gathered_kinds unproven'.split(' '),
  outbox_turns: 'seq queue owner at'.split(' '),
  parent_students: 'organization_id parent_id student_id linked_at pays'.split(' '),
  parents: 'organization_id user_id status created_at no_reminders'.split(' '),
  passkeys: 'id user_id credential_id public_key sign_count transports name created_at'.split(' '),
  password_link_requests: 'id email_normalized content requested_at expires_at kind'.split(' '),
  password_links: 'secret_hash user_id email_normalized expires_at'.split(' '),
  payment_allocations: 'id organization_id payment_id invoice_id amount_cents created_at'.split(' '),
  payments: 'id organization_id amount_cents currency payment_type status created_at recorded credit_cents person_erased'.split(' '),
  payouts: 'id organization_id tutor_id amount_cents currency paid_at counts_at recorded taken_back created_at'.split(' '),
  places: 'postcode compact lat lng'.split(' '),
  portal_sessions: 'id secret_hash user_id created_at last_seen_at user_agent network'.split(' '),
  questions: 'id topic tags is_official_vce curriculum_level_ids created_at'.split(' '),
  rate_bands: 'id organization_id name sort_order created_at'.split(' '),
  rate_cells: 'id organization_id created_at updated_at'.split(' '),
  rebuild_hooks: 'target url secret created_at trusted'.split(' '),
  refusals: 'organization_id api_key_id operation status minute count'.split(' '),
  removed_sessions: 'organization_id session_id user_id starts_at ends_at feed_sequence removed_at'.split(' '),
  request_log: 'id organization_id api_key_id method status duration_ms request_id created_at'.split(' '),
  results: 'id student_id status mode created_at'.split(' '),
  retention_settings: 'organization_id kind months created_at'.split(' '),
  session_feedback: 'id legacy tutor_id rating positive_tags improve_tags has_comment is_public created_at'.split(' '),
  session_series: 'id organization_id starts_at last_starts_at duration_minutes every_weeks created_at updated_at'.split(' '),
  session_students: 'organization_id student_id occurrences'.split(' '),
  sessions: 'id organization_id status series_detached starts_at ends_at duration_minutes tutor_pay_given student_rate_given created_at updated_at charged_pct overlap_allowed feed_sequence'.split(' '),
  sign_in_attempts: 'subject minute attempts'.split(' '),
  student_group_members: 'id group_id user_id role created_at'.split(' '),
  student_groups: 'id name is_archived created_at updated_at'.split(' '),
  subjects: 'id organization_id code name is_archived created_at'.split(' '),
  suppressions: 'organization_id email_normalized created_at'.split(' '),
  time_off: 'id organization_id tutor_id starts_on ends_on created_at'.split(' '),
  tutor_profiles: 'organization_id user_id is_published service_postcodes serves_all_areas in_person_arrangements specialisations created_at'.split(' '),
  tutor_students: 'id organization_id tutor_id student_id status created_at'.split(' '),
  tutor_subjects: 'organization_id user_id subject_id created_at'.split(' '),
  tutor_tiers: 'id organization_id name sort_order created_at'.split(' '),
  uploads: 'id organization_id name mime size_bytes created_at'.split(' '),
  users: 'id email email_normalized placeholder_email first_name last_name created_at updated_at seen_by'.split(' '),
  webhook_endpoints: 'id organization_id url event_types secret position created_at updated_at'.split(' '),
  webhook_progress: 'id number'.split(' '),
  worker_heartbeats: 'worker_id seen_at failed_claims'.split(' '),
};
