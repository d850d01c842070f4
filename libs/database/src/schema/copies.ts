/** Columns of results that organization_results copies: first those that its indexes filter and order by. */
export const RESULT_COLUMNS = ['student_id', 'status', 'mode', 'completed_at', 'created_at'];
export const MORE_RESULT_COLUMNS = [
  'grade',
  'vce_exam_id',
  'curriculum_level_id',
  'homework_assignment_id',
  'started_at',
];

/** Columns of conversations that organization_conversations copies, besides the participants. */
export const CONVERSATION_COLUMNS = ['type', 'classroom_id', 'title', 'last_message_at', 'created_at', 'updated_at'];

/** Columns of one table, or of a row named `alias`, separated by commas. */
export function listed(columns: string[], alias?: string): string {
  return columns.map((column) => (alias ? `${alias}.${column}` : column)).join(', ');
}

/** The active participants of the conversation `c`, as JSON. */
export const ACTIVE_PARTICIPANTS = /* sql */ `(SELECT coalesce(json_agg(p), '[]') FROM (SELECT a.user_id, a.role
      FROM conversation_participants a WHERE a.conversation_id = c.id AND a.left_at IS NULL ORDER BY a.joined_at, a.id) p)`;

/** The organizations that a login has accepted, as member or parent. @param id SQL for the login's id, with alias */
export function acceptedBy(id: string): string {
  return /* sql */ `ARRAY(
      SELECT organization_id FROM members WHERE user_id = ${id} AND accepted_at IS NOT NULL
      UNION SELECT organization_id FROM parents WHERE user_id = ${id} AND accepted_at IS NOT NULL ORDER BY 1)`;
}
