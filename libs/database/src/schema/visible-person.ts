/** A column that both the login and what the organization supplied have. */
export type VisibleColumn = 'first_name' | 'last_name' | 'full_name' | 'email' | 'phone';

/**
 * What an organization may see of a person, as SQL: the login while they belong; before they accept what it supplied itself, and after they have left
 * what it saw then. The caller joins the
 * login (`u`) with a LEFT JOIN, because row-level security hides all others. @param membership alias of `members` or `parents`
 */
export function visiblePerson(membership: string): Record<VisibleColumn | 'placeholder_email', string> {
  const of = (column: string, supplied: string) =>
    `CASE WHEN ${membership}.accepted_at IS NULL THEN ${membership}.${supplied} ELSE u.${column} END`;
  const placeholder_email = `CASE WHEN ${membership}.accepted_at IS NULL
      THEN ${membership}.frozen_at IS NOT NULL AND ${membership}.supplied_email IS NULL ELSE u.placeholder_email END`;
  const [first_name, last_name] = [of('first_name', 'supplied_first_name'), of('last_name', 'supplied_last_name')];
  return {
    first_name,
    last_name,
    full_name: `${first_name} || ' ' || ${last_name}`,
    email: `CASE WHEN ${membership}.accepted_at IS NULL THEN ${membership}.supplied_email
      WHEN NOT u.placeholder_email THEN u.email END`,
    phone: of('phone', 'supplied_phone'),
    placeholder_email,
  };
}
