import type { Grants } from './grants.js';

const SUPPLIED = 'supplied_first_name, supplied_last_name, supplied_email, supplied_phone';
const BILLING = 'billing_name, billing_address';
/** By which the worker knows whether a mail still goes to whoever pays. */
const PAYER = `accepted_at, frozen_at, refused_at, supplied_first_name, supplied_last_name, supplied_email, no_reminders, ${BILLING}`;

/** Members, parents and how people join. */
export const people: Grants = {
  tables: {
    members: {
      api: 'SELECT, INSERT, UPDATE',
      worker: `SELECT (organization_id, user_id, role, status, ${PAYER}, bills_self)`,
      portal: `SELECT, INSERT, UPDATE (role, status, archived_at, ahead, approval_requested_at, invited_at, refused_at, rate_band_id, bills_self, no_reminders, staff_notes, ${BILLING}, ${SUPPLIED})`,
    },
    tutor_profiles: { api: 'SELECT, INSERT, UPDATE', portal: 'SELECT, INSERT, UPDATE' },
    rate_bands: { api: 'SELECT, INSERT, UPDATE, DELETE', portal: 'SELECT, INSERT, UPDATE, DELETE' },
    tutor_tiers: { api: 'SELECT, INSERT, UPDATE, DELETE', portal: 'SELECT, INSERT, UPDATE, DELETE' },
    parents: {
      api: 'SELECT, INSERT, UPDATE',
      worker: `SELECT (organization_id, user_id, status, enrolled_at, ${PAYER})`,
      portal: `SELECT, INSERT, UPDATE (status, refused_at, no_reminders, ${BILLING}, ${SUPPLIED})`,
    },
    parent_students: {
      api: 'SELECT, INSERT, UPDATE (pays), DELETE',
      worker: 'SELECT (organization_id, parent_id, student_id, pays)',
      portal: 'SELECT, INSERT, UPDATE (pays), DELETE',
    },
    // The worker creates missing join codes.
    invites: {
      api: 'SELECT, INSERT, UPDATE (revoked_at, switched_off, held_at, expires_at)',
      worker: 'SELECT (id), INSERT',
      portal:
        'SELECT, INSERT, UPDATE (revoked_at, accepted_at, declined_at, proof_hash, flooded_at, switched_off, held_at, expires_at)',
    },
    joins: { api: 'SELECT, UPDATE (approval), DELETE', portal: 'SELECT, INSERT, UPDATE (approval), DELETE' },
    // Maintained by triggers.
    list_counts: { api: 'SELECT', portal: 'SELECT' },
  },
  functions: {
    folded: ['api', 'portal'],
    // What provisioning must know of logins elsewhere: ids, never identities.
    logins_by_email: ['api', 'portal'],
    hold_ties_elsewhere: ['api', 'portal'],
    kept_elsewhere: ['api', 'portal'],
    must_accept: ['api', 'portal'],
    is_established: ['api', 'portal'],
    await_address: ['api', 'portal'],
    correct_address: ['api', 'portal'],
    // Called by triggers and other functions, as the owner.
    only_organization_of: [],
    tied_elsewhere: [],

    invite_by_hash: ['portal'],
    accept_ties: ['portal'],
    membership_offers: ['portal'],
    former_memberships: ['portal'],
    waiting_memberships: ['portal'],
    decline_ties: ['portal'],
    approve_member: ['portal'],
    approve_parent: ['portal'],
    leave_conversations: ['api', 'portal'],
    other_owner_signs_in: ['api', 'portal'],
    change_name: ['portal'],

    // Called by claim_outbox, as the owner.
    closed_invites: [],
    organizations_without_codes: ['worker'],

    // For the operator.
    wrong_list_counts: [],
    recount_lists: [],
  },
};
