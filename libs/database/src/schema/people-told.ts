import { visiblePerson } from './visible-person.js';

/** How a membership ends. */
export const ENDS = {
  declined: {
    says: 'Somebody who was invited declined.',
    when: `n.status = 'archived' AND n.refused_at IS NOT NULL AND o.accepted_at IS NULL`,
  },
  offboarded: { says: 'Somebody left, or was offboarded.', when: `n.status = 'archived'` },
};

/** What members and parents have in common. */
export const PERSON = {
  id: 'user_id',

  verbs: {
    accepted: {
      says: 'Somebody accepted that they belong here.',
      updated: `o.status = 'pending' AND n.status = 'accepted'`,
    },
    declined: { says: ENDS.declined.says, updated: `o.status <> 'archived' AND ${ENDS.declined.when}` },
    offboarded: { says: ENDS.offboarded.says, updated: `o.status <> 'archived' AND ${ENDS.offboarded.when}` },
    erased: { says: 'Somebody was erased: what named them names nobody any more.' },
    restored: {
      says: 'Somebody who had left came back.',
      updated: `o.status = 'archived' AND n.status <> 'archived'`,
    },
  },
};

/** A person as the API shows them. @param others further columns */
export const shownOf = (alias: string, others: string) => {
  const { first_name, last_name, full_name, email, placeholder_email } = visiblePerson(alias);
  return `SELECT ${first_name} AS first_name, ${last_name} AS last_name, ${full_name} AS full_name, ${email} AS email,
            ${placeholder_email} AS placeholder_email, ${others}
            FROM (VALUES (true)) one LEFT JOIN users u ON u.id = ${alias}.user_id`;
};

export const SAME_PERSON = 'p.organization_id = c.organization_id AND p.user_id = c.user_id';

/** Fields of tutors that stand in their profile. */
export const PROFILE = Object.fromEntries(
  [
    ...['bio', 'teaching_mode', 'avatar_url', 'handle', 'home_suburb', 'home_postcode', 'home_lat', 'home_lng'],
    ...[
      'service_postcodes',
      'serves_all_areas',
      'max_travel_km',
      'in_person_arrangements',
      'tutor_tier_id',
      'specialisations',
      'meeting_url',
    ],
  ].map((column) => [column, [column]]),
);

/** The name of who wrote feedback, while only the organization has named them. */
export const REVIEWER = { supplied_first_name: ['reviewer_name'], supplied_last_name: ['reviewer_name'] };
export const WAITS = 'c.accepted_at IS NULL AND c.frozen_at IS NULL';
