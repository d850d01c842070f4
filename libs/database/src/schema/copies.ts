/** Columns of results that organization_results copies: first those that its indexes filter and order by. */
export const RESULT_COLUMNS = ['student_id', 'status', 'mode', 'completed_at', 'created_at'];
export const MORE_RESULT_COLUMNS = [
  'grade',
  'vce_exam_id',
  'curriculum_level_id',
  'homework_assignment_id',
  'started_at',
];

/** All that organization_results copies of a result. */
export const RESULT_COPY = [...RESULT_COLUMNS, ...MORE_RESULT_COLUMNS];

/** Columns of conversations that organization_conversations copies, besides the participants. */
export const CONVERSATION_COLUMNS = ['type', 'classroom_id', 'title', 'last_message_at', 'created_at', 'updated_at'];

/** Columns of one table, or of a row named `alias`, separated by commas. */
export function listed(columns: string[], alias?: string): string {
  return columns.map((column) => (alias ? `${alias}.${column}` : column)).join(', ');
}

/**
 * Whether somebody has left an organization, as a member and as a parent: what they do elsewhere is nothing to it any
 * more. @param organization @param person SQL for the ids
 */
function hasLeft(organization: string, person: string): string {
  return /* sql */ `coalesce((SELECT bool_or(t.frozen_at IS NOT NULL) AND bool_and(t.accepted_at IS NULL) FROM (
        SELECT frozen_at, accepted_at FROM members WHERE organization_id = ${organization} AND user_id = ${person}
        UNION ALL SELECT frozen_at, accepted_at FROM parents
        WHERE organization_id = ${organization} AND user_id = ${person}) t), false)`;
}

/**
 * Conversations as organizations see them, as SQL. Whoever has left is no participant any more. A conversation of a few
 * people that one who has left continues elsewhere is what the organization itself wrote in it, if anything.
 *
 * @param seen SQL for the pairs (organization_id, id) of which the organization has an active participant
 */
export function seenConversations(seen: string): string {
  const columns = CONVERSATION_COLUMNS.map((column) =>
    column === 'last_message_at' || column === 'updated_at'
      ? `CASE WHEN v.outlived THEN v.${column} ELSE c.${column} END AS ${column}`
      : `c.${column}`,
  );
  return /* sql */ `SELECT s.organization_id, c.id, ${columns.join(', ')}, v.participants
      FROM (${seen}) s JOIN conversations c ON c.id = s.id,
        LATERAL (SELECT c.type IN ('direct', 'triad') AND coalesce(bool_or(a.has_left), false) AS outlived,
          coalesce(json_agg(json_build_object('user_id', a.user_id, 'role', a.role) ORDER BY a.joined_at, a.id)
            FILTER (WHERE NOT a.has_left), '[]') AS participants
          FROM (SELECT p.*, ${hasLeft('s.organization_id', 'p.user_id')} AS has_left
            FROM conversation_participants p WHERE p.conversation_id = c.id AND p.left_at IS NULL) a) o,
        LATERAL (SELECT o.outlived, o.participants, max(w.created_at) AS last_message_at,
          coalesce(max(w.created_at), c.created_at) AS updated_at, count(w.id) AS written
          FROM (SELECT true) one LEFT JOIN LATERAL (SELECT * FROM messages w WHERE o.outlived AND w.conversation_id = c.id
            AND w.organization_id = s.organization_id AND w.visibility = 'everyone' AND w.deleted_at IS NULL OFFSET 0) w ON true) v
      WHERE NOT v.outlived OR v.written > 0`;
}

/** Whether an organization made a result, or the homework that it is of, and therefore sees it whoever has left. */
export function ownResult(organization: string, result: string): string {
  return /* sql */ `EXISTS (SELECT FROM results x LEFT JOIN homework h ON h.id = x.homework_assignment_id
    WHERE x.id = ${result} AND ${organization} IN (x.made_by_organization_id, h.organization_id))`;
}

/** How a tutor teaches, as members copy it. @param profile alias of `tutor_profiles` */
export const teachingOf = (profile: string): string => `coalesce(${profile}.teaching_mode, 'unsaid')`;

/** The organizations that a login has accepted, as member or parent. @param id SQL for the login's id, with alias */
export function acceptedBy(id: string): string {
  return /* sql */ `ARRAY(
      SELECT organization_id FROM members WHERE user_id = ${id} AND accepted_at IS NOT NULL
      UNION SELECT organization_id FROM parents WHERE user_id = ${id} AND accepted_at IS NOT NULL ORDER BY 1)`;
}
